// Command client is openai.mjs and anthropic.mjs in Go, through the libraries of the two
// services for it. It lies here, and is built by name alone, because to build them takes
// minutes that nobody else should wait for.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type order struct {
	Do, Base, Key, Model, Text string
	Stream, Tools, Again       bool
	Media                      []medium
}

type medium struct{ Kind, Type, Data, Path, Name string }

func (m medium) url() string {
	if m.Path != "" {
		return m.Path
	}
	return "data:" + m.Type + ";base64," + m.Data
}

// named is what the format is called by: the end of the name.
func (m medium) format() string { return m.Name[strings.LastIndexByte(m.Name, '.')+1:] }

type call struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input string `json:"input"`
}

type fault struct {
	Name    string          `json:"name"`
	Status  int             `json:"status"`
	Doc     json.RawMessage `json:"doc"`
	Message string          `json:"message"`
}

type answer struct {
	Begun   bool              `json:"begun,omitempty"`
	Doc     json.RawMessage   `json:"doc,omitempty"`
	Text    string            `json:"text"`
	Calls   []call            `json:"calls,omitempty"`
	Usage   []int64           `json:"usage,omitempty"`
	Models  []string          `json:"models,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Fault   *fault            `json:"fault,omitempty"`
}

func say(a answer) {
	line, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// begun is called with each event, and says that the first came.
func (a *answer) event(events []string) {
	if len(events) == 1 {
		say(answer{Begun: true})
	}
	a.Doc = json.RawMessage("[" + strings.Join(events, ",") + "]")
}

func (a *answer) heads(r *http.Response) {
	a.Headers = map[string]string{}
	if r == nil {
		return
	}
	for name, values := range r.Header {
		a.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
}

const description = "Look at a moment."

var schema = map[string]any{"type": "object", "properties": map[string]any{"at": map[string]any{"type": "number"}}, "required": []string{"at"}, "additionalProperties": false}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var o order
		if err := json.Unmarshal(line, &o); err != nil {
			panic(err)
		}
		a, err := serve(context.Background(), o)
		if err != nil {
			a.Fault = faultOf(&a, err)
		}
		say(a)
	}
}

func serve(ctx context.Context, o order) (answer, error) {
	oai := openai.NewClient(option.WithBaseURL(o.Base+"/v1"), option.WithAPIKey(o.Key), option.WithMaxRetries(0))
	ant := anthropic.NewClient(anthropicoption.WithBaseURL(o.Base), anthropicoption.WithAPIKey(o.Key), anthropicoption.WithMaxRetries(0))
	switch o.Do {
	case "chat":
		return chat(ctx, oai, o)
	case "responses":
		return askResponses(ctx, oai, o)
	case "messages":
		return messages(ctx, ant, o)
	case "models":
		var a answer
		p := oai.Models.ListAutoPaging(ctx)
		for p.Next() {
			a.Models = append(a.Models, p.Current().ID)
		}
		return a, p.Err()
	case "anthropic-models":
		var a answer
		p := ant.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
		for p.Next() {
			a.Models = append(a.Models, p.Current().ID)
		}
		return a, p.Err()
	}
	panic("no such order: " + o.Do)
}

func faultOf(a *answer, err error) *fault {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		a.heads(e.Response)
		return &fault{"openai.Error", e.StatusCode, json.RawMessage(e.RawJSON()), e.Message}
	}
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		a.heads(e.Response)
		return &fault{"anthropic.Error", e.StatusCode, json.RawMessage(e.RawJSON()), e.Message}
	}
	return &fault{Name: "error", Message: err.Error()}
}
