package provider

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Model is a model that a service lists.
type Model struct {
	ID      string
	Name    string // as people read it; the id where the service says none
	Context int64  // tokens it reads at once; 0 when not said
	// Modalities are what it takes in, as the service declares it; nil when it does not.
	Modalities []Modality
}

// Takes says whether the model declares that it takes m; declared is false where it
// declares nothing.
func (m Model) Takes(k Modality) (takes, declared bool) {
	return slices.Contains(m.Modalities, k), m.Modalities != nil
}

// modelsKept is how long a list of models counts.
const modelsKept = time.Minute

// maxPages bounds the pages of a list.
const maxPages = 20

// shelf keeps lists of models. Who asks for the same list at once waits for one request.
type shelf struct {
	mu   sync.Mutex
	slot map[string]*slot
}

type slot struct {
	turn chan struct{} // holds one token: whoever has it may ask
	at   time.Time
	list []Model
}

// Models lists the models of an endpoint's service, under its first key; a list is kept
// for 60 seconds, a failure is not. The endpoint's model does not count.
func (c *Client) Models(ctx context.Context, e Endpoint) ([]Model, error) {
	e.Model = orText(e.Model, "-")
	key := ""
	if len(e.Keys) > 0 {
		key = e.Keys[0]
	}
	s := c.models.of(string(e.wire()) + "\n" + e.BaseURL + "\n" + Fingerprint(e.BaseURL, key))
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if age := c.limits.Now().Sub(s.at); s.list != nil && age >= 0 && age < modelsKept {
		return slices.Clone(s.list), nil
	}
	list, err := c.listModels(ctx, e, key)
	if err != nil {
		return nil, err
	}
	s.list, s.at = list, c.limits.Now()
	return slices.Clone(list), nil
}

// Forget drops all lists of models: the next question asks the services.
func (c *Client) Forget() {
	c.models.mu.Lock()
	defer c.models.mu.Unlock()
	c.models.slot = nil
}

func (s *shelf) of(id string) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slot == nil {
		s.slot = map[string]*slot{}
	}
	if s.slot[id] == nil {
		s.slot[id] = &slot{turn: make(chan struct{}, 1)}
		s.slot[id].turn <- struct{}{}
	}
	return s.slot[id]
}

// listModels follows the pages of a list, where a service has them.
func (c *Client) listModels(ctx context.Context, e Endpoint, key string) ([]Model, error) {
	list := []Model{}
	path := "/models"
	for range maxPages {
		a, err := c.Do(ctx, e, key, Raw{Path: path, Accept: "application/json"})
		if err != nil {
			return nil, err
		}
		doc, err := c.modelsPage(a)
		if err != nil {
			return nil, err
		}
		page, after, err := parseModels(doc)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if after == "" {
			break
		}
		path = "/models?after_id=" + url.QueryEscape(after)
	}
	return list, nil
}

func (c *Client) modelsPage(a *Answer) ([]byte, error) {
	defer a.Body.Close()
	if a.Status != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(a.Body, maxComplaint))
		return nil, classify(a.Status, a.Header, body, c.limits.Now())
	}
	return c.whole(a.Body)
}

// modelDoc is one model, in all the forms in which services declare what it takes.
type modelDoc struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	DisplayName  string         `json:"display_name"`
	Context      int64          `json:"context_length"`
	MaxModelLen  int64          `json:"max_model_len"`
	MaxInput     int64          `json:"max_input_tokens"`
	Modalities   jsontext.Value `json:"modalities"`
	Input        jsontext.Value `json:"input_modalities"`
	Architecture struct {
		Input jsontext.Value `json:"input_modalities"`
	} `json:"architecture"`
	Capabilities jsontext.Value `json:"capabilities"`
}

// parseModels reads a list; after names the last model where there are more.
func parseModels(doc []byte) (list []Model, after string, err error) {
	var page struct {
		Data    []jsontext.Value `json:"data"`
		HasMore bool             `json:"has_more"`
		LastID  string           `json:"last_id"`
	}
	if jsontext.Value(doc).Kind() == '[' { // Together
		err = decode(doc, &page.Data)
	} else {
		err = decode(doc, &page)
	}
	if err != nil || page.Data == nil {
		return nil, "", unreadable(doc, err)
	}
	for _, v := range page.Data {
		var m modelDoc
		if decode(v, &m) != nil {
			var least struct {
				ID string `json:"id"`
			}
			if decode(v, &least) != nil {
				continue
			}
			m = modelDoc{ID: least.ID}
		}
		if m.ID == "" {
			continue
		}
		list = append(list, Model{m.ID, cmp.Or(m.DisplayName, m.Name, m.ID), max(m.Context, m.MaxModelLen, m.MaxInput, 0), m.declared()})
	}
	if page.HasMore {
		after = page.LastID
	}
	return list, after, nil
}

// declared reads what a model takes: OpenRouter's architecture, lists of modalities, an
// object of them with input, and capabilities by name. nil is: nothing is declared.
func (m modelDoc) declared() []Modality {
	for _, v := range []jsontext.Value{m.Architecture.Input, m.Input, m.Modalities} {
		var list []string
		if !isNull(v) && decode(v, &list) == nil && len(list) > 0 {
			return modalities(list)
		}
		var both struct {
			Input []string `json:"input"`
		}
		if !isNull(v) && decode(v, &both) == nil && len(both.Input) > 0 {
			return modalities(both.Input)
		}
	}
	return capable(m.Capabilities)
}

func modalities(names []string) []Modality {
	list := []Modality{}
	for _, n := range names {
		k := Modality(n)
		switch k {
		case "pdf", "document":
			k = File
		case "vision", "images":
			k = Image
		}
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

// capable reads capabilities: Mistral's and others' {"vision": true}, Anthropic's
// {"image_input": {"supported": true}}, and lists of names that say vision.
func capable(v jsontext.Value) []Modality {
	var names []string
	if decode(v, &names) == nil && len(names) > 0 {
		if slices.Contains(names, "vision") {
			return []Modality{Text, Image}
		}
		return nil
	}
	var members map[string]jsontext.Value
	if isNull(v) || decode(v, &members) != nil {
		return nil
	}
	list, said := []Modality{Text}, false
	for _, c := range []struct {
		name string
		kind Modality
	}{{"vision", Image}, {"image_input", Image}, {"audio", Audio}, {"audio_input", Audio}, {"video_input", Video}, {"pdf_input", File}} {
		m := members[c.name]
		var supported struct {
			Supported bool `json:"supported"`
		}
		yes := m.Kind() == 't' || m.Kind() == '{' && decode(m, &supported) == nil && supported.Supported
		said = said || yes || m.Kind() == 'f' || m.Kind() == '{'
		if yes && !slices.Contains(list, c.kind) {
			list = append(list, c.kind)
		}
	}
	if !said {
		return nil
	}
	return list
}
