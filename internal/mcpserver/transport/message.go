package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxDepth is how deep a message may nest; no schema of ours needs a tenth of it.
const maxDepth = 128

// notInitialized is the error code for a request before the handshake.
const notInitialized = -32002

// fault is what is wrong with a message, as JSON-RPC says it.
type fault struct {
	id   jsontext.Value // of the answer; null when the message's is unknown
	code int64
	text string
}

func (f *fault) Error() string { return f.text }

// line is the answer to a message that is none.
func (f *fault) line() []byte {
	id := f.id
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	text, _ := json.Marshal(f.text) // our own words
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, f.code, text)
}

// message is an envelope that was read.
type message struct {
	id       jsontext.Value // nil for a notification
	method   string         // "" for a response
	params   jsontext.Value // an object, or nil
	response jsonrpc.Message
}

// key names a request in flight: its id in the one form of all its spellings.
func (m *message) key() string { return keyOf(m.id) }

func keyOf(id jsontext.Value) string {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	var text string
	_ = json.Unmarshal(id, &text) // what is no text has no key but the empty one
	return "s" + text
}

// request is the message as the SDK takes it.
func (m *message) request() (jsonrpc.Message, error) {
	if m.response != nil {
		return m.response, nil
	}
	r := &jsonrpc.Request{Method: m.method, Params: json.RawMessage(m.params)}
	if m.id == nil {
		return r, nil
	}
	var v any
	if err := json.Unmarshal(m.id, &v); err != nil {
		return nil, err
	}
	id, err := jsonrpc.MakeID(v)
	r.ID = id
	return r, err
}

// version is the protocol version that a stateless request names, "" for one of a
// session.
func (m *message) version() string {
	var p struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	if m.params == nil || !bytes.Contains(m.params, []byte("io.modelcontextprotocol/protocolVersion")) || json.Unmarshal(m.params, &p) != nil {
		return ""
	}
	return p.Meta.Version
}

var bom = []byte("\ufeff")

// read takes one message apart. It never recurses into what it has not bounded.
func read(line []byte) (*message, *fault) {
	line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), bom))
	switch {
	case !utf8.Valid(line):
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the message is not UTF-8"}
	case !shallow(line):
		return nil, &fault{code: jsonrpc.CodeParseError, text: fmt.Sprintf("the message nests deeper than %d", maxDepth)}
	case !jsontext.Value(line).IsValid():
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the message is not JSON, or names a member twice"}
	case line[0] == '[':
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "batches are not part of the protocol; send one message a line"}
	case line[0] != '{':
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "a message is a JSON object"}
	}
	return envelope(line)
}

// shallow looks at brackets outside texts only.
func shallow(line []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// envelope reads the members of an object by their exact names.
func envelope(line []byte) (*message, *fault) {
	members, err := membersOf(line)
	if err != nil {
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the message is not JSON"}
	}
	m := &message{id: members["id"], params: members["params"]}
	wrong := func(code int64, text string) (*message, *fault) {
		f := &fault{code: code, text: text}
		if answerable(m.id) {
			f.id = m.id
		}
		return nil, f
	}
	if string(members["jsonrpc"]) != `"2.0"` {
		return wrong(jsonrpc.CodeInvalidRequest, `"jsonrpc" has to be "2.0"`)
	}
	if _, named := members["method"]; !named && (members["result"] != nil || members["error"] != nil) {
		if m.response, err = jsonrpc.DecodeMessage(line); err != nil || !usable(m.id) {
			return m, nil // an answer to nothing that was asked
		}
		return m, nil
	}
	method := members["method"]
	if len(method) < 3 || method[0] != '"' || json.Unmarshal(method, &m.method) != nil {
		return wrong(jsonrpc.CodeInvalidRequest, `"method" has to be a text`)
	}
	if m.id != nil && !usable(m.id) {
		return wrong(jsonrpc.CodeInvalidRequest, `"id" has to be a text or a whole number`)
	}
	if string(m.params) == "null" {
		m.params = nil
	}
	if m.params != nil && m.params[0] != '{' {
		if m.id == nil {
			return nil, nil // a notification is never answered
		}
		return wrong(jsonrpc.CodeInvalidParams, `"params" has to be an object`)
	}
	return m, nil
}

// membersOf returns the members of an object as they stand.
func membersOf(line []byte) (map[string]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(line))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	members := map[string]jsontext.Value{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		members[key] = v.Clone()
	}
	return members, nil
}

// maxID is how long an id may be.
const maxID = 1024

// usable says that a request may have this id: a text, or a whole number that no
// reader of JSON rounds.
func usable(id jsontext.Value) bool {
	if len(id) == 0 || len(id) > maxID {
		return false
	}
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n >= -1<<53 && n <= 1<<53
}

// answerable says that an id, usable or not, can be said back.
func answerable(id jsontext.Value) bool {
	return len(id) > 0 && len(id) <= maxID && (id[0] == '"' || id.Kind() == '0')
}
