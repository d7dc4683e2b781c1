package script

import (
	"bytes"
	"fmt"
	"iter"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// template is a text with references in it.
type template struct {
	pieces []piece
}

// piece is a plain text, or a reference.
type piece struct {
	plain string
	ref   *ref
}

// ref refers to the result of an earlier call.
type ref struct {
	source     string // as it was written, without ${ and }, and without what is added
	step, call int
	file       int  // of the prompt, where fromPrompt
	fromPrompt bool // it refers to a file that the prompt names, not to a result
	text       bool // the result as it is, not its JSON
	run        bool // the id of the recorded result
	path       []segment
	add        *big.Rat // nil: nothing is added
	clock      bool     // seconds become h:mm:ss.mmm
}

// segment is a member's name, or an element's place (from the end when negative).
type segment struct {
	name  string
	index int
	list  bool
}

var (
	refHead = regexp.MustCompile(`^steps\[(\d{1,5})\]\.calls\[(\d{1,3})\]\.(output|text|run)`)
	refFile = regexp.MustCompile(`^files\[(\d{1,3})\]$`)
	refAdd  = regexp.MustCompile(`^(.*?)\s*([+-])\s+(\d{1,9}(?:\.\d{1,6})?)$`)
	refSeg  = regexp.MustCompile(`^(?:\.([^.\[\]{}\s]+)|\[(-?\d{1,6})\])`)
)

// template reads a text by what stands before its step.
func (s *step) template(text string, before []step) (template, error) {
	var t template
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			return t.plain(text), nil
		}
		if at > 0 && text[at-1] == '$' { // $${ is ${
			t, text = t.plain(text[:at-1]+"${"), text[at+2:]
			continue
		}
		end := strings.IndexByte(text[at:], '}')
		if end < 0 {
			return t, fault(s.line, "a reference is not closed: %.60q", text[at:]).WithHint("end it with }, or write $${ for the text ${")
		}
		r, err := s.ref(text[at+2:at+end], before)
		if err != nil {
			return t, err
		}
		t = t.plain(text[:at])
		t.pieces = append(t.pieces, piece{ref: r})
		text = text[at+end+1:]
	}
}

func (t template) plain(text string) template {
	if text != "" {
		t.pieces = append(t.pieces, piece{plain: text})
	}
	return t
}

func (s *step) ref(text string, before []step) (*ref, error) {
	bad := func(why string) error {
		return fault(s.line, "the reference ${%.80s} %s", text, why).WithHint("write it as ${steps[0].calls[0].output.FIELD[0].X}, of a step before this one, or as ${files[0]}")
	}
	r := &ref{}
	plain, clock := strings.CutSuffix(text, " as time")
	r.source, r.clock = plain, clock
	if m := refAdd.FindStringSubmatch(plain); m != nil {
		r.source = m[1]
		r.add, _ = new(big.Rat).SetString(strings.TrimPrefix(m[2], "+") + m[3])
	}
	if m := refFile.FindStringSubmatch(text); m != nil && !r.clock {
		r.fromPrompt = true
		r.file, _ = strconv.Atoi(m[1])
		return r, nil
	}
	head := refHead.FindStringSubmatch(r.source)
	if head == nil {
		return nil, bad("is none that is known")
	}
	r.step, _ = strconv.Atoi(head[1])
	r.call, _ = strconv.Atoi(head[2])
	r.text, r.run = head[3] == "text", head[3] == "run"
	rest := r.source[len(head[0]):]
	switch {
	case r.step >= len(before):
		return nil, bad("refers to a step that is not before this one")
	case r.call >= len(before[r.step].Calls):
		return nil, bad("refers to a call that its step does not have")
	case head[3] != "output" && (rest != "" || r.add != nil || r.clock):
		return nil, bad("goes on after ." + head[3] + ", which is whole")
	}
	for rest != "" {
		m := refSeg.FindStringSubmatch(rest)
		if m == nil {
			return nil, bad("is broken at " + strconv.Quote(rest[:min(len(rest), 20)]))
		}
		seg := segment{name: m[1], list: m[2] != ""}
		if seg.list {
			seg.index, _ = strconv.Atoi(m[2])
		}
		r.path = append(r.path, seg)
		rest = rest[len(m[0]):]
	}
	return r, nil
}

// refs are all references of a step.
func (s *step) refs() iter.Seq[*ref] {
	return func(yield func(*ref) bool) {
		for _, t := range append([]template{s.say}, flat(s.in)...) {
			for _, p := range t.pieces {
				if p.ref != nil && !yield(p.ref) {
					return
				}
			}
		}
	}
}

func flat(list [][]template) []template {
	var all []template
	for _, l := range list {
		all = append(all, l...)
	}
	return all
}

// in finds what the reference names in a result; why says it when the result has no such
// thing. What is added is left out.
func (r *ref) in(result string) (v jsontext.Value, why string) {
	switch {
	case r.text:
		return quoted(result), ""
	case r.run:
		if id := runOf(result); id != "" {
			return quoted(id), ""
		}
		return nil, "that result names no recorded run; it begins with " + strconv.Quote(cut(result, 80))
	}
	// One that is nothing but JSON may have been cut off by a summary: what stands before
	// the cut is still there.
	if v = jsontext.Value(strings.TrimSpace(result)); v.Kind() != '{' {
		if v = object(result); v == nil {
			return nil, "that result holds no JSON object; it begins with " + strconv.Quote(cut(result, 80))
		}
	}
	at := "output"
	for _, seg := range r.path {
		next, ok := seg.of(v)
		if !ok {
			return nil, at + " has no " + seg.String()
		}
		v, at = next, at+seg.String()
	}
	if !v.IsValid() {
		return nil, at + " was cut off"
	}
	return v, ""
}

