package provider_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// TestNothingButTheEndpointIsDialled: no proxy of the environment, no redirect, no name
// service for localhost. What would be dialled is counted.
func TestNothingButTheEndpointIsDialled(t *testing.T) {
	trap := providertest.New(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, trap.URL)
	}
	srv := providertest.New(t, providertest.Step{Status: 307, Header: http.Header{"Location": {trap.URL + "/chat/completions"}}}, providertest.Say("ok"))
	var mu sync.Mutex
	var dialled []string
	client := provider.New(provider.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		dialled = append(dialled, address)
		mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, address)
	}})
	defer client.Close()
	_, err := client.Complete(t.Context(), srv.Endpoint("a", provider.Chat, "m", "k"), "k", asked(), nil)
	if f := faultOf(t, err); f.Class != provider.BadRequest || f.Status != 307 {
		t.Errorf("%+v", f)
	}
	local := srv.Endpoint("a", provider.Chat, "m", "k")
	for _, name := range []string{"localhost", "LocalHost"} {
		local.BaseURL = strings.Replace(srv.Endpoint("a", provider.Chat, "m", "k").BaseURL, "127.0.0.1", name, 1)
		if _, err := client.Complete(t.Context(), local, "k", asked(), nil); err != nil || !local.Loopback() {
			t.Errorf("%s: %v", name, err)
		}
		client.Close() // so that the next one is dialled
	}
	host := strings.TrimSuffix(strings.TrimPrefix(srv.URL, "http://"), "/v1")
	mu.Lock()
	defer mu.Unlock()
	for _, d := range dialled {
		if d != host {
			t.Errorf("%s was dialled, not %s", d, host)
		}
	}
	if len(dialled) == 0 || trap.Dials() != 0 {
		t.Errorf("%v; %d connections to where nothing may go", dialled, trap.Dials())
	}
}

