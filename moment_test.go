package cutroom_test

import (
	"testing"

	"cutroom"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]cutroom.Moment{
		"1.5": "1.5", "00:01.50": "1.5", "90": "90", "1:30": "90", "01:00:40:00": "01:00:40:00",
		"00:00:03;00": "00:00:03;00", "00:00:01:12@23.976": "00:00:01:12@23.976",
	} {
		if got, err := cutroom.ParseMoment(in); err != nil || got != want {
			t.Errorf("ParseMoment(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "abc", "1:2:3:x", "12s", "1:2:3:4:5"} {
		if got, err := cutroom.ParseMoment(in); err == nil {
			t.Errorf("ParseMoment(%q) = %q", in, got)
		}
	}
}