var runText = regexp.MustCompile(`is the result ([0-9a-f]{64})\b`)

// runOf is the id of the recorded result that an answer comes from.
func runOf(result string) string {
	for _, path := range [][]segment{{{name: "run_id"}}, {{name: "provenance"}, {name: "invocation_sha256"}}} {
		r := ref{path: path}
		if v, why := r.in(result); why == "" && v.Kind() == '"' {
			return shown(v)
		}
	}
	if m := runText.FindStringSubmatch(result); m != nil {
		return m[1]
	}
	return ""
}

func (s segment) String() string {
	if s.list {
		return "[" + strconv.Itoa(s.index) + "]"
	}
	return "." + s.name
}

// of is the member or element of v, which may be cut off behind it. What is returned may
// be cut off itself, where it is an object or a list.
func (s segment) of(v jsontext.Value) (jsontext.Value, bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	tok, err := dec.ReadToken()
	if err != nil || s.list && tok.Kind() != '[' || !s.list && tok.Kind() != '{' {
		return nil, false
	}
	var last []jsontext.Value // as many as a place from the end needs
	for at := 0; ; at++ {
		wanted := s.list && (s.index < 0 || s.index == at)
		if !s.list {
			name, err := dec.ReadToken()
			if err != nil || name.Kind() == '}' {
				return nil, false
			}
			wanted = name.String() == s.name
		}
		kind, from := dec.PeekKind(), dec.InputOffset()
		if kind == ']' && s.index < 0 && len(last) == -s.index {
			return last[0], true
		}
		item, err := dec.ReadValue()
		switch {
		case err != nil && wanted && s.index >= 0 && (kind == '{' || kind == '['):
			return jsontext.Value(bytes.TrimLeft(v[from:], " \t\r\n:,")), true
		case err != nil:
			return nil, false
		case wanted && (!s.list || s.index >= 0):
			return item.Clone(), true
		case wanted:
			last = append(last, item.Clone())
			last = last[max(0, len(last)+s.index):]
		}
	}
}

// maxLooks bounds how many brackets of a result are tried.
const maxLooks = 50

// object is the first JSON object in a result: all of it, as a rule, but a result that is
// shown to be read may have words around it.
func object(result string) jsontext.Value {
	for range maxLooks {
		at := strings.IndexByte(result, '{')
		if at < 0 {
			return nil
		}
		result = result[at:]
		v, err := jsontext.NewDecoder(strings.NewReader(result)).ReadValue()
		if err == nil {
			return v.Clone()
		}
		result = result[1:]
	}
	return nil
}

// sum is a number with what is added to it, perhaps as a time.
func (r *ref) sum(v jsontext.Value) (jsontext.Value, string) {
	if r.add == nil && !r.clock {
		return v, ""
	}
	var n *big.Rat
	ok := v.Kind() == '0' && len(v) < 40 && !bytes.ContainsAny(v, "eE") // 1e999999 would be a long number
	if ok {
		n, ok = new(big.Rat).SetString(string(v))
	}
	if !ok {
		return nil, "it is no number, so nothing can be added to it, nor is it a time"
	}
	if r.add != nil {
		n.Add(n, r.add)
	}
	if r.clock {
		return clock(n)
	}
	out := n.FloatString(6)
	if strings.Contains(out, ".") {
		out = strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	if out == "-0" {
		out = "0"
	}
	return jsontext.Value(out), ""
}

// clock writes seconds as h:mm:ss.mmm.
func clock(n *big.Rat) (jsontext.Value, string) {
	ms, err := strconv.ParseInt(new(big.Rat).Mul(n, big.NewRat(1000, 1)).FloatString(0), 10, 64)
	if err != nil || ms < 0 {
		return nil, "it is no time"
	}
	return quoted(fmt.Sprintf("%d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)), ""
}

// strs yields the strings of a JSON value in order, names of members left out.
func strs(v jsontext.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(v))
		for {
			tok, err := dec.ReadToken()
			if err != nil {
				return
			}
			if tok.Kind() != '"' || isName(dec) {
				continue
			}
			if !yield(tok.String()) {
				return
			}
		}
	}
}

// isName says whether the token that was read last is a member's name.
func isName(dec *jsontext.Decoder) bool {
	kind, length := dec.StackIndex(dec.StackDepth())
	return kind == '{' && length%2 == 1
}

// cut is the beginning of a text.
func cut(s string, runes int) string {
	for i := range s {
		if runes == 0 {
			return s[:i] + "…"
		}
		runes--
	}
	return s
}

// filesHead begins the list of files that a prompt may end with.
const filesHead = "\nFiles:\n"

// Files are the files that a prompt names at its end: lines "- NAME" below "Files:".
func Files(prompt string) []string {
	at := strings.LastIndex(prompt, filesHead)
	if at < 0 {
		return nil
	}
	var list []string
	for line := range strings.Lines(prompt[at+len(filesHead):]) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "- ")
		if !ok {
			break
		}
		list = append(list, name)
	}
	return list
}

// WithFiles is a prompt that names files so that [Files] finds them again.
func WithFiles(prompt string, files []string) string {
	if len(files) == 0 {
		return prompt
	}
	return strings.TrimRight(prompt, "\n") + "\n" + filesHead + "- " + strings.Join(files, "\n- ")
}
