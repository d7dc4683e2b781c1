package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/gateway"
	"cutroom/internal/provider"
)

// How the gateway is asked.
const (
	perSecond   = 200
	pictured    = 10              // of those with a picture
	paceTime    = 5 * time.Second // of one side at a time
	manyAsked   = 100_000
	talkLength  = 40         // messages of the conversation that is sent each time
	pictureSize = 600 * 1000 // bytes of the picture in it, where there is one
)

// reads stands for the tools: what a block costs beyond them is measured.
type reads struct{}

func (reads) Invoke(context.Context, engine.Call) (*engine.Reply, error) {
	return &engine.Reply{JSON: []byte("evidence")}, nil
}

// passing measures what the gateway adds to a request: with no media, with a picture that
// was read before, and in memory.
func passing(ctx context.Context, l *lab) ([]figure, error) {
	answer := []byte(`{"choices":[{"message":{"role":"assistant","content":"` + strings.Repeat("word ", 200) + `"}}],"usage":{"total_tokens":1}}`)
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	defer direct.Close()
	client := provider.New(provider.Options{})
	defer client.Close()
	through := httptest.NewServer(gateway.New(gateway.Options{
		Engine: reads{}, Uploads: l.fresh(), Services: provider.Chain{Client: client},
		Wraps:     func(string) (string, bool) { return "", true },
		Principal: func(*http.Request) cutroom.Principal { return cutroom.Agent },
		Upstreams: func() []gateway.Upstream {
			return []gateway.Upstream{{Model: "m", Endpoint: func() (provider.Endpoint, error) {
				return provider.Endpoint{Name: "direct", Model: "m", BaseURL: direct.URL + "/v1"}, nil
			}}}
		},
	}))
	defer through.Close()
	var figures []figure
	for _, c := range []struct {
		what, model      string
		rate             int // requests a second
		body             func(model string) []byte
		half, almostMost float64
	}{
		{"a request without media", "m", perSecond, conversation, 3, 10},
		{"a request without media, by the second name", gateway.Prefix + "m", perSecond, conversation, 3, 10},
		{"a picture that was read before", gateway.Prefix + "m", pictured, picture, 2, 10},
	} {
		var plain, ours []time.Duration
		if err := ask(ctx, through.URL+"/v1/chat/completions", c.body(c.model)); err != nil { // what is read, is read now
			return nil, err
		}
		for range l.runs {
			for side, into := range map[string]*[]time.Duration{direct.URL: &plain, through.URL: &ours} {
				took, err := pace(ctx, side+"/v1/chat/completions", c.rate, c.body(c.model))
				if err != nil {
					return nil, err
				}
				*into = append(*into, took...)
			}
		}
		for _, p := range []struct {
			name   string
			share  float64
			target float64
		}{{"half of all", .5, c.half}, {"99 of 100", .99, c.almostMost}} {
			f := absolute(fmt.Sprintf("gateway: %s, %s", c.what, p.name), "direct", "through the gateway", "ms", ms(quantile(ours, p.share))-ms(quantile(plain, p.share)), p.target)
			f.Note = fmt.Sprintf("%.2f ms beside %.2f ms at %d requests a second, %d bytes each", ms(quantile(ours, p.share)), ms(quantile(plain, p.share)), c.rate, len(c.body(c.model)))
			figures = append(figures, f)
		}
	}
	grown, err := heapGrowth(ctx, through.URL+"/v1/chat/completions")
	if err != nil {
		return nil, err
	}
	return append(figures, grown), nil
}

func conversation(model string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%q,"messages":[`, model)
	for i := range talkLength {
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"%d %s"}]},`, i, strings.Repeat("talk ", 200))
	}
	b.WriteString(`{"role":"user","content":"what?"}]}`)
	return b.Bytes()
}

func picture(model string) []byte {
	content := "\x89PNG\r\n\x1a\n" + strings.Repeat("pixels", pictureSize/6)
	return fmt.Appendf(nil, `{"model":%q,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}]}`, model, base64.StdEncoding.EncodeToString([]byte(content)))
}

// pace asks at a steady rate, whether or not answers have come, and says how long each
// took.
func pace(ctx context.Context, url string, rate int, body []byte) ([]time.Duration, error) {
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		took  []time.Duration
		first error
	)
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for range int(paceTime.Seconds() * float64(rate)) {
		<-tick.C
		all.Go(func() {
			begun := time.Now()
			err := ask(ctx, url, body)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(begun))
			if first == nil {
				first = err
			}
		})
	}
	all.Wait()
	return took, first
}

func ask(ctx context.Context, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", url, res.StatusCode)
	}
	return nil
}

func quantile(d []time.Duration, share float64) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[min(int(share*float64(len(d))), len(d)-1)]
}

// heapGrowth is how much more is held after many requests than after a tenth of them.
func heapGrowth(ctx context.Context, url string) (figure, error) {
	held := func() float64 {
		runtime.GC()
		runtime.GC() // what finalizers held
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	body := conversation(gateway.Prefix + "m")
	var early float64
	for n := range manyAsked {
		if n == manyAsked/10 {
			early = held()
		}
		if err := ask(ctx, url, body); err != nil {
			return figure{}, err
		}
	}
	late := held()
	f := absolute("gateway: heap after 100,000 requests, over that after 10,000", "–", "in this process", "MB", late-early, 1)
	f.Note = fmt.Sprintf("%.1f MB, then %.1f MB", early, late)
	return f, nil
}
