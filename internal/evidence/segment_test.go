package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
)

func TestShiftAndClip(t *testing.T) {
	t.Parallel()
	at := func(s cutroom.Micros) *cutroom.Micros { return &s }
	seg := Segment{Start: 2, End: at(5), Words: []Word{{Start: 2, End: at(3)}, {Start: 4}}}
	seg.Shift(-3)
	if d := cmp.Diff(Segment{Start: 0, End: at(2), Words: []Word{{Start: 0, End: at(0)}, {Start: 1}}}, seg); d != "" {
		t.Error(d)
	}
	segments := []Segment{{Start: 0, End: at(10), Text: "a"}, {Start: 10, End: at(20), Text: "b"}, {Start: 15, Text: "c"}, {Start: 20, End: at(30), Text: "d"}, {Text: "e", Untimed: true}}
	var kept string
	for _, s := range Clip(segments, 10, at(20)) {
		kept += s.Text
	}
	if kept != "bce" {
		t.Errorf("kept %q", kept)
	}
}
