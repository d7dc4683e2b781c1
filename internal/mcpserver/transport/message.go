package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxDepth is how deep a message may nest; no schema of ours needs a tenth of it.
const maxDepth = 128

// maxID is how many bytes an id may have.
const maxID = 1024

// notInitialized is the error code for a request before the handshake.
const notInitialized = -32002

// fault is what is wrong with a message, as JSON-RPC says it.
type fault struct {
	id   jsontext.Value // of the answer; null when the message's is unknown
	code int64
	text string
}

// line is the answer to a message that is none.
func (f *fault) line() []byte {
	id := f.id
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	text, _ := json.Marshal(f.text) // a string always has a form
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, f.code, text)
}

// message is an envelope that was read: a call (id and method), a notification (method
// alone) or a response (neither method nor params).
type message struct {
	id       jsontext.Value // as it stands; nil for a notification
	key      jsonrpc.ID     // the name of the id towards the SDK
	method   string
	params   jsontext.Value // an object, or nil
	version  string         // of the protocol, as params._meta names it; "" for none
	response *jsonrpc.Response
}

func (m *message) isCall() bool { return m.method != "" && m.id != nil }

// isModern says that the message belongs to the protocol without sessions.
func (m *message) isModern() bool { return isModern(m.version) }

// isModern compares as the SDK does, so that both say the same of a version to come.
func isModern(version string) bool { return version >= modern }

// request is the message as the SDK takes it.
func (m *message) request() *jsonrpc.Request {
	return &jsonrpc.Request{ID: m.key, Method: m.method, Params: json.RawMessage(m.params)}
}

// trimmed is a line without its white space and byte order mark.
func trimmed(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff")))
}

// isBatch says that a message is an array.
func isBatch(line []byte) bool { return len(line) > 0 && line[0] == '[' }

// bounded refuses what no parser should be given: other encodings, and nesting whose
// reading recurses.
func bounded(line []byte) *fault {
	if !utf8.Valid(line) {
		return &fault{code: jsonrpc.CodeParseError, text: "the message is not UTF-8"}
	}
	if !shallow(line) {
		return &fault{id: findID(line), code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("the message nests deeper than %d", maxDepth)}
	}
	return nil
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

// elements takes a batch apart. They are not checked beyond being JSON.
func elements(line []byte) ([][]byte, *fault) {
	dec := newDecoder(line)
	if _, err := dec.ReadToken(); err != nil {
		return nil, unreadable(err, nil)
	}
	var all [][]byte
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, unreadable(err, nil)
		}
		all = append(all, at(line, dec, len(v)))
	}
	if err := ended(dec); err != nil {
		return nil, unreadable(err, nil)
	}
	return all, nil
}

// newDecoder reads in place. Half a surrogate pair in an escape is let through: hosts
// cut texts between the halves, and it is the tool's to judge.
func newDecoder(line []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowInvalidUTF8(true))
}

// at is the last n bytes that dec read, which stay as they are.
func at(line []byte, dec *jsontext.Decoder, n int) []byte {
	end := int(dec.InputOffset())
	return line[end-n : end : end]
}

// ended reads the last bracket, behind which nothing may stand.
func ended(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	switch _, err := dec.ReadToken(); {
	case err == nil:
		return errors.New("two values in one message")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// unreadable is the fault of a message that could not be read; id is what was known of it.
func unreadable(err error, id jsontext.Value) *fault {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok && s.JSONPointer == "/id" {
			id = nil // which of the two?
		}
		return &fault{id: id, code: jsonrpc.CodeInvalidRequest, text: "the message names a member twice"}
	}
	return &fault{code: jsonrpc.CodeParseError, text: "the message is not JSON"}
}

// members are the parts of an envelope, by their exact names.
type members struct {
	version, id, method, params, result, failure jsontext.Value
}

// read takes one message apart, in one pass. It never recurses into what it has not
// bounded. The message keeps parts of line.
func read(line []byte) (*message, *fault) {
	if f := bounded(line); f != nil {
		return nil, f
	}
	dec := newDecoder(line)
	if dec.PeekKind() != '{' {
		if !jsontext.Value(line).IsValid(jsontext.AllowInvalidUTF8(true)) {
			return nil, unreadable(io.ErrUnexpectedEOF, nil)
		}
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "a message is a JSON object"}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, unreadable(err, nil)
	}
	m, parts := &message{}, members{}
	for dec.PeekKind() != '}' {
		if err := m.member(line, dec, &parts); err != nil {
			return nil, unreadable(err, answerable(parts.id))
		}
	}
	if err := ended(dec); err != nil {
		return nil, unreadable(err, nil)
	}
	if f := m.judge(parts); f != nil {
		f.id = answerable(parts.id)
		return nil, f
	}
	return m, nil
}

// member reads one member of the envelope.
func (m *message) member(line []byte, dec *jsontext.Decoder, parts *members) error {
	name, err := dec.ReadToken()
	if err != nil {
		return err
	}
	var into *jsontext.Value
	switch name.String() {
	case "jsonrpc":
		into = &parts.version
	case "id":
		into = &parts.id
	case "method":
		into = &parts.method
	case "params":
		into = &parts.params
	case "result":
		into = &parts.result
	case "error":
		into = &parts.failure
	default:
		return dec.SkipValue()
	}
	start := dec.InputOffset()
	if into == &parts.params {
		m.version, err = skim(dec)
	} else {
		err = dec.SkipValue()
	}
	end := dec.InputOffset()
	*into = bytes.TrimLeft(line[start:end:end], ": \t\r\n")
	return err
}

