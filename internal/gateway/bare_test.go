package gateway

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzBare: a request is the same whether its long strings are looked at byte by byte or
// passed over: refused or not, with the same blocks in the same places.
func FuzzBare(f *testing.F) {
	for i, doc := range []string{
		`{"model":"cutroom-vision-m","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"image_url":"AAAA", "type" : "image_url"}]}]}`,
		`{"model":"m","input":[{"output":[{"type":"input_file","filename":"a.png","file_data":"AAAA"}]}]}`,
		`{"messages":[{"content":[{"type":"tool_result","content":[{"type":"image","cache_control":{"type":"e"},"source":{"type":"base64","data":"-_8="}}]}]}],"model":"\u0061"}`,
		`{"model":"a\\\"b\\","input":[],"x":"\\\\"}`,
		"{\"model\":\"a\tb\"}", "{\"model\":\"m\",\"x\":\"\xff\xc3\"}", "{\"model\":\"m\",\"x\":\"\x7f\x1f\"}",
		`{"model":"m","same":"1","same":"2"}`, `{"model":"m","one" :"1","two" :"1"}`, `{"model":"m}`, `{"model":"m"x"y"}`, `{"model":"m\"}`, `"a""b"`, `{"model":"m","a":["bcd" "efg"]}`, "{\"model\":\"m\",\"\xff\":1}",
	} {
		f.Add(doc, uint8(i), uint8(1))
	}
	f.Fuzz(func(t *testing.T, doc string, which, long uint8) {
		w := []wire{chat, responses, messages}[which%3]
		body := []byte(doc)
		d := bare(body, int(long))
		checkBones(t, d)
		want, refused := w.find(document{body: body, bones: body})
		got, err := w.find(d)
		if (err != nil) != (refused != nil) {
			t.Fatalf("%q: %v, then %v", doc, refused, err)
		}
		if refused != nil {
			return
		}
		if diff := cmp.Diff(summary(want), summary(got)); diff != "" {
			t.Errorf("%q: %s", doc, diff)
		}
	})
}

// checkBones: with what was cut out put back, the bones are the body.
func checkBones(t *testing.T, d document) {
	t.Helper()
	var whole []byte
	from, gone := 0, 0
	for _, c := range d.cuts {
		whole = append(whole, d.bones[from:c.at]...)
		whole = append(whole, d.body[c.at+gone:c.at+c.gone]...)
		from, gone = c.at, c.gone
	}
	if whole = append(whole, d.bones[from:]...); !bytes.Equal(whole, d.body) {
		t.Fatalf("%q became %q without %v", d.body, d.bones, d.cuts)
	}
}

// found is what of a request and its blocks can be compared.
type found struct {
	Name   string
	From   int
	To     int
	Medium medium
	Path   string
	Remote bool
	Raw    string
	Data   bool
	Suffix string
	Text   string
	Keep   map[string]string
}

func summary(r request) []found {
	all := []found{{Name: r.name, From: r.model.from, To: r.model.to}}
	for _, b := range r.blocks {
		all = append(all, found{"", b.from, b.to, b.medium, b.path, b.remote, string(b.raw), b.data != nil, b.suffix, b.text, b.keep})
	}
	return all
}

// TestBones: what is emptied and what is looked at byte by byte.
func TestBones(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 40)
	for _, c := range []struct{ what, body, bones string }{
		{"a long text", `{"a":"` + long + `","b":1}`, `{"a":"","b":1}`},
		{"two", `["` + long + `", "b","` + long + `"]`, `["", "b",""]`},
		{"bytes that are no UTF-8", `["` + long + "\xff\xfe" + `"]`, `[""]`},
		{"a name", `{"` + long + "\" \n: 1}", "same"},
		{"a short one", `["` + long[:39] + `"]`, "same"},
		{"an escape", `["` + long + `\/"]`, "same"},
		{"an escaped quote", `["\\\"` + long + `\\"]`, "same"},
		{"an escape before it", `["\\","` + long + `"]`, `["\\",""]`},
		{"a control character in it", `["` + long + "\x1f" + `"]`, "same"},
		{"one at its end", `["` + long[:39] + "\n\"]", "same"},
		{"no end", `["` + long, "same"},
	} {
		if c.bones == "same" {
			c.bones = c.body
		}
		d := bare([]byte(c.body), 40)
		if string(d.bones) != c.bones {
			t.Errorf("%s: %s", c.what, d.bones)
		}
		checkBones(t, d)
	}
}

// TestPlain: each byte in each place of a word.
func TestPlain(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		for at := range n {
			for c := range 256 {
				text := bytes.Repeat([]byte{' '}, n)
				text[at] = byte(c)
				if got, want := plain(text), c >= ' ' && c != '\\'; got != want {
					t.Fatalf("%q: %v", text, got)
				}
			}
		}
	}
}
