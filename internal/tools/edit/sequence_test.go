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
