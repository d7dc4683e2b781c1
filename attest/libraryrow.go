package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// trade is a library that asks models, both directly and through the gateway.
type trade struct {
	library
	*customer
	s   *service
	who operator
	lab *lab
	// still leaves out what takes seconds to read: sound and video.
	still bool
	say   func(format string, args ...any)
}

// attestLibrary tries one library with a service; still leaves sound and video out.
func (l *lab) attestLibrary(ctx context.Context, lib library, s *service, still bool, say func(string, ...any)) (Verdict, error) {
	c, version, err := lib.open(ctx, l.repository, l.path("tmp"))
	if err != nil {
		return Verdict{}, err
	}
	defer c.close()
	t := &trade{lib, c, s, operator{l, s.workspace}, l, still, say}
	v := Verdict{Host: lib.name, Title: lib.title, Version: version}
	var forms []string
	for _, w := range lib.wires {
		forms = append(forms, formOf(w))
		rows, err := t.rows(ctx, w)
		if err != nil {
			return v, fmt.Errorf("%s, %s: %w", lib.title, w, err)
		}
		v.Rows = joined(v.Rows, rows)
	}
	v.Protocol = strings.Join(forms, ", ")
	row, err := t.listRow()
	v.Rows = append(v.Rows, row)
	return v, err
}

func formOf(w provider.Wire) string {
	return map[provider.Wire]string{provider.Chat: "Chat Completions", provider.Responses: "Responses", provider.Messages: "Messages"}[w]
}

// joined are rows that hold over one more wire: what failed over one failed.
func joined(rows, more []Row) []Row {
	if rows == nil {
		return more
	}
	for i := range rows {
		rows[i].Passed = rows[i].Passed && more[i].Passed
		if rows[i].Observed == "" || !more[i].Passed {
			rows[i].Observed = more[i].Observed
		}
	}
	return rows
}

