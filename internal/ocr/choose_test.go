package ocr

import (
	"errors"
	"strings"
	"testing"

	"cutroom"

	"github.com/google/go-cmp/cmp"
)

// steps makes the model's output: each key with its probability, blanks between.
func steps(keys []string, each ...map[string]float32) []float32 {
	var out []float32
	for _, m := range each {
		row := make([]float32, len(keys))
		rest := float32(1)
		for k, p := range m {
			for i, key := range keys {
				if key == k && (i > 0 || k == "") {
					row[i] = p
					rest -= p
					break
				}
			}
		}
		row[0] += rest
		out = append(out, row...)
	}
	return out
}

func TestDecodeCTC(t *testing.T) {
	t.Parallel()
	keys := alphabet("a\nb\n_\n中\nθ\nИ\n（\n")
	type step = map[string]float32
	for name, c := range map[string]struct {
		in   []step
		want string
	}{
		"repeats fold":          {[]step{{"a": 0.9}, {"a": 0.9}, {}, {"a": 0.9}, {"b": 0.9}}, "aab"},
		"a space":               {[]step{{"a": 0.9}, {" ": 0.9}, {"b": 0.9}}, "a b"},
		"a hidden space":        {[]step{{"a": 0.9}, {" ": 0.2}, {"b": 0.9}}, "a b"},
		"no space":              {[]step{{"a": 0.9}, {" ": 0.05}, {"b": 0.9}}, "ab"},
		"none beside ideograph": {[]step{{"a": 0.9}, {" ": 0.3}, {"中": 0.9}}, "a中"},
		"none beside _":         {[]step{{"a": 0.9}, {" ": 0.3}, {"_": 0.9}}, "a_"},
		"not before the first":  {[]step{{" ": 0.3}, {"a": 0.9}, {" ": 0.9}}, "a"},
		"look-alikes":           {[]step{{"θ": 0.9}, {"a": 0.08}, {"И": 0.9}, {"b": 0.6}}, "ab"},
		"wide forms":            {[]step{{"a": 0.9}, {"（": 0.9}}, "a("},
		"wide forms kept":       {[]step{{"中": 0.9}, {"（": 0.9}}, "中（"},
		"nothing":               {[]step{{}, {}}, ""},
	} {
		in := steps(keys, c.in...)
		if name == "look-alikes" { // the blank must not win there
			for s := range 4 {
				in[s*len(keys)] = 0.01
			}
		}
		got := decodeCTC(in, len(c.in), keys)
		if got.text != c.want {
			t.Errorf("%s: %q, not %q", name, got.text, c.want)
		}
		if !(got.score >= 0 && got.score <= 1) {
			t.Errorf("%s: score %v", name, got.score)
		}
	}
}

func TestMergeChooses(t *testing.T) {
	t.Parallel()
	words := func(score float64, text string) sheet {
		var r row
		for _, w := range strings.Fields(text) {
			r = append(r, word{text: w, score: score, box: Box{0, 0, 1, 1}})
		}
		return sheet{r}
	}
	for name, c := range map[string]struct {
		language, ours string
		score          float64
		flat           bool
		theirs         sheet
		want           string
		engine         Engine
	}{
		"sure over a photo":         {"eng", "Hello there", 0.97, false, nil, "Hello there", PaddleOCR},
		"clean page":                {"eng", "OcR l", 0.97, true, words(0.9, "OCR 1"), "OCR 1", Tesseract},
		"clean page, no certainty":  {"eng", "+++++", 0.97, true, words(0.1, "FEEE"), "+++++", PaddleOCR},
		"unsure, they are sure":     {"eng", "He1l0", 0.8, false, words(0.95, "Hello"), "Hello", Tesseract},
		"sure, they too":            {"eng", "Hello", 0.95, false, words(0.99, "Hallo"), "Hello", PaddleOCR},
		"chinese on a clean page":   {"eng", "发布", 0.9, true, words(0.95, "RH"), "发布", PaddleOCR},
		"russian":                   {"rus", "Mbl BbI", 0.75, false, words(0.9, "Мы вы"), "Мы вы", Tesseract},
		"russian look-alikes":       {"rus", "COH", 0.99, false, words(0.8, "СОН"), "СОН", Tesseract},
		"english in a russian film": {"rus", "The End", 0.99, false, words(0.6, "Тне Епа"), "The End", PaddleOCR},
		"chinese in a russian film": {"rus", "发布", 0.95, false, words(0.9, "ЖЖ"), "发布", PaddleOCR},
		"russian, nothing read":     {"rus", "MbI", 0.75, false, nil, "", ""},
		"beyond the budget":         {"eng", "", 0, true, words(0.6, "so so"), "so so", Tesseract},
		"no text":                   {"eng", "~", 0.3, false, nil, "", ""},
	} {
		f := Frame{Width: 100, Height: 100, Flat: c.flat, Lines: []Found{{
			Box: Box{1, 1, 50, 10}, Crops: []int{4}, Parts: []Part{{Box{1, 1, 50, 10}, c.ours, c.score}},
		}}}
		p := Merge([]Frame{f}, []Reading{{crops: true, sheets: map[int]sheet{4: c.theirs}}}, Options{Language: c.language})[0]
		if p.Text != c.want {
			t.Errorf("%s: %q, not %q", name, p.Text, c.want)
		}
		if c.want != "" && (len(p.Lines) != 1 || p.Lines[0].Engine != c.engine || p.Lines[0].Box != f.Lines[0].Box) {
			t.Errorf("%s: %+v", name, p.Lines)
		}
		if p.Lines == nil {
			t.Errorf("%s: the list is null, not empty", name)
		}
	}
}

