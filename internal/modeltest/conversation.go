package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Image is a picture that reached the model.
type Image struct {
	Media string // media type as the host declares it, such as image/jpeg
	Data  []byte // decoded; nil when the host sent an address instead
	URL   string // when the host sent an address
}

// Tool is a tool that a request offers.
type Tool struct {
	Name        string
	Namespace   string // of the Responses wire; "" without one
	Description string
	Schema      json.RawMessage
}

// role of an entry.
type role int

const (
	user role = iota
	system
	assistant
)

// entry is one thing in a conversation, whatever the wire: a text, a picture, a call
// or the result of one.
type entry struct {
	role   role
	text   string
	image  *Image
	call   *Call
	callID string // of call and result
	result *Result
}

// conversation is a request as the model reads it.
type conversation struct {
	entries []entry
	tools   []Tool
	stream  bool
	model   string
}

// past groups the results by the turns that asked for them. A turn is counted once
// for all of its calls, which hosts may send back as several messages, and once for a
// stretch of the model's own text without a call.
func (c *conversation) past() Past {
	calls, order, texts := map[string]string{}, map[int]bool{}, 0
	said := false // this stretch holds text and no call yet
	end := func() {
		if said {
			texts++
		}
		said = false
	}
	for _, e := range c.entries {
		switch {
		case e.call != nil:
			calls[e.callID] = e.call.Tool
			if n := turnOf(e.callID); n >= 0 {
				order[n] = true
			}
			said = false
		case e.role == assistant && e.text != "":
			said = true
		case e.role != assistant:
			end()
		}
	}
	end()
	p := Past{Turns: make([][]Result, len(order)+texts)}
	for _, e := range c.entries {
		if e.result == nil {
			continue
		}
		if n := turnOf(e.callID); n >= 0 && n < len(p.Turns) {
			r := *e.result
			r.CallID, r.Tool = e.callID, calls[e.callID]
			p.Turns[n] = append(p.Turns[n], r)
		}
	}
	return p
}

// texts are all texts of the conversation, in order.
func (c *conversation) texts() []string {
	var list []string
	for _, e := range c.entries {
		if e.text != "" {
			list = append(list, e.text)
		}
		if e.result != nil && e.result.Text != "" {
			list = append(list, e.result.Text)
		}
	}
	return list
}

// images are all pictures of the conversation, those in results included.
func (c *conversation) images() []Image {
	var list []Image
	for _, e := range c.entries {
		if e.image != nil {
			list = append(list, *e.image)
		}
		if e.result != nil {
			list = append(list, e.result.Images...)
		}
	}
	return list
}

// block is an element of a content array in any of the wires.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`

	Source *struct { // Messages: image
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	ImageURL imageURL `json:"image_url"` // Responses: text; Chat Completions: an object

	ID        string          `json:"id"` // Messages: tool_use
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"` // Messages: tool_result
	Content   content         `json:"content"`
}

type imageURL string

func (u *imageURL) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(u))
	}
	var o struct {
		URL string `json:"url"`
	}
	err := json.Unmarshal(raw, &o)
	*u = imageURL(o.URL)
	return err
}

// content is an array of blocks, or a text that stands for one.
type content []block

func (c *content) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		*c = nil
		return nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		*c = content{{Type: "text", Text: text}}
		return err
	case raw[0] == '{': // some hosts send one block for a list of one
		*c = content{{}}
		return json.Unmarshal(raw, &(*c)[0])
	}
	return json.Unmarshal(raw, (*[]block)(c))
}

// result flattens the content of a tool's result.
func (c content) result() *Result {
	r := &Result{}
	var texts []string
	for _, b := range c {
		if img := b.image(); img != nil {
			r.Images = append(r.Images, *img)
		} else if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r
}

// entries are the texts and pictures of a message.
func (c content) entries(by role) []entry {
	var list []entry
	for _, b := range c {
		if img := b.image(); img != nil {
			list = append(list, entry{role: by, image: img})
		} else if b.Text != "" {
			list = append(list, entry{role: by, text: b.Text})
		}
	}
	return list
}

// image is the picture of a block, nil when it holds none.
func (b block) image() *Image {
	switch {
	case b.Type == "image" && b.Source != nil:
		img := &Image{Media: b.Source.MediaType, URL: b.Source.URL}
		img.Data, _ = base64.StdEncoding.DecodeString(b.Source.Data) // nil: undecodable counts as no picture
		return img
	case b.Type == "input_image" || b.Type == "image_url":
		return dataURL(string(b.ImageURL))
	}
	return nil
}

// dataURL is the picture in a data: address; another address stays one.
func dataURL(address string) *Image {
	rest, ok := strings.CutPrefix(address, "data:")
	head, data, comma := strings.Cut(rest, ",")
	media, base64d := strings.CutSuffix(head, ";base64")
	if !ok || !comma || !base64d {
		return &Image{URL: address}
	}
	img := &Image{Media: media}
	img.Data, _ = base64.StdEncoding.DecodeString(data)
	return img
}

var errNoConversation = errors.New("the body is no request of this wire")

// read parses a request's body.
func read(w Wire, body []byte) (*conversation, error) {
	switch w {
	case Messages, CountTokens:
		return readMessages(body)
	case Responses:
		return readResponses(body)
	case Chat:
		return readChat(body)
	}
	return nil, errNoConversation
}

func roleOf(name string) role {
	switch {
	case name == "assistant":
		return assistant
	case slices.Contains([]string{"system", "developer"}, name):
		return system
	}
	return user
}
