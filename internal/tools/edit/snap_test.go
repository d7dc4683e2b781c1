package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/edl"
)

func TestSnapToSilenceGoesToTheNearestSilentPoint(t *testing.T) {
	t.Parallel()
	const s = cutroom.Second
	silence := targets{spans: []edl.Range{{Start: 4 * s, End: 7 * s}, {Start: 20 * s, End: 21 * s}}, sure: 1}
	c := &cutting{
		in:    CutInput{Snap: "silence"},
		parts: []edl.Range{{Start: 3_700_000, End: 7_200_000}, {Start: 5 * s, End: 12 * s}, {Start: 0, End: 20_500_000}, {Start: 6_800_000, End: 7_400_000}},
	}
	if err := c.snap(silence); err != nil {
		t.Fatal(err)
	}
	want := []edl.Range{{Start: 4 * s, End: 7 * s}, {Start: 5 * s, End: 12 * s}, {Start: 0, End: 20_500_000}, {Start: 6_800_000, End: 7 * s}}
	if diff := cmp.Diff(want, c.parts); diff != "" {
		t.Error(diff)
	}
	if len(c.moved) != 3 {
		t.Errorf("moved %v", c.moved)
	}
	got := strings.Join(c.notes, "\n")
	for _, want := range []string{"5 s was not moved: a silence is there", "12 s was not moved: no silence lies within 0.5 s", "20.5 s was not moved: a silence"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among the notes:\n%s", want, got)
		}
	}
}

func TestSnapThatWouldLeaveNothingMovesNothing(t *testing.T) {
	t.Parallel()
	c := &cutting{in: CutInput{Snap: "scenes"}, parts: []edl.Range{{Start: 4_900_000, End: 5_200_000}}}
	if err := c.snap(moments([]cutroom.Micros{5 * cutroom.Second}, 1)); err != nil {
		t.Fatal(err)
	}
	if len(c.moved) != 0 || c.parts[0].Start != 4_900_000 || len(c.notes) != 1 {
		t.Errorf("%v %v %q", c.moved, c.parts, c.notes)
	}
}

func TestALengthOfATransitionNeedsOne(t *testing.T) {
	t.Parallel()
	two := []cutroom.InPath{"a.mp4", "b.mp4"}
	if err := (JoinInput{Inputs: two, Duration: cutroom.Second, Transition: "none"}).Validate(); cutroom.AsError(err).Code != cutroom.Invalid {
		t.Errorf("a length without a transition: %v", err)
	}
	if err := (JoinInput{Inputs: two, Duration: cutroom.Second, Transition: "fade"}).Validate(); err != nil {
		t.Error(err)
	}
}
