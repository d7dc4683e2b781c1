package ocr

import (
	"slices"
	"testing"

	"cutroom/internal/sandbox/argv"

	"github.com/google/go-cmp/cmp"
)

// What is planned passes the independent checker of argument lists.
func TestPlanPassesChecker(t *testing.T) {
	t.Parallel()
	data := map[string]string{}
	for _, f := range []string{RuntimeFile, DetectFile, ReadFile, AlphabetFile} {
		data[f] = "/opt/models/" + f
	}
	frames := []Frame{
		{Width: 9, Height: 9, Page: 1, Scale: 1},
		{Index: 1, Width: 9, Height: 9, Lines: []Found{{Crops: []int{1, 2}}}},
	}
	for _, o := range []Options{{}, {Language: "eng+rus"}, {Language: "chi_sim", Side: 640, Threads: 1}, {WithoutModels: true}} {
		commands := append([]argv.Command{First("ocr", []int{4, 2}, o)}, Second("ocr", frames, o)...)
		if len(commands) != 3 {
			t.Fatalf("%d commands", len(commands))
		}
		for _, c := range commands {
			table, g := argv.Programs()[c.Program], argv.GrantsOf(c, data)
			args, err := argv.Render(c, table, g)
			if err != nil {
				t.Fatalf("%s: %v", c.Step, err)
			}
			if err := argv.Check(table, args, g); err != nil {
				t.Errorf("%q: %v", args, err)
			}
			if err := argv.CheckEnv(table, c.Env); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	c := First("look", []int{3, 5}, Options{Language: "rus"})
	if diff := cmp.Diff([]string{"look-crops.txt", "look-pages.txt"}, c.Outputs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]argv.Atom{argv.In(0), argv.In(1)}, c.Args[len(c.Args)-2:]); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(c.Inputs, []int{3, 5}) || !slices.Contains(c.Args, argv.Atom(argv.Data(AlphabetFile))) {
		t.Errorf("%+v", c)
	}
	if got := Second("look", []Frame{{Width: 1, Height: 1}, {Index: 1, Problem: Unreadable}}, Options{}); len(got) != 0 {
		t.Errorf("nothing to read, yet %+v", got)
	}
	if got := Second("look", []Frame{{Width: 1, Height: 1, Page: 1, Scale: 1}}, Options{WithoutTesseract: true}); len(got) != 0 {
		t.Errorf("no tesseract, yet %+v", got)
	}
}