// rows are what is tried over one wire.
func (t *trade) rows(ctx context.Context, w provider.Wire) ([]Row, error) {
	var rows []Row
	for _, try := range []func(context.Context, provider.Wire) ([]Row, error){t.textRows, t.toolRow, t.faultRow, t.cutRow, t.mediaRows, t.omniRow, t.refusedRow} {
		more, err := try(ctx, w)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// The scripted answers, with what services say beside them.
const spoken1 = "Es läuft – “fine”, 日本語 \\ <b>"

var beside = http.Header{"X-Request-Id": {"req_4711"}, "X-Ratelimit-Remaining-Requests": {"41"}, "Openai-Processing-Ms": {"7"}, "Cache-Control": {"no-cache"}}

var used = provider.Usage{Input: 1200, Output: 34, Cached: 1000}

func (t *trade) order(w provider.Wire, text string) order {
	return order{Do: string(w), Base: strings.TrimSuffix(t.s.upstream.URL, "/v1"), Key: upstreamKey, Model: modelOf("blind", w), Text: text}
}

// through is the same question to the gateway, for a model's second name.
func (t *trade) through(o order) order {
	o.Base, o.Key, o.Model = t.s.address, t.s.token, "cutroom-vision-"+o.Model
	return o
}

// both asks the same directly and through the gateway, where the upstream answers with a
// step, and says whether there was any difference: in what the library made of the
// answer, and in what reached the upstream. A stream's first half has to have arrived
// before the second is sent.
func (t *trade) both(step providertest.Step, o order) (told, bool, error) {
	var got [2]told
	var sent [2]providertest.Request
	for i, o := range []order{o, t.through(o)} {
		var first chan struct{}
		if o.Stream && step.Status == 0 && !step.Cut {
			first = make(chan struct{})
			step.Until = first
		}
		t.s.upstream.Answer(func(providertest.Request) providertest.Step { return step })
		var err error
		got[i], err = t.ask(o, func() {
			if first != nil {
				close(first)
			}
		})
		if err != nil {
			return told{}, false, err
		}
		sent[i], _ = t.s.last()
	}
	ok := true
	if d := got[0].differs(got[1]); d != "" {
		t.say("%s differs:\n  %s %v\n  %s %v", d, got[0].Doc, got[0].Headers, got[1].Doc, got[1].Headers)
		ok = false
	}
	if !bytes.Equal(sent[0].Body, sent[1].Body) || sent[1].Key != upstreamKey || strings.Contains(fmt.Sprint(sent[1].Header), t.s.token) {
		t.say("the upstream was asked another thing, by key %t:\n  %.1000s\n  %.1000s", sent[1].Key == upstreamKey, sent[0].Body, sent[1].Body)
		ok = false
	}
	return got[1], ok, nil
}

// loose are headers of one connection, which two answers need not share.
var loose = []string{"date", "connection", "keep-alive", "transfer-encoding"}

// differs names what a library was told otherwise; "" is nothing.
func (a told) differs(b told) string {
	if !bytes.Equal(a.Doc, b.Doc) {
		return "the answer"
	}
	if a.Text != b.Text || !slices.Equal(a.Calls, b.Calls) || !slices.Equal(a.Usage, b.Usage) {
		return "what was read out of the answer"
	}
	if (a.Fault == nil) != (b.Fault == nil) {
		return "whether it failed"
	}
	if a.Fault != nil && (a.Fault.Name != b.Fault.Name || a.Fault.Status != b.Fault.Status || a.Fault.Message != b.Fault.Message || !bytes.Equal(a.Fault.Doc, b.Fault.Doc)) {
		return "the failure"
	}
	for name, value := range a.Headers {
		if !slices.Contains(loose, name) && b.Headers[name] != value {
			return "header " + name
		}
	}
	return ""
}

// textRows: text, whole and in pieces, with its usage.
func (t *trade) textRows(_ context.Context, w provider.Wire) ([]Row, error) {
	step := providertest.Step{Text: spoken1, Usage: used, Header: beside}
	whole, stream, usage := Row{Check: "text arrives unchanged"}, Row{Check: "a stream arrives as it is made, event by event"}, Row{Check: "usage arrives unchanged"}
	a, ok, err := t.both(step, t.order(w, "hello"))
	if err != nil {
		return nil, err
	}
	whole.Passed = ok && a.Text == spoken1 && a.Headers["x-request-id"] == "req_4711"
	o := t.order(w, "hello")
	o.Stream = true
	b, ok, err := t.both(step, o)
	if err != nil {
		return nil, err
	}
	stream.Passed = ok && b.Text == spoken1 && bytes.Count(b.Doc, []byte("{")) > 5
	want := []int64{used.Input, used.Output, used.Cached}
	usage.Passed = slices.Equal(a.Usage, want) && slices.Equal(b.Usage, want)
	note(&whole, "the library makes the same document of it as directly; request and headers are the same, the key is the upstream's")
	note(&stream, "the first half arrives while the second is not made yet; the same events")
	note(&usage, fmt.Sprintf("whole and streamed: %d in, %d of them cached, %d out", used.Input, used.Cached, used.Output))
	return []Row{whole, stream, usage}, nil
}

// note says what was seen, when it was.
func note(r *Row, seen string) {
	if r.Passed {
		r.Observed = seen
	}
}

// toolRow: definitions of tools go, and calls come, as they are.
func (t *trade) toolRow(_ context.Context, w provider.Wire) ([]Row, error) {
	step := providertest.Step{Text: "Let me look.", Usage: used, Header: beside, Calls: []provider.ToolCall{{ID: "call_a", Name: "look", Input: `{"at":12.5}`}, {ID: "call_b", Name: "look", Input: `{"at":1}`}}}
	row := Row{Check: "tools and calls of them arrive unchanged", Passed: true}
	for _, stream := range []bool{false, true} {
		o := t.order(w, "what is there?")
		o.Tools, o.Stream = true, stream
		a, ok, err := t.both(step, o)
		if err != nil {
			return nil, err
		}
		sent, _ := t.s.last()
		row.Passed = row.Passed && ok && len(a.Calls) == 2 && a.Calls[0].ID == "call_a" && a.Calls[1].Name == "look" && a.Calls[0].Input == `{"at":12.5}` && bytes.Contains(sent.Body, []byte(`Look at a moment.`))
	}
	note(&row, "two calls, whole and streamed")
	return []Row{row}, nil
}

// faultRow: what the upstream refuses comes back as it refused it.
func (t *trade) faultRow(_ context.Context, w provider.Wire) ([]Row, error) {
	row := Row{Check: "errors arrive unchanged", Passed: true}
	var kinds []string
	for _, f := range []struct {
		status int
		body   string
	}{
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"odd: \"ü\"","param":"messages[0]","code":null,"more":[1.0]},"request_id":"req_4711"}`},
		{403, `{"type":"error","error":{"type":"permission_error","message":"not for you","code":"no"}}`},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"slowly","code":"slow"}}`},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
	} {
		for _, stream := range []bool{false, true} {
			o := t.order(w, "hello")
			o.Stream = stream
			h := beside.Clone()
			h.Set("Retry-After", "7")
			a, ok, err := t.both(providertest.Step{Status: f.status, Body: f.body, Header: h}, o)
			if err != nil {
				return nil, err
			}
			row.Passed = row.Passed && ok && a.Fault != nil && a.Fault.Status == f.status && a.Fault.Name != "" && a.Headers["retry-after"] == "7"
		}
		kinds = append(kinds, strconv.Itoa(f.status))
	}
	note(&row, strings.Join(kinds, ", ")+", whole and streamed: status, body, headers and the library's error are the same")
	return []Row{row}, nil
}

