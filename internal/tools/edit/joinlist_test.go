package edit

import (
	"path"
	"testing"

	"cutroom"
)

func TestListsAreRead(t *testing.T) {
	t.Parallel()
	got, err := listed([]byte("\uFEFF# the film\r\n\n one.mp4\r\n../b/two words.mp4\n/far/three.mp4"), "shoot/list.txt")
	want := []cutroom.InPath{"shoot/one.mp4", "b/two words.mp4", "/far/three.mp4"}
	if err != nil || len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", "# nothing", "one.mp4", "a\x00\nb", "a\xff\nb"} {
		if got, err := listed([]byte(text), "l"); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func FuzzList(f *testing.F) {
	f.Add("one.mp4\ntwo.mp4", "shoot/list.txt")
	f.Fuzz(func(t *testing.T, text, list string) {
		names, err := listed([]byte(text), cutroom.InPath(list))
		if err != nil {
			return
		}
		if len(names) < 2 || len(names) > mostListed {
			t.Errorf("%d names", len(names))
		}
		for _, n := range names {
			if n == "" || path.Clean(string(n)) != string(n) && !path.IsAbs(string(n)) {
				t.Errorf("%q", n)
			}
		}
	})
}
