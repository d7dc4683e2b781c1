package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// codec is one wire: how a request is written and an answer read.
type codec interface {
	pack(e Endpoint, r Request, stream bool) (packed, error)
	// reply reads a whole answer; its error is a *Fault.
	reply(doc []byte) (Reply, error)
	// gather reads an answer that comes in events, and hands on what comes.
	gather(on func(Delta)) gatherer
}

// gatherer puts an answer together.
type gatherer interface {
	// take reads one event; done says that it was the last.
	take(e event) (done bool, err error)
	// reply is the answer so far; whole says that nothing of it is missing.
	reply() (r Reply, whole bool, err error)
}

func (w Wire) codec() codec {
	switch w {
	case Responses:
		return responsesWire{}
	case Messages:
		return messagesWire{}
	case Transcription:
		return transcriptionWire{}
	}
	return chatWire{}
}

// packed is a request as it is sent.
type packed struct {
	kind string // content type
	body []byte
}

// either is a value that we write, or one that stands as JSON already.
type either[T any] struct {
	raw   jsontext.Value
	value T
}

// MarshalJSONTo writes whichever it is, without a copy of its own: media are large.
func (e either[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if e.raw != nil {
		return enc.WriteValue(e.raw)
	}
	return json.MarshalEncode(enc, e.value)
}

func written[T any](v T) either[T] { return either[T]{value: v} }

// pack encodes the body of r with the endpoint's extra members.
func (e Endpoint) pack(r Request, body any) (packed, error) {
	cannot := func(err error) (packed, error) {
		return packed{}, &Fault{Class: BadRequest, Message: "the request cannot be written", Err: err}
	}
	var b bytes.Buffer
	b.Grow(r.size())
	if err := json.MarshalWrite(&b, body, json.Deterministic(true), lenient()); err != nil {
		return cannot(err)
	}
	if len(e.Extra) == 0 {
		return packed{"application/json", b.Bytes()}, nil
	}
	var extra, ours map[string]jsontext.Value
	if err := json.Unmarshal(e.Extra, &extra); err != nil || extra == nil {
		return packed{}, &Fault{Class: BadRequest, Message: "extra of the provider is not a JSON object", Err: err}
	}
	if err := decode(b.Bytes(), &ours); err != nil {
		return cannot(err)
	}
	delete(extra, "stream") // who reads the answer decides
	maps.Copy(extra, ours)
	data, err := json.Marshal(extra, json.Deterministic(true), lenient())
	if err != nil {
		return cannot(err)
	}
	return packed{"application/json", data}, nil
}

// size is about what the body will have: room made once is not made again and again.
func (r Request) size() int {
	n := 4 << 10
	for _, t := range r.Tools {
		n += len(t.Schema) + len(t.Doc)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += base64.StdEncoding.EncodedLen(len(p.Data)) + len(p.Text)*9/8 + 200
		}
		if m.Native != nil {
			n += len(m.Native.JSON)
		}
	}
	return n
}

// dataURL writes a medium as RFC 2397 has it.
func dataURL(p Part) string {
	var b strings.Builder
	b.Grow(len(p.mediaType()) + 32 + base64.StdEncoding.EncodedLen(len(p.Data)))
	b.WriteString("data:" + p.mediaType() + ";base64,")
	w := base64.NewEncoder(base64.StdEncoding, &b)
	_, _ = w.Write(p.Data) // a builder takes all
	_ = w.Close()
	return b.String()
}

func (p Part) mediaType() string {
	if p.Type == "" {
		return "application/octet-stream"
	}
	return p.Type
}

// fileName is the part's name, or one that says its type.
func (p Part) fileName() string {
	if p.Name != "" {
		return p.Name
	}
	_, sub, _ := strings.Cut(p.mediaType(), "/")
	sub, _, _ = strings.Cut(sub, ";")
	return string(p.Kind) + "." + strings.TrimPrefix(sub, "x-")
}

// soundFormat is a sound's format as input_audio names it.
func (p Part) soundFormat() string {
	_, sub, _ := strings.Cut(p.mediaType(), "/")
	sub, _, _ = strings.Cut(sub, ";")
	switch sub = strings.TrimPrefix(sub, "x-"); sub {
	case "mpeg", "mpga":
		return "mp3"
	case "wave", "vnd.wave":
		return "wav"
	case "mp4", "m4a":
		return "m4a"
	}
	return sub
}

// takesNo is the fault of a medium that a wire has no form for. Nothing was sent.
func takesNo(w Wire, k Modality) *Fault {
	return faultf(BadRequest, "the wire %s takes no %s", w, k)
}

// wireID is a call's id as every service takes it: some have letters that others refuse.
// The same id always becomes the same.
func wireID(id string) string {
	plain := len(id) > 0 && len(id) <= 64
	for _, c := range []byte(id) {
		plain = plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if plain {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

// ids are those that stand in messages which are sent as a service wrote them: what
// answers them has to say them the same way.
type ids map[string]bool

func (e Endpoint) ids(list []Message) ids {
	s := ids{}
	for _, m := range list {
		if m.native(e) == nil {
			continue
		}
		for _, c := range m.Calls {
			s[c.ID] = true
		}
	}
	return s
}

func (s ids) of(id string) string {
	if s[id] {
		return id
	}
	return wireID(id)
}

// object is a call's input as a JSON object. What a model wrote otherwise is kept as the
// text that it is.
func (c ToolCall) object() jsontext.Value {
	v := jsontext.Value(strings.TrimSpace(c.Input))
	if len(v) == 0 {
		return jsontext.Value(`{}`)
	}
	if v.Kind() == '{' && v.IsValid(lenient()) {
		return v
	}
	text, err := json.Marshal(struct {
		Broken string `json:"broken_input"`
	}{c.Input}, lenient())
	if err != nil {
		return jsontext.Value(`{}`)
	}
	return text
}

// native returns the message as e itself wrote it, nil where somebody else did.
func (m Message) native(e Endpoint) jsontext.Value {
	if m.Native == nil || m.Native.Wire != e.wire() || m.Native.By != e.by() {
		return nil
	}
	return m.Native.JSON
}

// Message reads the neutral form out of a native message. Native stays in it.
func (n Native) Message() (Message, error) {
	var m Message
	var err error
	switch n.Wire {
	case Chat:
		m, err = chatNeutral(n.JSON)
	case Responses:
		m, err = responsesNeutral(n.JSON)
	case Messages:
		m, err = messagesNeutral(n.JSON)
	default:
		err = fmt.Errorf("the wire %q has no messages", n.Wire)
	}
	m.Native = &n
	return m, err
}

// instruction joins the system messages, which some wires take apart from the rest.
func (r Request) instruction() string {
	var texts []string
	for _, m := range r.Messages {
		if m.Role == RoleSystem {
			texts = append(texts, m.Text())
		}
	}
	return strings.Join(texts, "\n\n")
}
