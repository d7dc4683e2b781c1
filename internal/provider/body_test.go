package provider_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

var update = flag.Bool("update", false, "write the request bodies anew")

// everything is a conversation with all that a request can hold.
func everything() provider.Request {
	text := provider.TextPart
	picture := provider.Part{Kind: provider.Image, Type: "image/png", Data: []byte("PNG")}
	return provider.Request{
		Messages: []provider.Message{
			{Role: provider.RoleSystem, Parts: []provider.Part{text("be brief")}},
			{Role: provider.RoleUser, Parts: []provider.Part{text("what is this?"), picture}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{text("Let me look.")}, Calls: []provider.ToolCall{
				{ID: "call_1", Name: "look", Input: `{"at":1.5}`}, {ID: "chatcmpl-tool:2", Name: "hear", Input: `{"at":`},
			}},
			{Role: provider.RoleTool, CallID: "call_1", Parts: []provider.Part{text("a frame"), picture}},
			{Role: provider.RoleTool, CallID: "chatcmpl-tool:2", Parts: []provider.Part{text("broken input")}, Failed: true},
			{Role: provider.RoleSystem, Parts: []provider.Part{text("answer as JSON")}},
			{Role: provider.RoleUser, Parts: []provider.Part{text("and now?")}},
		},
		Tools: []provider.Tool{
			{Name: "look", Doc: "Looks at a moment.", Schema: []byte(`{"type":"object","properties":{"at":{"type":"number"}},"required":["at"],"additionalProperties":false}`), Strict: true},
			{Name: "hear"},
		},
		Choice: provider.ChoiceRequired, Serial: true, MaxTokens: 500,
		Schema: &provider.Schema{Name: "evidence", JSON: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)},
	}
}

// TestBodies compares what is sent with files that were checked by hand against the
// services' references.
func TestBodies(t *testing.T) {
	t.Parallel()
	media := asked(
		provider.Part{Kind: provider.Audio, Type: "audio/mpeg", Data: []byte("MP3")},
		provider.Part{Kind: provider.Video, Type: "video/mp4", Data: []byte("MP4"), Name: "clip.mp4"},
		provider.Part{Kind: provider.File, Type: "application/pdf", Data: []byte("PDF")})
	document := asked(provider.Part{Kind: provider.File, Type: "application/pdf", Data: []byte("PDF")})
	named := everything()
	named.Choice, named.Serial, named.Schema, named.MaxTokens = "look", false, nil, 0
	srv := providertest.New(t)
	client := provider.New(provider.Options{})
	defer client.Close()
	for _, c := range []struct {
		name   string
		wire   provider.Wire
		req    provider.Request
		stream bool
		change func(*provider.Endpoint)
	}{
		{"chat", provider.Chat, everything(), false, nil},
		{"chat-stream", provider.Chat, named, true, func(e *provider.Endpoint) {
			e.Extra, e.MaxTokensAs = []byte(`{"reasoning_effort":"low","model":"another","stream":false}`), "max_completion_tokens"
		}},
		{"chat-media", provider.Chat, media, false, nil},
		{"chat-media-file", provider.Chat, media, false, func(e *provider.Endpoint) { e.VideoAs = "file" }},
		{"responses", provider.Responses, everything(), false, nil},
		{"responses-stream", provider.Responses, named, true, func(e *provider.Endpoint) { e.KeepThought = true }},
		{"responses-media", provider.Responses, media, false, nil},
		{"messages", provider.Messages, everything(), false, nil},
		{"messages-stream", provider.Messages, named, true, nil},
		{"messages-media", provider.Messages, document, false, nil},
	} {
		e := srv.Endpoint("p", c.wire, "m", "k")
		if c.change != nil {
			c.change(&e)
		}
		var on func(provider.Delta)
		if c.stream {
			on = func(provider.Delta) {}
		}
		if _, err := client.Complete(t.Context(), e, "k", c.req, on); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		list := srv.Requests()
		var got bytes.Buffer
		if err := json.Indent(&got, list[len(list)-1].Body, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		file := filepath.Join("testdata", c.name+".json")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestHeaders: each wire has its own way to say the key; nothing of ours is said besides.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, w := range append(wires(), provider.Transcription) {
		srv := providertest.New(t, providertest.Say("[]"))
		client := provider.New(provider.Options{})
		t.Cleanup(client.Close)
		e := srv.Endpoint("p", w, "m", "k")
		e.Headers = []provider.Header{{Name: "X-Title", Value: "cutroom"}}
		if _, err := client.Complete(t.Context(), e, "k", asked(provider.Part{Kind: provider.Audio, Type: "audio/wav", Data: []byte("RIFF")}), nil); w != provider.Messages && err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		if w == provider.Messages {
			if _, err := client.Complete(t.Context(), e, "k", asked(), nil); err != nil {
				t.Fatal(err)
			}
		}
		h := srv.Requests()[0].Header
		key, bearer := "", "Bearer k"
		if w == provider.Messages {
			key, bearer = "k", ""
		}
		if h.Get("X-Api-Key") != key || h.Get("Authorization") != bearer || h.Get("X-Title") != "cutroom" || h.Get("User-Agent") != "cutroom" ||
			(h.Get("Anthropic-Version") != "") != (w == provider.Messages) || h.Get("Accept-Encoding") != "" {
			t.Errorf("%s: %v", w, h)
		}
	}
}

// TestTakesNo: what a wire has no form for is refused before anything is sent.
func TestTakesNo(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := provider.New(provider.Options{})
	defer client.Close()
	for w, r := range map[provider.Wire]provider.Request{
		provider.Messages:      asked(provider.Part{Kind: provider.Video, Type: "video/mp4", Data: []byte("x")}),
		provider.Transcription: asked(),
		provider.Chat:          asked(provider.Part{Kind: "smell"}),
		provider.Responses:     asked(provider.Part{Kind: "smell"}),
	} {
		_, err := client.Complete(t.Context(), srv.Endpoint("p", w, "m"), "", r, nil)
		if f := faultOf(t, err); f.Class != provider.BadRequest || f.Message == "" {
			t.Errorf("%s: %+v", w, f)
		}
	}
	for _, e := range []provider.Endpoint{
		{Name: "p", BaseURL: "ftp://x/v1", Model: "m"},
		{Name: "p", BaseURL: "http://u:p@x/v1", Model: "m"},
		{Name: "p", BaseURL: "http://x/v1?a=b", Model: "m"},
		{Name: "p", BaseURL: "", Model: "m"},
		{Name: "p", BaseURL: "http://x/v1"},
		{Name: "p", BaseURL: "http://x/v1", Model: "m", Wire: "telex"},
		{Name: "p", BaseURL: "http:opaque", Model: "m"},
	} {
		if _, err := client.Complete(t.Context(), e, "", asked(), nil); err == nil {
			t.Errorf("%+v was asked", e)
		}
	}
	if n := srv.Dials(); n != 0 {
		t.Errorf("%d connections", n)
	}
}
