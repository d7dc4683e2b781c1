package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// TestPass: a body goes as it is, under the first key that is taken; what comes back is
// what the service says, but for the keys in it.
func TestPass(t *testing.T) {
	t.Parallel()
	srv, kept := providertest.New(t), &rests{}
	c := provider.Chain{Client: client(t), Cooldowns: kept}
	e := srv.Endpoint("a", provider.Chat, "m", "key-one", "key-two")
	raw := provider.Raw{Path: "/chat/completions", Body: []byte(`{"model":"m", "unknown" : [1.0,  2e0], "messages":[]}`), Header: http.Header{"X-Request": {"7"}}}
	pass := func() (int, string) {
		t.Helper()
		a, err := c.Pass(t.Context(), e, raw)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.Status, string(body)
	}
	long := strings.Repeat("~", 2<<20)
	srv.ForKey("key-one", providertest.Fail(429, "slow down"))
	srv.ForKey("key-two", providertest.Say("a cat"))
	if status, body := pass(); status != 200 || !strings.Contains(body, `"content":"a cat"`) || len(kept.until) != 1 {
		t.Errorf("%d %s, %v", status, body, kept.until)
	}
	for _, r := range srv.Requests() {
		if string(r.Body) != string(raw.Body) || r.Header.Get("X-Request") != "7" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v", r.Body, r.Header)
		}
	}
	before := len(srv.Requests())
	srv.ForKey("key-two", providertest.Fail(400, "no such parameter, key-two"))
	if status, body := pass(); status != 400 || !strings.Contains(body, "no such parameter, *******") || len(srv.Requests()) != before+1 || srv.Requests()[before].Key != "key-two" {
		t.Errorf("%d %s", status, body)
	}
	srv.ForKey("key-two", providertest.Fail(401, "key-two and key-one"+long))
	if status, body := pass(); status != 429 || strings.Contains(body, "key-") || len(kept.until) != 2 {
		t.Errorf("%d %.200s, %v", status, body, kept.until)
	}
	srv.ForKey("key-one", providertest.Say("a dog"))
	if status, body := pass(); status != 200 || !strings.Contains(body, "a dog") || len(kept.until) != 1 {
		t.Errorf("%d %s, %v", status, body, kept.until)
	}
	srv.ForKey("key-one", providertest.Step{Status: 500, Body: long})
	if status, body := pass(); status != 500 || body != long {
		t.Errorf("%d, %d bytes", status, len(body))
	}
}

// TestPassEnds: a stream that stalls fails while it is read, and one whose caller is gone
// ends at the service.
func TestPassEnds(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t, providertest.Step{Text: "half of an answer", Stall: true})
	c := provider.Chain{Client: provider.New(provider.Options{Idle: 200 * time.Millisecond})}
	defer c.Client.Close()
	raw := provider.Raw{Path: "/chat/completions", Body: []byte(`{"model":"m","stream":true}`)}
	a, err := c.Pass(t.Context(), srv.Endpoint("a", provider.Chat, "m", "k"), raw)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(a.Body)
	if f := faultOf(t, err); f.Class != provider.TimedOut {
		t.Errorf("%+v", f)
	}
	if err := a.Body.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	slow := provider.Chain{Client: provider.New(provider.Options{Idle: time.Hour})}
	defer slow.Client.Close()
	if a, err = slow.Pass(ctx, srv.Endpoint("a", provider.Chat, "m", "k"), raw); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err = io.ReadAll(a.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := a.Body.Close(); err != nil {
		t.Error(err)
	}
	_, err = slow.Pass(t.Context(), provider.Endpoint{Name: "a", BaseURL: "http://127.0.0.1:1/v1", Model: "m"}, raw)
	if f := faultOf(t, err); f.Class != provider.Unavailable {
		t.Errorf("%+v", f)
	}
}

// TestPassMasksKeys: a key that the service repeats leaves the process nowhere, not in a
// header, not in a success, not where it arrives byte by byte; what only begins like one
// arrives, and in time.
func TestPassMasksKeys(t *testing.T) {
	t.Parallel()
	const key = "canary-1234567890"
	said := "cana " + key + key + " canary-12 " + key[:len(key)-1] + "\n" + key[:4]
	want := strings.ReplaceAll(said, key, strings.Repeat("*", len(key)))
	for _, status := range []int{200, 400} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Debug", "auth="+key)
			w.WriteHeader(status)
			for i := range said {
				_, _ = io.WriteString(w, said[i:i+1])
				_ = http.NewResponseController(w).Flush()
			}
		}))
		defer s.Close()
		c := provider.Chain{Client: client(t)}
		a, err := c.Pass(t.Context(), provider.Endpoint{Name: "a", BaseURL: s.URL, Model: "m", Keys: []string{key}}, provider.Raw{Path: "/x", Body: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(a.Body)
		if err != nil || string(got) != want || a.Header.Get("X-Debug") != "auth="+strings.Repeat("*", len(key)) {
			t.Errorf("%d: %q, %v, %v", status, got, a.Header, err)
		}
		a.Body.Close()
	}
}

// TestPassNowhereElse: where a service redirects to, the caller does not learn, who might
// go there with all that it said.
func TestPassNowhereElse(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"file:///etc/passwd", "http://127.0.0.1:1/other", "/v2"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}))
		defer s.Close()
		_, err := provider.Chain{Client: client(t)}.Pass(t.Context(), provider.Endpoint{Name: "a", BaseURL: s.URL, Model: "m"}, provider.Raw{Path: "/x", Body: []byte("{}")})
		if f := faultOf(t, err); f.Class != provider.Unavailable || f.Status != http.StatusTemporaryRedirect {
			t.Errorf("%s: %+v", to, f)
		}
	}
}
