package provider_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// TestModels: every form in which services declare what a model takes. What is declared
// nowhere is undeclared, not nothing.
func TestModels(t *testing.T) {
	t.Parallel()
	text, image, audio, video, file := provider.Text, provider.Image, provider.Audio, provider.Video, provider.File
	type list = []provider.Model
	for name, c := range map[string]struct {
		doc  string
		want list
	}{
		"OpenAI":     {`{"object":"list","data":[{"id":"gpt-x","object":"model","created":1,"owned_by":"openai"}]}`, list{{"gpt-x", "gpt-x", 0, nil}}},
		"OpenRouter": {`{"data":[{"id":"a/b","name":"A: B","context_length":131072,"architecture":{"modality":"text+image->text","input_modalities":["text","image","file"],"output_modalities":["text"]}}]}`, list{{"a/b", "A: B", 131072, []provider.Modality{text, image, file}}}},
		"Anthropic":  {`{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","max_input_tokens":200000,"capabilities":{"batch":{"supported":true},"image_input":{"supported":true},"pdf_input":{"supported":true}}}],"has_more":false,"first_id":"claude-x","last_id":"claude-x"}`, list{{"claude-x", "Claude X", 200000, []provider.Modality{text, image, file}}}},
		"Mistral":    {`{"object":"list","data":[{"id":"pixtral","capabilities":{"completion_chat":true,"vision":true}},{"id":"small","capabilities":{"completion_chat":true,"vision":false}}]}`, list{{"pixtral", "pixtral", 0, []provider.Modality{text, image}}, {"small", "small", 0, []provider.Modality{text}}}},
		"Together":   {`[{"id":"x/y","display_name":"Y","context_length":8192}]`, list{{"x/y", "Y", 8192, nil}}},
		"vLLM":       {`{"object":"list","data":[{"id":"/models/q","max_model_len":32768,"root":"/models/q"}]}`, list{{"/models/q", "/models/q", 32768, nil}}},
		"lists":      {`{"data":[{"id":"o","modalities":["text","audio","video"]},{"id":"p","input_modalities":["text","vision"]},{"id":"q","modalities":{"input":["text","pdf"],"output":["text"]}},{"id":"r","capabilities":["completion","vision"]},{"id":"s","capabilities":["completion"]}]}`, list{{"o", "o", 0, []provider.Modality{text, audio, video}}, {"p", "p", 0, []provider.Modality{text, image}}, {"q", "q", 0, []provider.Modality{text, file}}, {"r", "r", 0, []provider.Modality{text, image}}, {"s", "s", 0, nil}}},
		"odd":        {`{"data":[{"id":"a","modalities":[],"capabilities":{}},{"id":"b","context_length":"8k"},{"noid":1},7,null,{"id":"c","architecture":null,"capabilities":null}]}`, list{{"a", "a", 0, nil}, {"b", "b", 0, nil}, {"c", "c", 0, nil}}},
		"none":       {`{"data":[]}`, list{}},
	} {
		srv := providertest.New(t)
		srv.Models(c.doc)
		client := provider.New(provider.Options{})
		t.Cleanup(client.Close)
		got, err := client.Models(t.Context(), srv.Endpoint("a", provider.Chat, "", "k"))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for _, doc := range []string{`{}`, `{"data":{}}`, `nonsense`, `[1`, ``, `{"data":null}`} {
		srv := providertest.New(t)
		srv.Models(doc)
		client := provider.New(provider.Options{})
		t.Cleanup(client.Close)
		_, err := client.Models(t.Context(), srv.Endpoint("a", provider.Chat, ""))
		if f := faultOf(t, err); f.Class != provider.EmptyOrUnparsable {
			t.Errorf("%q: %+v", doc, f)
		}
	}
	if takes, declared := (provider.Model{Modalities: []provider.Modality{text}}).Takes(image); takes || !declared {
		t.Error("a model that declares text only")
	}
	if takes, declared := (provider.Model{}).Takes(text); takes || declared {
		t.Error("a model that declares nothing")
	}
}

// TestModelsAreKept: for 60 seconds, for each service and key apart, whoever asks at
// once; failures are not.
func TestModelsAreKept(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	srv.Models(`{"data":[{"id":"a"}]}`)
	var mu sync.Mutex
	now := time.Unix(1_800_000_000, 0)
	client := provider.New(provider.Options{Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	defer client.Close()
	e := srv.Endpoint("a", provider.Chat, "", "k")
	ask := func(e provider.Endpoint, asked int) {
		t.Helper()
		list, err := client.Models(t.Context(), e)
		if err != nil || len(list) != 1 || srv.Lists() != asked {
			t.Errorf("%v, %v, asked %d times, want %d", list, err, srv.Lists(), asked)
		}
		list[0].ID = "spoilt" // the next must not see it
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if list, err := client.Models(t.Context(), e); err != nil || list[0].ID != "a" {
				t.Errorf("%v, %v", list, err)
			} else {
				list[0].ID = "spoilt"
			}
		})
	}
	all.Wait()
	ask(e, 1)
	mu.Lock()
	now = now.Add(59 * time.Second)
	mu.Unlock()
	ask(e, 1)
	mu.Lock()
	now = now.Add(2 * time.Second)
	mu.Unlock()
	ask(e, 2)
	other := e
	other.Keys = []string{"k2"}
	ask(other, 3)
	ask(e, 3)
	client.Forget()
	ask(e, 4)
	srv.Models(`broken`)
	client.Forget()
	for i := range 2 {
		if _, err := client.Models(t.Context(), e); err == nil || srv.Lists() != 5+i {
			t.Errorf("%v, asked %d times", err, srv.Lists())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Models(ctx, e); err == nil {
		t.Error("a list for a call that is over")
	}
}

// TestModelPages: pages are followed, and an endless list ends.
func TestModelPages(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	srv.Models(`{"data":[{"id":"a"}],"has_more":true,"last_id":"a & b"}`)
	client := provider.New(provider.Options{})
	defer client.Close()
	list, err := client.Models(t.Context(), srv.Endpoint("a", provider.Messages, "", "k"))
	if err != nil || len(list) != 20 || srv.Lists() != 20 {
		t.Errorf("%d models of %d pages, %v", len(list), srv.Lists(), err)
	}
}