// TestBounds: an answer that never ends is not read to its end, in whatever form it comes.
func TestBounds(t *testing.T) {
	t.Parallel()
	var wrote atomic.Int64
	endless := func(kind, begin, more string, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, err := io.WriteString(w, begin)
			for err == nil {
				var n int
				n, err = io.WriteString(w, more)
				wrote.Add(int64(n))
			}
		}
	}
	pad := strings.Repeat("x", 64<<10)
	for name, h := range map[string]http.HandlerFunc{
		"whole":       endless("application/json", `{"choices":[{"message":{"content":"`, pad, 200),
		"error":       endless("application/json", `{"error":{"message":"`, pad, 429),
		"one line":    endless("text/event-stream", "data: ", pad, 200),
		"many events": endless("text/event-stream", "", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n", 200),
		"many calls":  endless("text/event-stream", "", "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\"},{\"index\":0,\"id\":\"b\"}]}}]}\n\n", 200),
		"many choices": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[`+strings.Repeat(`{},`, 500_000)+`{}]}`)
		},
		"only pings":   endless("text/event-stream", "", ": ping\n\n", 200),
		"many headers": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 2<<20)) },
	} {
		srv := httptest.NewServer(h)
		client := provider.New(provider.Options{MaxAnswer: 2 << 20})
		e := provider.Endpoint{Name: "a", BaseURL: srv.URL, Model: "m"}
		for _, on := range []func(provider.Delta){nil, func(provider.Delta) {}} {
			wrote.Store(0)
			_, err := client.Complete(t.Context(), e, "", asked(), on)
			f := faultOf(t, err)
			if n := wrote.Load(); n > 16<<20 || len(f.Message) > 65<<10 {
				t.Errorf("%s: %d bytes were read, message %d", name, n, len(f.Message))
			}
			if name == "many calls" && on != nil && (f.Err == nil || !strings.Contains(f.Err.Error(), "too many pieces")) {
				t.Errorf("%s: %+v", name, f)
			}
			if name == "many choices" && on == nil && (f.Err == nil || !strings.Contains(f.Err.Error(), "too many objects")) {
				t.Errorf("%s: %.300v", name, f.Err)
			}
			want := provider.EmptyOrUnparsable
			switch name {
			case "error":
				want = provider.RateLimited
			case "many headers":
				want = provider.Unavailable
			}
			if f.Class != want {
				t.Errorf("%s: %+v", name, f)
			}
		}
		client.Close()
		srv.Close()
	}
}

// TestTimes: each of the three patiences ends a request of its own kind, and nothing else
// does: a slow but living stream goes on for longer than any of them.
func TestTimes(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	wait := func(r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	tick := func(r *http.Request, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/none/", func(_ http.ResponseWriter, r *http.Request) { wait(r) })
	mux.HandleFunc("/half/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		wait(r)
	})
	mux.HandleFunc("/slow/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 8 {
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
			tick(r, 200*time.Millisecond)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer close(stop)
	client := provider.New(provider.Options{Header: time.Second, Idle: time.Second})
	defer client.Close()
	on := func(provider.Delta) {}
	var all sync.WaitGroup
	defer all.Wait()
	for path, class := range map[string]provider.Class{"/none": provider.TimedOut, "/half": provider.TimedOut, "/slow": ""} {
		all.Go(func() {
			begun := time.Now()
			r, err := client.Complete(t.Context(), provider.Endpoint{Name: "a", BaseURL: srv.URL + path, Model: "m"}, "", asked(), on)
			took := time.Since(begun)
			if class == "" {
				if err != nil || r.Message.Text() != strings.Repeat("x", 8) || took < 1200*time.Millisecond {
					t.Errorf("%s: %v, %v after %s", path, r, err, took)
				}
				return
			}
			if f, ok := errors.AsType[*provider.Fault](err); !ok || f.Class != class || took > 20*time.Second || f.Sent == 0 {
				t.Errorf("%s: %v after %s", path, err, took)
			}
		})
	}
	all.Wait()
	// A dialer that never comes back, and one that only comes back when it has to.
	deaf := provider.New(provider.Options{Connect: 100 * time.Millisecond, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	defer deaf.Close()
	_, err := deaf.Complete(t.Context(), provider.Endpoint{Name: "a", BaseURL: srv.URL, Model: "m"}, "", asked(), nil)
	if f := faultOf(t, err); f.Class != provider.TimedOut || f.Sent != 0 {
		t.Errorf("%+v", f)
	}
}

// TestEarlyAnswer: a service that answers before it has read everything, as one does that
// finds the request too large, is heard.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer srv.Close()
	client := provider.New(provider.Options{})
	defer client.Close()
	r := asked(provider.Part{Kind: provider.Video, Type: "video/mp4", Data: make([]byte, 8<<20)})
	for range 5 {
		_, err := client.Complete(t.Context(), provider.Endpoint{Name: "a", BaseURL: srv.URL, Model: "m"}, "", r, nil)
		if f := faultOf(t, err); f.Class != provider.BadRequest && f.Class != provider.Unavailable || f.Class == provider.BadRequest && !f.TooLarge {
			t.Errorf("%+v", f)
		}
	}
}

// TestBrokenProtocols: whatever a server writes that is not HTTP is a fault.
func TestBrokenProtocols(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"choices\":", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 99999 No\r\n\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var done sync.WaitGroup
		done.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, answer)
				_ = c.Close()
			}
		})
		client := provider.New(provider.Options{})
		_, err = client.Complete(t.Context(), provider.Endpoint{Name: "a", BaseURL: "http://" + l.Addr().String(), Model: "m"}, "", asked(), nil)
		if f := faultOf(t, err); f.Class != provider.Unavailable || strings.Contains(fmt.Sprint(f.Message), l.Addr().String()) {
			t.Errorf("%q: %+v", answer, f)
		}
		client.Close()
		_ = l.Close()
		done.Wait()
	}
}

// TestManyAtOnce: one client serves many goroutines.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	srv.Answer(func(r providertest.Request) providertest.Step { return providertest.Say("to " + r.Model) })
	client := provider.New(provider.Options{})
	defer client.Close()
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			model, w := fmt.Sprint("m", i), wires()[i%3]
			var g gathered
			var on func(provider.Delta)
			if i%2 == 0 {
				on = g.add
			}
			r, err := client.Complete(t.Context(), srv.Endpoint("a", w, model), "", asked(), on)
			if err != nil || r.Message.Text() != "to "+model || on != nil && g.text != "to "+model {
				t.Errorf("%s: %+v, %v, %q", model, r, err, g.text)
			}
		})
	}
	all.Wait()
}

// TestStreamless: a service that answers whole although events were asked for is read, and
// one that sends events unasked, or under another name.
func TestStreamless(t *testing.T) {
	t.Parallel()
	events := chunks(`{"choices":[{"index":0,"delta":{"content":"a cat"},"finish_reason":"stop"}]}`, `[DONE]`)
	for _, step := range []providertest.Step{
		{Status: 200, Body: `{"choices":[{"message":{"content":"a cat"},"finish_reason":"stop"}]}`},
		{Status: 200, Body: `{"choices":[{"message":{"content":"a cat"},"finish_reason":"stop"}]}`, Kind: "text/plain"},
		{Status: 200, Body: events, Kind: "text/event-stream"},
		{Status: 200, Body: events},
		{Status: 200, Body: "event: x\n" + events, Kind: "binary/octet-stream"},
	} {
		srv := providertest.New(t, step)
		for _, stream := range []bool{false, true} {
			var g gathered
			var on func(provider.Delta)
			if stream {
				on = g.add
			}
			r, err := client(t).Complete(t.Context(), srv.Endpoint("a", provider.Chat, "m"), "", asked(), on)
			if err != nil || r.Message.Text() != "a cat" || stream && g.text != "a cat" {
				t.Errorf("%+v: %+v, %v, %q", step, r, err, g.text)
			}
		}
	}
}

// TestTranscription: what is sent, and that the answer comes as it is.
func TestTranscription(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{"text":"hi","segments":[{"start":0,"end":1,"text":"hi"}]}`, "1\n00:00:00,000 --> 00:00:01,000\nhi\n", "[00:00] hi", "eventually it was said", "data: of the day"} {
		srv := providertest.New(t, providertest.Say(answer))
		client := provider.New(provider.Options{})
		t.Cleanup(client.Close)
		e := srv.Endpoint("a", provider.Transcription, "whisper-1", "k")
		e.BaseURL += "/audio/transcriptions"
		e.Format = "srt"
		r := asked(provider.Part{Kind: provider.Audio, Type: "audio/x-wav", Data: []byte("RIFF…")})
		r.Language = "pt-BR"
		got, err := client.Complete(t.Context(), e, "k", r, func(provider.Delta) {})
		if err != nil || got.Message.Text() != answer {
			t.Fatalf("%q, %v", got.Message.Text(), err)
		}
		q := srv.Requests()[0]
		if q.Path != "/v1/audio/transcriptions" || q.Form["model"] != "whisper-1" || q.Form["response_format"] != "srt" || q.Form["language"] != "pt" || string(q.File) != "RIFF…" || q.Key != "k" {
			t.Errorf("%+v", q)
		}
	}
	srv := providertest.New(t, providertest.Step{Status: 200, Body: `{"error":{"code":402,"message":"no credits"}}`})
	client := provider.New(provider.Options{})
	defer client.Close()
	_, err := client.Complete(t.Context(), srv.Endpoint("a", provider.Transcription, "", "k"), "k", asked(provider.Part{Kind: provider.Audio, Data: []byte("x")}), nil)
	if f := faultOf(t, err); f.Class != provider.Quota {
		t.Errorf("%+v", f)
	}
}

