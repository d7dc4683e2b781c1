package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// value draws a document as tools answer: objects, lists, texts, numbers.
func value(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return rapid.StringN(0, 60, -1).Draw(t, "text")
	case 1:
		return rapid.IntRange(-1000, 1000).Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "flag")
	case 3, 4:
		if depth == 0 {
			return nil
		}
		list := []any{}
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			list = append(list, value(t, depth-1))
		}
		return list
	}
	if depth == 0 {
		return "leaf"
	}
	object := map[string]any{}
	for i := range rapid.IntRange(0, 6).Draw(t, "members") {
		object[fmt.Sprint("m", i)] = value(t, depth-1)
	}
	return object
}

func TestShortenKeepsTheFormAndTheRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{"status": "completed", "partial_reasons": []any{}, "body": value(t, 3)}
		list := []any{}
		for range rapid.IntRange(0, 200).Draw(t, "many") {
			list = append(list, map[string]any{"text": strings.Repeat("word ", rapid.IntRange(0, 40).Draw(t, "long")), "at": 1.5})
		}
		doc["events"] = list
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		const room = 8000
		short, err := shorten(raw, room, "cutroom://run/0123456789abcdef")
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Status  string   `json:"status"`
			Reasons []string `json:"partial_reasons"`
			Events  []any    `json:"events"`
		}
		if err := json.Unmarshal(short, &got); err != nil {
			t.Fatalf("%v\n%s", err, short)
		}
		switch {
		case len(raw) <= room && string(short) != string(raw):
			t.Fatal("a document that fits was changed")
		case len(raw) > room && (len(short) > room || got.Status != "partial" || len(got.Reasons) != 1):
			t.Fatalf("%d bytes, %s, %v", len(short), got.Status, got.Reasons)
		case len(got.Events) > len(list):
			t.Fatal("a list grew")
		}
		for i, e := range got.Events {
			if e.(map[string]any)["at"] != 1.5 {
				t.Fatalf("event %d lost a member", i)
			}
		}
	})
}

func TestShortenSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	var segments []string
	for i := range 3000 {
		segments = append(segments, fmt.Sprintf(`{"start":%d,"text":"said at %d"}`, i, i))
	}
	doc := `{"status":"completed","partial_reasons":[],"segments":[` + strings.Join(segments, ",") + `]}`
	short, err := shorten([]byte(doc), maxText, "cutroom://run/0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Reasons  []string `json:"partial_reasons"`
		Segments []any    `json:"segments"`
	}
	if err := json.Unmarshal(short, &got); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("shortened to fit this answer, it holds segments %d of 3000; the whole is the resource cutroom://run/0123456789abcdef", len(got.Segments))
	if len(got.Segments) < 150 || !slices.Equal(got.Reasons, []string{want}) {
		t.Errorf("%d segments, %q", len(got.Segments), got.Reasons)
	}
}

func TestOutlineStatesEveryFact(t *testing.T) {
	t.Parallel()
	doc := `{"status":"completed","empty":[],"none":null,"size":{"width":1280,"height":720},"text":"a: b","list":[1,2,3],"deep":[{"a":{"b":"c"}},{"x":"y"}],"line":"one\ntwo"}`
	want := "status: completed\nsize: width 1280, height 720\ntext: \"a: b\"\nlist: 1, 2, 3\ndeep:\n  -\n    a: b c\n  - x y\nline: \"one\\ntwo\""
	if got := outline([]byte(doc), 1000); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := `{"list":["` + strings.Repeat(`x","`, 5000) + `end"]}`
	if got := outline([]byte(long), 1000); len([]rune(got)) > 1000 || !strings.HasSuffix(got, "cut here") {
		t.Errorf("%d characters, ends %q", len(got), got[len(got)-20:])
	}
	if got := outline([]byte("no json"), 100); got != "no json" {
		t.Errorf("got %q", got)
	}
}

func TestPagesAreTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé\n]{0,400}`).Draw(t, "text")
		room := rapid.IntRange(1, 50).Draw(t, "room")
		pages := paginate(text, room)
		if strings.Join(pages, "") != text {
			t.Fatalf("pages %q are not %q", pages, text)
		}
		for i, p := range pages {
			if utf8.RuneCountInString(p) > room || !utf8.ValidString(p) || p == "" && (text != "" || i > 0) {
				t.Fatalf("page %d of %d characters: %q", i, room, p)
			}
		}
	})
}

func FuzzParseURI(f *testing.F) {
	for _, s := range []string{
		"cutroom://run/0123456789abcdef", "cutroom://run/0123456789abcdef/timeline.md?page=2", "cutroom://run/0123456789abcdef/../x",
		"cutroom://run/0123456789abcdef/%2e%2e/x", "cutroom://run/0123456789abcdef//etc/passwd", "cutroom://run/x", "file:///etc/passwd", "cutroom://run/0123456789abcdef?page=0",
		"cutroom://run/0123456789abcdef/..", "cutroom://run/0123456789abcdef/.", "cutroom://run/0123456789abcdef/%ff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		run, file, page, err := parseURI(uri)
		if err != nil {
			return
		}
		if strings.Trim(run, "0123456789abcdef") != "" || len(run) < 16 || page < 1 {
			t.Errorf("%q: run %q, page %d", uri, run, page)
		}
		if strings.HasPrefix(file, "/") || slices.Contains(strings.Split(file, "/"), "..") {
			t.Errorf("%q: file %q", uri, file)
		}
		if again, f2, _, err := parseURI(resourceURI(run, file)); file != "" && (err != nil || again != run[:16] || f2 != file) {
			t.Errorf("%q: written anew it is %q %q %v", uri, again, f2, err)
		}
	})
}

// TestNothingIsSaid: an answer is never an empty text, which a model takes for a fault.
func TestNothingIsSaid(t *testing.T) {
	t.Parallel()
	if got := outline([]byte(`{"jobs":[]}`), 100); got != `{"jobs":[]}` {
		t.Errorf("no jobs read %q", got)
	}
}