// skim reads params for the version that a stateless request names.
func skim(dec *jsontext.Decoder) (version string, err error) {
	err = eachMember(dec, func(name string) error {
		if name != "_meta" {
			return dec.SkipValue()
		}
		return eachMember(dec, func(name string) error {
			if name != mcp.MetaKeyProtocolVersion || dec.PeekKind() != '"' {
				return dec.SkipValue()
			}
			text, err := dec.ReadToken()
			if err == nil {
				version = text.String()
			}
			return err
		})
	})
	return version, err
}

// eachMember reads an object, whose values f reads; anything else it skips.
func eachMember(dec *jsontext.Decoder, f func(name string) error) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// judge makes a message of the parts, or says why they are none.
func (m *message) judge(parts members) *fault {
	invalid := func(text string) *fault { return &fault{code: jsonrpc.CodeInvalidRequest, text: text} }
	if string(parts.version) != `"2.0"` {
		return invalid(`"jsonrpc" has to be "2.0"`)
	}
	m.id = parts.id
	answers := parts.result != nil || parts.failure != nil
	switch {
	case parts.method == nil && answers:
		m.response = responseOf(parts)
		return nil
	case parts.method == nil:
		return invalid(`"method" is missing`)
	case answers:
		return invalid("a message is a request or a response, not both")
	case parts.method[0] != '"' || len(parts.method) == len(`""`):
		return invalid(`"method" has to be a text`)
	}
	m.method = unquoted(parts.method)
	if m.id != nil {
		key, ok := keyOf(m.id)
		if !ok {
			return invalid(`"id" has to be a text or a whole number`)
		}
		m.key = key
	}
	if parts.params == nil || string(parts.params) == "null" {
		return nil
	}
	if parts.params[0] != '{' {
		if m.id == nil {
			m.method = "" // a notification is never answered; this one says nothing
			return nil
		}
		return &fault{code: jsonrpc.CodeInvalidParams, text: `"params" has to be an object`}
	}
	m.params = parts.params
	return nil
}

// responseOf is a response as the SDK takes it, nil for one that answers nothing.
func responseOf(parts members) *jsonrpc.Response {
	key, ok := keyOf(parts.id)
	if !ok {
		return nil
	}
	r := &jsonrpc.Response{ID: key, Result: json.RawMessage(parts.result)}
	if parts.failure != nil {
		var e jsonrpc.Error
		if json.Unmarshal(parts.failure, &e) != nil {
			// Whoever asked still has to hear of it.
			e = jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client's error has no form"}
		}
		r.Result, r.Error = nil, &e
	}
	return r
}

// unquoted is the text of a JSON string that was read before.
func unquoted(v jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, v) // the error tells of half surrogates
	return string(text)
}

// private begins the names of ids that are not their own: the SDK keeps numbers as
// floats, which would make neighbours of large ones equal.
const private = "\x00"

// exact is the largest number up to which every whole one is a float.
const exact = 1 << 53

// keyOf names an id: equal ids have equal names, however they are spelled.
func keyOf(id jsontext.Value) (key jsonrpc.ID, ok bool) {
	if len(id) == 0 || len(id) > maxID {
		return key, false
	}
	var name any
	if id[0] == '"' {
		text := unquoted(id)
		if strings.HasPrefix(text, private) {
			text = private + "text " + text
		}
		name = text
	} else {
		digits, whole := wholeNumber(string(id))
		if !whole {
			return key, false
		}
		name = private + "number " + digits
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= -exact && n <= exact {
			name = float64(n)
		}
	}
	key, err := jsonrpc.MakeID(name)
	return key, err == nil
}

// wholeNumber is the one spelling of a whole number; some writers of JSON have 1.0
// for 1.
func wholeNumber(number string) (digits string, whole bool) {
	digits, fraction, _ := strings.Cut(number, ".")
	if strings.Trim(fraction, "0") != "" || strings.Trim(digits, "-0123456789") != "" || digits == "" {
		return "", false
	}
	if digits == "-0" {
		digits = "0"
	}
	return digits, true
}

// answerable is an id, usable or not, that can be said back; nil otherwise.
func answerable(id jsontext.Value) jsontext.Value {
	if len(id) > 0 && len(id) <= maxID && (id[0] == '"' || id.Kind() == '0') {
		return id
	}
	return nil
}

// findID looks for the id in the beginning of a message that is not read. It recurses
// no deeper than the decoder's own bound.
func findID(beginning []byte) jsontext.Value {
	dec := newDecoder(beginning)
	if dec.PeekKind() != '{' {
		return nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			return nil
		}
		if name.String() != "id" {
			if dec.SkipValue() != nil {
				return nil
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil || dec.InputOffset() == int64(len(beginning)) {
			return nil // it may go on behind the beginning
		}
		return answerable(at(beginning, dec, len(v)))
	}
}