// TestTLS: over HTTP/2 as over HTTP/1.1, with the roots that the caller gives; who cannot
// prove who he is gets nothing, the key least of all.
func TestTLS(t *testing.T) {
	t.Parallel()
	for _, two := range []bool{false, true} {
		inner, reached := providertest.New(t), atomic.Int64{}
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			if r.ProtoMajor == 2 != two {
				t.Errorf("%s", r.Proto)
			}
			inner.ServeHTTP(w, r)
		}))
		srv.EnableHTTP2 = two
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
		t.Cleanup(srv.Close)
		roots := x509.NewCertPool()
		roots.AddCert(srv.Certificate())
		client := provider.New(provider.Options{TLS: &tls.Config{RootCAs: roots}})
		t.Cleanup(client.Close)
		for _, w := range wires() {
			var g gathered
			r, err := client.Complete(t.Context(), provider.Endpoint{Name: "a", Wire: w, BaseURL: srv.URL, Model: "m"}, "k", asked(), g.add)
			if err != nil || r.Message.Text() != "ok" || g.text != "ok" {
				t.Errorf("%s: %+v, %v", w, r, err)
			}
		}
		before := reached.Load()
		stranger := provider.New(provider.Options{})
		t.Cleanup(stranger.Close)
		_, err := stranger.Complete(t.Context(), provider.Endpoint{Name: "a", BaseURL: srv.URL, Model: "m"}, "k", asked(), nil)
		if f := faultOf(t, err); f.Class != provider.Unavailable || !strings.Contains(f.Message, "certificate") || f.Sent != 0 || reached.Load() != before {
			t.Errorf("%+v", f)
		}
	}
}

// TestKeys: a key is trimmed of what files end in; one that a header cannot carry is said
// to be wrong before anything is dialled.
func TestKeys(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := provider.New(provider.Options{})
	defer client.Close()
	e := srv.Endpoint("a", provider.Chat, "m")
	for _, key := range []string{"a\r\nX-Evil: 1", "a\x00b"} {
		_, err := client.Complete(t.Context(), e, key, asked(), nil)
		if f := faultOf(t, err); f.Class != provider.Auth || srv.Dials() != 0 {
			t.Errorf("%q: %+v, %d connections", key, f, srv.Dials())
		}
	}
	if _, err := client.Complete(t.Context(), e, " k1\r\n", asked(), nil); err != nil || srv.Requests()[0].Key != "k1" {
		t.Errorf("%v, %+v", err, srv.Requests())
	}
}
