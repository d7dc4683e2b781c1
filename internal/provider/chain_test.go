package provider

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestFirst(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") == "Bearer k1":
			w.WriteHeader(429)
		case r.Header.Get("Accept") == "text/event-stream":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hel\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		default:
			_, _ = io.WriteString(w, `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
		}
	}))
	defer srv.Close()
	c := Chain{Client: New(Options{})}
	hop := Hop{
		Route: "configured", Endpoint: Endpoint{Name: "openai", BaseURL: srv.URL, Model: "m", Keys: []string{"k1", "k2"}},
		Request: func(context.Context) (Request, error) {
			return Request{Messages: []Message{{Role: RoleUser, Parts: []Part{TextPart("hi")}}}}, nil
		},
	}
	out, err := c.Run(t.Context(), []Hop{hop}, nil)
	if err != nil || out.Reply.Message.Text() != "hello" || len(out.Attempts) != 2 || out.Attempts[0].Class != RateLimited || *out.Attempts[1].KeyIndex != 1 || len(out.Warnings) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	text := ""
	out, err = c.Run(t.Context(), []Hop{hop}, func(d Delta) { text += d.Text })
	if err != nil || out.Reply.Message.Text() != "hello" || text != "hello" {
		t.Fatalf("%+v, %v", out, err)
	}
}
