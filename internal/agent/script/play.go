package script

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom/internal/provider"
)

// Turn is the answer to a request.
type Turn struct {
	Say     string
	Think   string
	Calls   []provider.ToolCall
	Usage   provider.Usage // as the script says, else counted by the letters
	Fault   *Fault         // what the script wants to go wrong here; nil for nothing
	Entry   int            // which entry is played
	Step    int            // which of its steps; as many as it has for the final answer
	Summary bool           // the conversation was to be summed up
}

// Turn returns the answer to a request. The same request has the same answer. A request
// that offers no tools, in a conversation in which the script made calls, asks for a
// summary of it: that names the steps that are done and holds the values that later ones
// need, so that the conversation can go on from it. The error is a *provider.Fault that
// says why the script has no answer.
func (s *Script) Turn(r provider.Request) (Turn, error) {
	if len(r.Tools) == 0 {
		r.Messages = unfolded(r.Messages)
	}
	p := s.read(r.Messages)
	if p.entry < 0 {
		return Turn{}, badRequest("no entry is for this goal; its goals are %s", strings.Join(quotedAll(s.Goals()), ", "))
	}
	e := &s.entries[p.entry]
	t := Turn{Entry: p.entry, Step: min(p.steps, len(e.Steps))}
	if len(r.Tools) == 0 && p.steps > 0 {
		t.Summary, t.Say = true, s.summary(p)
		t.Usage = counted(r, t)
		return t, nil
	}
	if p.finished {
		t.Step = len(e.Steps)
	}
	st := &e.steps[t.Step]
	say, err := p.fill(st, st.say)
	if err != nil {
		return Turn{}, err
	}
	t.Say, t.Think, t.Fault, t.Usage = say, st.Think, st.Fault, st.Usage
	for i, c := range st.Calls {
		input, err := p.input(st, i)
		if err != nil {
			return Turn{}, err
		}
		t.Calls = append(t.Calls, provider.ToolCall{ID: callID(p, t.Step, i), Name: offered(r.Tools, c.Tool), Input: string(input)})
	}
	if t.Usage == (provider.Usage{}) {
		t.Usage = counted(r, t)
	}
	return t, nil
}

func quotedAll(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(quoted(s)))
	}
	return out
}

// offered is a tool's name as the request has it. One that is not offered is asked for
// all the same: what becomes of that is the other side's.
func offered(tools []provider.Tool, name string) string {
	wire := strings.ReplaceAll(name, ".", "_")
	for _, t := range tools {
		if t.Name == name {
			return name
		}
	}
	return wire
}

// counted guesses tokens: four letters are one, a picture is 800.
func counted(r provider.Request, t Turn) provider.Usage {
	in, out := 0, len(t.Say)+len(t.Think)
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			in += len(part.Text)
			if part.Kind != provider.Text {
				in += 3200
			}
		}
		for _, c := range m.Calls {
			in += len(c.Name) + len(c.Input)
		}
	}
	for _, tool := range r.Tools {
		in += len(tool.Name) + len(tool.Doc) + len(tool.Schema)
	}
	for _, c := range t.Calls {
		out += len(c.Name) + len(c.Input)
	}
	return provider.Usage{Input: int64(in/4 + 1), Output: int64(out/4 + 1)}
}

// fill writes a template as text.
func (p past) fill(st *step, t template) (string, error) {
	var b strings.Builder
	for _, piece := range t.pieces {
		if piece.ref == nil {
			b.WriteString(piece.plain)
			continue
		}
		v, err := p.resolve(st, piece.ref)
		if err != nil {
			return "", err
		}
		b.WriteString(shown(v))
	}
	return b.String(), nil
}

// shown is a value within a text: a string as it reads, everything else as JSON.
func shown(v jsontext.Value) string {
	if v.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(text)
		}
	}
	return string(v)
}

func (p past) resolve(st *step, r *ref) (jsontext.Value, error) {
	v, why := p.value(r)
	if why == "" {
		v, why = r.sum(v)
	}
	if why != "" {
		where := ""
		if st.line > 0 {
			where = fmt.Sprintf(" in line %d", st.line)
		}
		return nil, badRequest("${%s}%s: %s", r.source, where, why)
	}
	return v, nil
}

// input is the input of a call with its references filled in.
func (p past) input(st *step, call int) (jsontext.Value, error) {
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewBuffer(st.Calls[call].Input)), jsontext.NewEncoder(&out)
	templates := st.in[call]
	for dec.PeekKind() != 0 {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, badRequest("an input is no JSON: %v", err)
		}
		if tok.Kind() != '"' || isName(dec) {
			if err := enc.WriteToken(tok); err != nil {
				return nil, badRequest("an input is no JSON: %v", err)
			}
			continue
		}
		t := templates[0]
		templates = templates[1:]
		v, err := p.put(st, t)
		if err != nil {
			return nil, err
		}
		if err := enc.WriteValue(v); err != nil {
			return nil, badRequest("an input is no JSON: %v", err)
		}
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// put is a string of an input: what it refers to, when it is one reference and nothing else.
func (p past) put(st *step, t template) (jsontext.Value, error) {
	if len(t.pieces) == 1 && t.pieces[0].ref != nil {
		return p.resolve(st, t.pieces[0].ref)
	}
	text, err := p.fill(st, t)
	return quoted(text), err
}

// unfolded are messages in which those stand that a request has written out, one JSON
// object a line, to have them summed up.
func unfolded(list []provider.Message) []provider.Message {
	var out []provider.Message
	for _, m := range list {
		var inner []provider.Message
		for line := range strings.Lines(m.Text()) {
			var one provider.Message
			if m.Role != provider.RoleUser || json.Unmarshal([]byte(strings.TrimSpace(line)), &one) != nil || one.Role == "" {
				break
			}
			inner = append(inner, one)
		}
		if inner == nil {
			inner = []provider.Message{m}
		}
		out = append(out, inner...)
	}
	return out
}
