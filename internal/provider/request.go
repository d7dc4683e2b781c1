package provider

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Modality is what a part is, and what a model takes.
type Modality string

// The modalities. File is any other document that a service takes, such as a PDF.
const (
	Text  Modality = "text"
	Image Modality = "image"
	Audio Modality = "audio"
	Video Modality = "video"
	File  Modality = "file"
)

// Role says who speaks in a [Message].
type Role string

// The roles. A system message may stand anywhere; wires that have one instruction only
// get all of them there, joined. A tool's message answers one call.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Part is a text or a medium.
type Part struct {
	Kind Modality `json:"kind"`
	Text string   `json:"text,omitempty"` // of a text
	Data []byte   `json:"data,omitempty"` // of a medium
	Type string   `json:"type,omitempty"` // media type: image/png
	Name string   `json:"name,omitempty"` // file name, without folders; may be empty
}

// TextPart is a part that is a text.
func TextPart(text string) Part { return Part{Kind: Text, Text: text} }

// Message is one message in the form that no wire owns.
type Message struct {
	Role   Role       `json:"role"`
	Parts  []Part     `json:"parts,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`   // what an assistant wants to be done
	CallID string     `json:"call_id,omitempty"` // which call a tool answers
	Failed bool       `json:"failed,omitempty"`  // the tool failed, and Parts say why; only Messages has a place for it
	// Native is what the service itself said. An endpoint of the same wire, provider and
	// model is sent it again as it was; every other the fields above.
	Native *Native `json:"native,omitempty"`
}

// Native is an assistant's message as a service wrote it: Chat's message object, the
// output items of Responses as an array, the content blocks of Messages as an array.
type Native struct {
	Wire Wire           `json:"wire"`
	By   string         `json:"by"` // provider/model
	JSON jsontext.Value `json:"json"`
}

// Text returns the texts of the message, joined.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == Text {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Tool is what a model may call.
type Tool struct {
	Name   string         // [a-zA-Z0-9_-], at most 64
	Doc    string         // what it does
	Schema jsontext.Value // JSON Schema of its input, an object
	Strict bool           // the service shall hold the model to the schema
}

// ToolCall is a call that a model made.
type ToolCall struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input string `json:"input"` // JSON as the model wrote it: it may be broken
}

// Choice says whether a model has to call a tool.
type Choice string

// The choices. Any other value is the name of the one tool to call.
const (
	ChoiceAuto     Choice = "" // as the model likes
	ChoiceNone     Choice = "none"
	ChoiceRequired Choice = "required" // one of them
)

// Schema is what an answer has to fit, strictly, where the service can hold the model to it.
type Schema struct {
	Name string // [a-zA-Z0-9_-]
	JSON jsontext.Value
}

// Request is what is asked.
type Request struct {
	Messages  []Message
	Tools     []Tool
	Choice    Choice
	Serial    bool    // at most one call in an answer
	Schema    *Schema // nil: any text
	MaxTokens int     // of the answer; 0 is the service's own bound (8192 for Messages, which wants one)
	Language  string  // of speech to transcribe, BCP 47; may be empty
	// MediaTokens is the caller's estimate of what the media cost, for the ledger; 0
	// lets their bytes say it.
	MediaTokens int64
}

// Stop says why an answer ended.
type Stop string

// Why an answer ends.
const (
	StopEnd     Stop = "end"     // the model was done
	StopTools   Stop = "tools"   // it waits for the answers of its calls
	StopLength  Stop = "length"  // MaxTokens, or the model's own bound
	StopRefused Stop = "refused" // the model or a filter of the service refused
)

// Usage is what the service counted, in tokens.
type Usage struct {
	Input    int64 `json:"input"`              // all of the request, cached or not
	Output   int64 `json:"output"`             // all of the answer, thought or said
	Cached   int64 `json:"cached,omitempty"`   // of Input, what was read from a cache
	Thinking int64 `json:"thinking,omitempty"` // of Output, what was thought
}

// mostTokens is more than any answer takes; sums of some thousands still fit.
const mostTokens = 1 << 40

// Counted is u as counts of tokens: none is below zero, and none too large to add up.
// Services say what they like.
func (u Usage) Counted() Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.Cached, &u.Thinking} {
		*n = counted(*n)
	}
	return u
}

func counted(n int64) int64 { return min(max(n, 0), mostTokens) }

// Reply is an answer. Its Message is the assistant's, with Native as the service wrote it.
type Reply struct {
	Message Message
	Stop    Stop
	Refusal string // what was said instead, where Stop is refused
	Usage   Usage  // zero when the service did not say
	Model   string // as the service named it
	ID      string // of the answer at the service
	Sent    int64  // bytes of the request's body
}

// empty reports an answer that says and wants nothing.
func (r Reply) empty() bool {
	return strings.TrimSpace(r.Message.Text()) == "" && len(r.Message.Calls) == 0 && r.Stop != StopRefused
}

// Delta is a piece of an answer as it comes.
type Delta struct {
	Text     string     // what was said
	Thinking string     // what was thought, where the service shows it
	Call     *CallDelta // a piece of a call
	// Again says that all pieces so far are void: another attempt begins.
	Again bool
}

// CallDelta is a piece of the Index-th call of an answer. ID and Name come with the
// first one.
type CallDelta struct {
	Index int
	ID    string
	Name  string
	Input string
}
