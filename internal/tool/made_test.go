package tool

import (
	"testing"

	"cutroom"
)

// Names made after inputs of the same stem lie apart where the kind of file changes.
func TestNamesAfterInputs(t *testing.T) {
	t.Parallel()
	seen := map[cutroom.OutPath]string{}
	for in, want := range map[cutroom.InPath]cutroom.OutPath{
		"a/talk.mkv": "a/talk_cut.mkv", "a/talk.MP4": "a/talk_cut.MP4", "a/talk.ts": "a/talk_ts_cut.mkv", "a/talk.mpg": "a/talk_mpg_cut.mkv", "a/talk": "a/talk_cut", "a.b/talk.x.avi": "a.b/talk.x_avi_cut.mkv",
	} {
		got := NameAfter(in, "cut", "")
		if got != want || seen[got] != "" {
			t.Errorf("%s gets %s, not %s", in, got, want)
		}
		seen[got] = string(in)
	}
	if got := NameAfter("talk.mov", "tiktok", ".mp4"); got != "talk_tiktok.mp4" {
		t.Errorf("%s", got)
	}
}
