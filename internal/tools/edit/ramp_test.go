package edit

import (
	"strings"
	"testing"
)

func TestRampsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ramp{
		"4-6:0.25":                 {start: "4", end: "6", from: 0.25, to: 0.25},
		" 1:02.5 - 00:01:04 : 2>8": {start: "1:02.5", end: "00:01:04", from: 2, to: 8},
		"00:00:01:12-:4":           {start: "00:00:01:12", from: 4, to: 4},
	} {
		got, err := parseRamp(text)
		if want.text = text; err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "4-6", "4:2", "-6:2", "4-6:0", "4-6:101", "4-6:x", "4-6:1>", "4-6:NaN", "4-6:+Inf"} {
		if _, err := parseRamp(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzRamp(f *testing.F) {
	f.Add("4-6:0.25")
	f.Add("1:02-:1>4")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRamp(text)
		if err != nil {
			return
		}
		if !strings.Contains(text, ":") || speedOf(r.from).Num < 1 || speedOf(r.to).Float() > 100 {
			t.Errorf("%q: %+v", text, r)
		}
	})
}
