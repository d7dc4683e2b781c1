package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// leaks says which part of a secret, of six letters at least, text holds.
func leaks(text string, secrets ...string) string {
	for _, s := range secrets {
		for i := 0; i+6 <= len(s); i++ {
			if strings.Contains(text, s[i:i+6]) {
				return s[i : i+6]
			}
		}
	}
	return ""
}

const (
	canaryKey  = "qk-Zx81yVbN43mWqP0sLtRj"
	canaryOne  = "qk-first/of+two=keys&more"
	canaryHead = "Tok3n-0f-a-header"
)

func canary(base string) Endpoint {
	return Endpoint{Name: "p", BaseURL: base, Model: "m", Keys: []string{canaryOne, canaryKey}, Headers: []Header{{"X-Token", canaryHead}}}
}

// TestSecretsAtTheCut: wherever a secret stands, across the cut above all, nothing of it
// comes through; a text that was cut first would keep half.
func TestSecretsAtTheCut(t *testing.T) {
	t.Parallel()
	base := "https://gateway.corp.example:8443/llm/v1"
	secrets := []string{canaryKey, canaryOne, canaryHead, base, base + "/", "gateway.corp.example:8443", url.QueryEscape(base), url.PathEscape(canaryOne), strings.ReplaceAll(base, "/", `\/`)}
	c := cleaner{}
	c.learn(canary(base))
	for _, s := range secrets {
		for at := maxMessage - 2*len(s) - 20; at < maxMessage+20; at++ {
			if got := c.text(strings.Repeat("~", max(at, 0)) + s + strings.Repeat("~", 50)); leaks(got, s) != "" || len(got) > maxMessage {
				t.Fatalf("%q at %d: %q", s, at, got)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			b.WriteString(rapid.OneOf(rapid.SampledFrom(secrets), rapid.StringMatching(`[~ ü\n\x00\x{200b}日]{0,90}`)).Draw(t, "piece"))
		}
		got := c.text(b.String())
		if l := leaks(got, secrets...); l != "" {
			t.Fatalf("%q of %q is in %q", l, b.String(), got)
		}
		if len(got) > maxMessage || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\x00\u200b") || c.text(got) != got {
			t.Fatalf("%q", got)
		}
	})
}

// TestOverlaps: keys that overlap, hold each other, or are a letter long.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	c := cleaner{}
	c.learn(Endpoint{Keys: []string{"abcdef", "defghi", "abcd", "x", "", "  padded-key\n"}})
	for in, want := range map[string]string{
		"abcdefghi": mask, "abcd": mask, "abcdabcdef": mask, "an x-ray: x, axe": "an " + mask + "-ray: " + mask + ", axe", "the padded-key is": "the " + mask + " is", "": "",
	} {
		if got := c.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	// What takes secrets out further is asked after the exact values are gone.
	c.more = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") + "!" }
	if got := c.text("abcdef hunter2"); got != mask+" ***!" {
		t.Errorf("%q", got)
	}
}

// TestSecretsOfAChain: a service that says again all that it was sent, in every place of
// an answer, does not bring it into attempts, warnings or errors.
func TestSecretsOfAChain(t *testing.T) {
	t.Parallel()
	for _, at := range []int{0, 250, 280, 290, 299, 60 << 10, 64<<10 - 30, 64<<10 - 12, 64<<10 - 3, 70 << 10} {
		for _, status := range []int{401, 400, 500, 200} {
			for _, form := range []string{"%s", `{"error":{"message":"%s","code":"%s"}}`, `{"detail":"%s"}`, "data: {\"error\":{\"message\":\"%s\"}}\n\n"} {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					said := fmt.Sprint(r.Header["Authorization"], " ", r.Header["X-Token"], " http://", r.Host, "/secret/v1")
					if strings.HasPrefix(form, "data:") {
						w.Header().Set("Content-Type", "text/event-stream")
					}
					w.WriteHeader(status)
					_, _ = io.WriteString(w, strings.ReplaceAll(form, "%s", strings.Repeat("~", at)+said))
				}))
				e := canary(srv.URL + "/secret/v1")
				c := Chain{Client: New(Options{})}
				h := Hop{Route: "configured", Endpoint: e, Request: func(context.Context) (Request, error) {
					return Request{Messages: []Message{{Role: RoleUser, Parts: []Part{TextPart("hi")}}}}, nil
				}, Accept: func(r Reply) error { return fmt.Errorf("not JSON: %s", r.Message.Text()) }}
				for _, on := range []func(Delta){nil, func(Delta) {}} {
					out, err := c.Run(t.Context(), []Hop{h}, on)
					all, jsonErr := json.Marshal(out.Attempts)
					if err == nil || jsonErr != nil || len(out.Attempts) == 0 {
						t.Fatalf("%v, %v, %+v", err, jsonErr, out)
					}
					text := string(all) + strings.Join(out.Warnings, "\n") + err.Error() + fmt.Sprintf("%+v", err)
					if l := leaks(text, canaryOne, canaryKey, canaryHead, strings.TrimPrefix(srv.URL, "http://"), e.BaseURL); l != "" {
						t.Errorf("%d bytes before, status %d, %q: %q is in %s", at, status, form, l, text)
					}
				}
				c.Client.Close()
				srv.Close()
			}
		}
	}
}

// TestSecretWhereReadingStops: reading an error stops somewhere, perhaps within a secret,
// and what stands before it may become short.
func TestSecretWhereReadingStops(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("qk-Zx81yVbN43mWqP0sLtRj", 400)
	for shift := range 3 {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			_, _ = io.WriteString(w, strings.Repeat("~", shift)+strings.Repeat(key, 20))
		}))
		h := Hop{Endpoint: Endpoint{Name: "p", BaseURL: srv.URL, Model: "m", Keys: []string{key}}, Request: func(context.Context) (Request, error) { return Request{}, nil }}
		c := Chain{Client: New(Options{})}
		out, _ := c.Run(t.Context(), []Hop{h}, nil)
		if l := leaks(out.Attempts[0].Message, key); l != "" || !strings.Contains(out.Attempts[0].Message, mask) {
			t.Errorf("%q is in %q", l, out.Attempts[0].Message)
		}
		c.Client.Close()
		srv.Close()
	}
}
