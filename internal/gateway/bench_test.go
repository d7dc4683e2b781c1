package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/provider"
)

// pictured is a request that holds a picture of 600 kB.
func pictured() []byte {
	content := "\x89PNG\r\n\x1a\n" + strings.Repeat("pixels", 100_000)
	return fmt.Appendf(nil, `{"model":%q,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}]}`, Prefix+"m", base64.StdEncoding.EncodeToString([]byte(content)))
}

// answers stands for the service.
type answers struct{}

func (answers) Pass(_ context.Context, _ provider.Endpoint, raw provider.Raw) (*provider.Answer, error) {
	return &provider.Answer{Status: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// glances stand for the tools: what a block costs beyond them is measured.
type glances struct{}

func (glances) Invoke(context.Context, engine.Call) (*engine.Reply, error) {
	return &engine.Reply{JSON: []byte("evidence")}, nil
}

// BenchmarkPicture is what a picture of 600 kB costs that was read before: whole, beside a
// server that only takes it in, and in its parts.
func BenchmarkPicture(b *testing.B) {
	g := New(Options{
		Engine: glances{}, Uploads: b.TempDir(), Services: answers{}, Wraps: func(string) (string, bool) { return "", true },
		Principal: func(*http.Request) cutroom.Principal { return cutroom.Agent },
		Upstreams: func() []Upstream {
			return []Upstream{{Model: "m", Endpoint: func() (provider.Endpoint, error) { return provider.Endpoint{Model: "m"}, nil }}}
		},
	})
	body := pictured()
	req, err := chat.read(body)
	if err != nil || len(req.blocks) != 1 {
		b.Fatal(err)
	}
	sink := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	for name, one := range map[string]func(b *testing.B){
		"direct": over(sink, body),
		"whole":  over(g, body),
		"scan": func(b *testing.B) {
			if _, err := chat.read(body); err != nil {
				b.Fatal(err)
			}
		},
		"hash": func(*testing.B) { sha256.Sum256(body) },
		"rewrite": func(b *testing.B) {
			again := req
			again.blocks = slices.Clone(req.blocks)
			g.rewrite(b.Context(), cutroom.Agent, again, chosen{lacks: all})
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			begun := userTime(b)
			for b.Loop() {
				one(b)
			}
			b.ReportMetric(float64((userTime(b)-begun).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// over asks a server.
func over(h http.Handler, body []byte) func(b *testing.B) {
	var s *httptest.Server
	return func(b *testing.B) {
		if s == nil {
			s = httptest.NewServer(h)
			b.Cleanup(func() { s.Close(); s = nil })
		}
		res, err := http.Post(s.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatal(res.Status)
		}
	}
}

// userTime is the time that this process computed, in user mode and in the kernel, which a
// busy machine does not lengthen as much as the clock's.
func userTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