func TestMergeLaysOutRows(t *testing.T) {
	t.Parallel()
	line := func(b Box, parts ...string) Found {
		f := Found{Box: b}
		for _, p := range parts {
			f.Parts = append(f.Parts, Part{b, p, 0.95})
		}
		return f
	}
	frames := []Frame{{Width: 400, Height: 100, Lines: []Found{
		line(Box{0, 50, 100, 10}, "Costs", "903"), line(Box{300, 51, 50, 10}, "-3 %"), line(Box{0, 10, 100, 10}, "Title"),
	}}, {Index: 1, Problem: Unreadable}}
	pages := Merge(frames, nil, Options{})
	if diff := cmp.Diff("Title\nCosts 903 -3 %", pages[0].Text); diff != "" {
		t.Error(diff)
	}
	if pages[1].Problem != Unreadable || pages[1].Text != "" || pages[0].Language != "eng" {
		t.Errorf("%+v", pages)
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	installed := []string{"chi_sim", "eng", "rus"}
	for request, want := range map[string]cutroom.Code{
		"": "", "eng": "", "eng+rus": "", "chi_sim": "",
		"deu": cutroom.MissingDependency, "eng+chi_tra": cutroom.MissingDependency,
		"en": cutroom.Invalid, "eng+": cutroom.Invalid, "eng+eng": cutroom.Invalid, "osd": cutroom.Invalid, "-l": cutroom.Invalid,
		"../eng": cutroom.Invalid, "ENG": cutroom.Invalid, "eng rus": cutroom.Invalid, "eng+rus+chi_sim+fra+spa": cutroom.Invalid,
	} {
		err := CheckLanguage(request, installed)
		e, _ := errors.AsType[*cutroom.Error](err)
		if (err == nil) != (want == "") || (err != nil && e.Code != want) {
			t.Errorf("%q: %v", request, err)
		}
		if want == cutroom.MissingDependency && !strings.Contains(e.Hint, "tesseract-ocr-") {
			t.Errorf("%q: hint %q", request, e.Hint)
		}
	}
	if err := CheckLanguage("chi_tra_vert", installed); !strings.Contains(err.Error(), "tesseract-ocr-chi-tra-vert") {
		t.Error(err)
	}
}

func TestOptionsCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Options
		want cutroom.Code
	}{
		{Options{}, ""},
		{Options{Language: "rus", Side: 640, Threads: 1}, ""},
		{Options{Side: 100}, cutroom.Invalid},
		{Options{Threads: 99}, cutroom.Invalid},
		{Options{Language: "x"}, cutroom.Invalid},
		{Options{WithoutTesseract: true}, ""},
		{Options{WithoutTesseract: true, Language: "rus"}, cutroom.MissingDependency},
		{Options{WithoutTesseract: true, WithoutModels: true}, cutroom.MissingDependency},
	} {
		e, _ := errors.AsType[*cutroom.Error](c.o.Check())
		if (e == nil) != (c.want == "") || (e != nil && e.Code != c.want) {
			t.Errorf("%+v: %v", c.o, e)
		}
	}
}
