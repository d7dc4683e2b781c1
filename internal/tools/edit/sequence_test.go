package edit

import (
	"slices"
	"strings"
	"testing"

	"cutroom"

	"pgregory.net/rapid"
)

func TestNamesAreSortedByTheirNumbers(t *testing.T) {
	t.Parallel()
	names := strings.Fields("b1 a10 a9 a09 a a2b a2a a100 A1 9 10")
	slices.SortFunc(names, naturally)
	if got := strings.Join(names, " "); got != "9 10 A1 a a2a a2b a9 a09 a10 a100 b1" {
		t.Error(got)
	}
	for _, c := range []struct {
		names []cutroom.InPath
		want  bool
	}{
		{[]cutroom.InPath{"f/1.png", "f/2.png", "f/4.png"}, true},
		{[]cutroom.InPath{"f/000.png", "f/001.png"}, false},
		{[]cutroom.InPath{"f/7.png", "f/8.png", "f/9.png", "f/10.png"}, false},
		{[]cutroom.InPath{"one.png", "3.png"}, false},
		{[]cutroom.InPath{"3.png", "1.png"}, false},
	} {
		if got := missing(c.names); (got != "") != c.want {
			t.Errorf("%v: %q", c.names, got)
		}
	}
}

// The order is total: no two names are each before the other, and a sort is stable under
// shuffling.
func TestNaturalOrderIsTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ab0-9.]{0,8}`)
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if naturally(a, b) != -naturally(b, a) || (naturally(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q: %d, %d", a, b, naturally(a, b), naturally(b, a))
		}
		if naturally(a, b) < 0 && naturally(b, c) < 0 && naturally(a, c) >= 0 {
			t.Fatalf("%q < %q < %q", a, b, c)
		}
	})
}

func TestPatternsNamePictures(t *testing.T) {
	t.Parallel()
	names := strings.Fields("f-0003.png f-0010.png f-12345.png f-03.png f-00003.png g-0001.png f-0002.jpg f-x.png f-.png a9.png a10.png")
	seven := 7
	for _, c := range []struct {
		pattern string
		from    *int
		want    string
	}{
		{"f-%04d.png", nil, "f-0003.png f-0010.png f-12345.png"},
		{"f-%04d.png", &seven, "f-0010.png f-12345.png"},
		{"a%d.png", nil, "a9.png a10.png"},
		{"a*.png", nil, "a9.png a10.png"},
		{"*.jpg", nil, "f-0002.jpg"},
		{"%d.png", nil, ""},
	} {
		p, err := newPattern(c.pattern, c.from)
		if got := strings.Join(p.named(names), " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.pattern, got, err, c.want)
		}
	}
	for _, text := range []string{"a/%d.png", "../*.png", "[", "%s.png", "%d%d.png", "100%"} {
		if p, err := newPattern(text, nil); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
	if _, err := newPattern("*.png", &seven); err == nil {
		t.Error("a glob starts from a number")
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("f-%04d.png", "f-0001.png")
	f.Add("*.png", "a.png")
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := newPattern(text, nil)
		if err != nil {
			return
		}
		n, ok := p.number(name)
		if n < 0 || ok && p.glob == "" && !(strings.HasPrefix(name, p.head) && strings.HasSuffix(name, p.tail)) {
			t.Errorf("%q names %q as %d", text, name, n)
		}
	})
}