// cutRow: a stream that breaks off is no answer that ended.
func (t *trade) cutRow(_ context.Context, w provider.Wire) ([]Row, error) {
	row := Row{Check: "a stream that breaks off is seen to break off"}
	o := t.order(w, "hello")
	o.Stream = true
	a, ok, err := t.both(providertest.Step{Text: spoken1, Usage: used, Header: beside, Cut: true}, o)
	row.Passed = ok && a.Fault != nil && a.Fault.Message != ""
	note(&row, "the library fails as it does directly")
	return []Row{row}, err
}

// omniRow: a model that sees and hears by itself is not wrapped, and asked itself gets the
// media as they are.
func (t *trade) omniRow(_ context.Context, w provider.Wire) ([]Row, error) {
	row := Row{Check: "a model that sees and hears refuses its second name"}
	o := t.order(w, "what is there?")
	o.Model = modelOf("keen", w)
	o.Media = []medium{{Kind: "image", Type: "image/png", Data: bytes.Repeat([]byte("picture "), 100), Name: "a.png"}, {Kind: "audio", Type: "audio/wav", Data: bytes.Repeat([]byte("sound "), 100), Name: "a.wav"}}
	before := len(t.s.upstream.Requests())
	a, err := t.ask(t.through(o), func() {})
	if err != nil {
		return nil, err
	}
	refused := a.Fault != nil && a.Fault.Status == http.StatusBadRequest && strings.Contains(a.Fault.Message, "directly") && strings.Contains(a.Fault.Message, o.Model) && len(t.s.upstream.Requests()) == before
	t.s.upstream.Answer(func(providertest.Request) providertest.Step { return providertest.Step{Text: spoken1, Usage: used} })
	direct := o
	if _, err := t.ask(direct, func() {}); err != nil {
		return nil, err
	}
	want, _ := t.s.last()
	direct.Base, direct.Key = t.s.address, t.s.token
	b, err := t.ask(direct, func() {})
	if err != nil {
		return nil, err
	}
	got, _ := t.s.last()
	row.Passed = refused && b.Text == spoken1 && len(t.s.upstream.Requests()) == before+2 && bytes.Equal(want.Body, got.Body)
	if !row.Passed {
		t.say("refused %t: %+v; then %q", refused, a.Fault, b.Text)
	}
	note(&row, "400, which names the model itself; that gets the media byte for byte")
	return []Row{row}, nil
}

// refusedRow: what the gateway refuses by itself is an error of the library's own.
func (t *trade) refusedRow(_ context.Context, w provider.Wire) ([]Row, error) {
	row := Row{Check: "what the gateway itself refuses is the library's error", Passed: true}
	before := len(t.s.upstream.Requests())
	for _, r := range []struct {
		status             int
		key, model, naming string
	}{
		{http.StatusUnauthorized, upstreamKey, "blind", "token"},
		{http.StatusNotFound, t.s.token, "cutroom-vision-none", "cutroom-vision-none"},
	} {
		o := t.order(w, "hello")
		o.Base, o.Key, o.Model = t.s.address, r.key, r.model
		a, err := t.ask(o, func() {})
		if err != nil {
			return nil, err
		}
		row.Passed = row.Passed && a.Fault != nil && a.Fault.Status == r.status && a.Fault.Name != "" && strings.Contains(a.Fault.Message+string(a.Fault.Doc), r.naming)
	}
	row.Passed = row.Passed && len(t.s.upstream.Requests()) == before
	note(&row, "401 for a token that it does not know, 404 for a model, with what to do; the upstream is not asked")
	return []Row{row}, nil
}

// listRow: the models are listed as the library reads lists.
func (t *trade) listRow() (Row, error) {
	row := Row{Check: "models are listed"}
	a, err := t.ask(order{Do: t.models, Base: t.s.address, Key: t.s.token}, func() {})
	want := []string{"blind", "cutroom-vision-blind", "keen", "blind-claude", "cutroom-vision-blind-claude", "keen-claude"}
	row.Passed = slices.Equal(a.Models, want)
	if !row.Passed {
		t.say("listed: %q, %+v", a.Models, a.Fault)
	}
	note(&row, "each with sight beside its own name, but for those that need none")
	return row, err
}
