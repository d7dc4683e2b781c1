package provider

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type plainEvent struct{ Name, Data string }

func readEvents(in io.Reader, limit int) (list []plainEvent, err error) {
	s := newEvents(in, limit)
	for {
		e, err := s.next()
		if err != nil {
			return list, err
		}
		list = append(list, plainEvent{e.name, string(e.data)})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]plainEvent{
		"data: a\n\n":                                {{"", "a"}},
		"data:a\n\ndata: b\n\n":                      {{"", "a"}, {"", "b"}},
		"event: x\ndata: a\ndata: b\n\n":             {{"x", "a\nb"}},
		"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n": {{"x", "a"}, {"", "b"}},
		"data: a\r\rdata: b\r\r":                     {{"", "a"}, {"", "b"}},
		": ping\n\ndata: a\n\n: ping\n\n":            {{"", "a"}},
		"\ufeffdata: a\n\n":                          {{"", "a"}},
		"data: \ufeffa\n\n":                          {{"", "\ufeffa"}},
		"data:  two\n\n":                             {{"", " two"}},
		"data\n\n":                                   {{"", ""}},
		"event: lost\n\ndata: a\n\n":                 {{"", "a"}},
		"id: 1\nretry: 5\ndata: a\nnonsense\n\n":     {{"", "a"}},
		"data: a\n\ndata: cut":                       {{"", "a"}},
		"data: a\n\ndata: not ended\n":               {{"", "a"}},
		"data: a\r\n\r\ndata: b\n\n\n\n":             {{"", "a"}, {"", "b"}},
		"":                                           nil,
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "by byte": iotest.OneByteReader(strings.NewReader(in))} {
			got, err := readEvents(r, 100)
			if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
				t.Errorf("%q %s: %v %s", in, name, err, diff)
			}
		}
	}
}

// TestLongEvents: neither a line nor all lines of an event are read beyond the bound.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"data: " + strings.Repeat("x", 200), strings.Repeat("data: xxxxxxxx\n", 20) + "\n", strings.Repeat("x", 200) + "\n\n"} {
		if got, err := readEvents(strings.NewReader(in), 100); !errors.Is(err, errLine) || len(got) != 0 {
			t.Errorf("%.30q: %v, %v", in, got, err)
		}
	}
	if got, err := readEvents(strings.NewReader("data: "+strings.Repeat("x", 94)+"\n\n"), 100); err != io.EOF || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// slowEvents reads the same by the words of the standard: lines first.
func slowEvents(in []byte) (list []plainEvent) {
	text := strings.TrimPrefix(string(in), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	name, data, has := "", "", false
	for _, l := range lines[:len(lines)-1] {
		if l == "" {
			if has {
				list = append(list, plainEvent{name, data})
			}
			name, data, has = "", "", false
			continue
		}
		field, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			if has {
				data += "\n"
			}
			data, has = data+value, true
		}
	}
	return list
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: x\r\ndata: a\n\rdata\n\n: c\n\n"))
	f.Add([]byte("\ufeff\ufeffdata: a\r\r\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readEvents(iotest.HalfReader(bytes.NewReader(in)), 1<<20)
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slowEvents(in), got); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzAnswers: no answer, whole or in events, makes a wire panic or answer nothing at all.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"arguments":{}}}]}}]}`))
	f.Add([]byte(`{"output":[{"type":"message","content":[{"type":"output_text"}]},{"type":"function_call"}],"status":"incomplete"}`))
	f.Add([]byte(`{"content":[{"type":"tool_use","input":null}],"stop_reason":"refusal"}`))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":null,\"x\":[1],\"x\":[2]},\"finish_reason\":\"stop\"}]}\n\n"))
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"index\":-7,\"content_block\":{\"type\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte("data: {\"type\":\"response.output_item.done\",\"item\":{}}\n\ndata: {\"type\":\"response.completed\"}\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, w := range []Wire{Chat, Responses, Messages} {
			if r, err := w.codec().reply(in); err == nil {
				whole(t, r)
			}
			s, g := newEvents(bytes.NewReader(in), 1<<20), w.codec().gather(func(Delta) {})
			for {
				e, err := s.next()
				if err != nil {
					break
				}
				if done, err := g.take(e); done || err != nil {
					break
				}
			}
			if r, _, err := g.reply(); err == nil {
				whole(t, r)
			}
		}
	})
}

// whole checks that a reply's native form reads as itself, and can be sent again.
func whole(t *testing.T, r Reply) {
	t.Helper()
	again, err := r.Message.Native.Message()
	if err != nil || again.Text() != r.Message.Text() || len(again.Calls) != len(r.Message.Calls) {
		t.Errorf("%+v became %+v, %v", r.Message, again, err)
	}
	r.Message.Native.By = "p/m"
	for _, w := range []Wire{Chat, Responses, Messages} {
		for _, name := range []string{"p", "other"} {
			e := Endpoint{Name: name, Wire: w, BaseURL: "http://127.0.0.1/", Model: "m"}
			p, err := w.codec().pack(e, Request{Messages: []Message{r.Message}}, false)
			if err != nil {
				t.Errorf("%s: %+v: %v", w, r.Message, err)
				continue
			}
			var doc struct{}
			if err := decode(p.body, &doc); err != nil {
				t.Errorf("%s: %v: %s", w, err, p.body)
			}
		}
	}
}

// FuzzModels: no list of models makes reading it panic, lists a model without an id, or
// declares nothing as a list of nothing.
func FuzzModels(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a","architecture":{"input_modalities":["text","image"]},"capabilities":{"vision":true}}],"has_more":true,"last_id":"a"}`))
	f.Add([]byte(`[{"id":"a","modalities":{"input":["pdf"]}},{"id":1},null]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, after, err := parseModels(doc)
		if err != nil && (len(list) > 0 || after != "") {
			t.Errorf("%v, %q, %v", list, after, err)
		}
		for _, m := range list {
			if m.ID == "" || m.Name == "" || m.Context < 0 || m.Modalities != nil && len(m.Modalities) == 0 {
				t.Errorf("%+v", m)
			}
		}
	})
}
