package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// TestFitKeepsPeople: half a photograph of people stands at the right end of a blue
// picture. An upright crop that keeps persons goes there; one that keeps what is not
// there stays in the middle and says so; what the model does not know is refused.
func TestFitKeepsPeople(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=blue:s=1280x720:r=10:d=2", "-i", filepath.Join(w.dir, people(w)),
		"-filter_complex", "[1]crop=400:718:0:0[p];[0][p]overlay=x=860:y=0", "-c:v", "libx264", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "wide.mp4"))
	in := edit.FitInput{Input: "wide.mp4", Aspect: "9:16", Fit: "crop", Keep: []string{"person"}}
	r := must[edit.FitOutput](w, "edit.fit", in)
	if d := describe(w, *r.File); size(d) != "404x720" || r.Subjects == nil || *r.Subjects < 0.9 || !slices.Contains(r.Notes, "person was found in 6 of 6 frames that were looked at") {
		t.Errorf("%s, %v kept, notes %q", size(d), r.Subjects, r.Notes)
	}
	p := w.pixels(*r.File, "1", 404, 720)
	for _, x := range []int{20, 200, 380} {
		if got := colorAt(p, 404, x, 600); got == "b" {
			t.Errorf("at %d the blue beside the photograph is in the crop", x)
		}
	}
	in.Keep, in.Output = []string{"giraffe"}, "none.mp4"
	r = must[edit.FitOutput](w, "edit.fit", in)
	if got := colorAt(w.pixels(*r.File, "1", 404, 720), 404, 200, 360); got != "b" || !strings.Contains(strings.Join(r.Notes, "\n"), "nothing to keep was found: the crop lies in the middle") {
		t.Errorf("the middle is %q, notes %q", got, r.Notes)
	}
	for want, change := range map[string]func(*edit.FitInput){
		"did you mean person":    func(i *edit.FitInput) { i.Keep = []string{"persons"} },
		"without fit crop":       func(i *edit.FitInput) { i.Fit = "pad" },
		"exclude crop_x":         func(i *edit.FitInput) { half := 0.5; i.CropX = &half },
		"reaches out of":         func(i *edit.FitInput) { i.Subjects = []edit.Subject{{X: 1900, Width: 100, Height: 10}} },
		"the model does not kno": func(i *edit.FitInput) { i.Keep = []string{"happiness"} },
	} {
		bad := edit.FitInput{Input: "wide.mp4", Aspect: "1:1", Fit: "crop", Keep: []string{"person"}}
		bad.Output = "bad.mp4"
		change(&bad)
		if e := w.fails("edit.fit", bad, cutroom.Invalid); !strings.Contains(e.Error()+e.Hint, want) {
			t.Errorf("%v, hint %q, want %q", e, e.Hint, want)
		}
	}
}
