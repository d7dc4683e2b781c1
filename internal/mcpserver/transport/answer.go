package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxErrorText is how many bytes of an error's message are sent: the SDK quotes what
// it could not read, which may be as long as a message.
const maxErrorText = 1000

// undeliverable is how the SDK is told that one message is refused and the connection
// goes on; it knows it by the code alone.
func undeliverable(text string) error { return &jsonrpc.Error{Code: -32005, Message: text} }

// errorOf is an error of the SDK or of a handler as it goes to the client: with a code
// that JSON-RPC has (the SDK leaves 0 in an error that it did not expect), and without
// the values and Go types that the SDK tells of.
func errorOf(err error, method string) *jsonrpc.Error {
	e := jsonrpc.Error{Message: err.Error()}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		e.Code, e.Data = wire.Code, wire.Data
	}
	if e.Code == 0 {
		e.Code = jsonrpc.CodeInternalError
	}
	if strings.Contains(e.Message, "unmarshaling ") {
		e.Code, e.Message = jsonrpc.CodeInvalidParams, "invalid params: they have not the form that "+method+" takes"
	}
	if e.Code == jsonrpc.CodeMethodNotFound {
		e.Message = "method not found" // the SDK repeats the name, which can be anything
	}
	if len(e.Message) > maxErrorText {
		cut := maxErrorText
		for cut > 0 && !utf8.RuneStart(e.Message[cut]) {
			cut--
		}
		e.Message = e.Message[:cut] + "…"
	}
	if e.Data != nil && !json.Valid(e.Data) {
		e.Data = nil
	}
	return &e
}

// tooLong is the error that takes the place of an answer.
func tooLong(size, most int) *jsonrpc.Error {
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInternalError,
		Message: fmt.Sprintf("the answer has %d bytes, more than the %d that one message may have; ask for less", size, most),
	}
}

// response writes an answer of at most most bytes as a line. The result is copied
// once: the SDK would check and copy it twice.
func response(id jsontext.Value, method string, r *jsonrpc.Response, most int) []byte {
	if r.Error != nil {
		return failure(id, errorOf(r.Error, method), most)
	}
	result := jsontext.Value(r.Result)
	if bytes.IndexByte(result, '\n') >= 0 {
		result = result.Clone()
		if result.Compact() != nil { // a line's end would make two messages of it
			return failure(id, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer is not JSON"}, most)
		}
	}
	if len(result) == 0 {
		result = jsontext.Value("{}")
	}
	const before, between, after = `{"jsonrpc":"2.0","id":`, `,"result":`, "}\n"
	size := len(before) + len(id) + len(between) + len(result) + len(after)
	if size > most {
		return failure(id, tooLong(size, most), most)
	}
	line := make([]byte, 0, size)
	line = append(append(line, before...), id...)
	line = append(append(line, between...), result...)
	return append(line, after...)
}

// failure writes an error as a line.
func failure(id jsontext.Value, e *jsonrpc.Error, most int) []byte {
	text, err := json.Marshal(e)
	if err != nil || len(text)+len(id)+64 > most {
		return (&fault{id: id, code: e.Code, text: "the error does not fit into one message"}).line()
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, text)
}

// batch is the answers to one array of messages, which 2025-03-26 has.
type batch struct {
	open  int // calls without an answer
	size  int
	lines [][]byte
}

// add takes the answer to one element: its line, or nothing for a cancelled call.
func (b *batch) add(line []byte, id jsontext.Value, most int) {
	if line == nil {
		return
	}
	if b.size+len(line) > most {
		line = failure(id, tooLong(b.size+len(line), most), most)
	}
	b.size += len(line)
	b.lines = append(b.lines, line)
}

// line is the whole answer once every call has one; nil before, and when there is
// nothing to say.
func (b *batch) line() []byte {
	if b.open > 0 || len(b.lines) == 0 {
		return nil
	}
	text := make([]byte, 0, b.size+2)
	text = append(text, '[')
	for i, l := range b.lines {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, bytes.TrimSuffix(l, []byte("\n"))...)
	}
	b.lines = nil
	return append(text, "]\n"...)
}
