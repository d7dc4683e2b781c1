package lens

import (
	"encoding/json"
	"testing"

	"cutroom"
)

func TestRefineGate(t *testing.T) {
	t.Parallel()
	for model, open := range map[string]bool{
		"openai/small": true, "small": true, "": false, "auto": false, "acme/omni": false, "registered:acme": false, "multimodal:acme/omni": false, "openai/": false,
	} {
		if got := (Refinement{Enabled: true, Model: model}).Open(); got != open {
			t.Errorf("%q: %v", model, got)
		}
		if (Refinement{Model: model}).Open() {
			t.Errorf("%q is open though it is not enabled", model)
		}
	}
}

// What a refining model may do is to leave out and to shorten; what it adds or loses of
// doubt, words, places and times makes its answer worthless.
func TestRefined(t *testing.T) {
	t.Parallel()
	end := 4 * cutroom.Second
	from := Findings{
		Timeline: []Moment{
			{Start: cutroom.Second, Text: "a dog", Frame: "p1", Confidence: cutroom.High},
			{Start: 2 * cutroom.Second, End: &end, Text: "perhaps a cat", Frame: "p2", Confidence: cutroom.Low, Uncertain: true},
		},
		Transcript: []Line{{Start: cutroom.Second, Text: "Fetch it!"}, {Start: 2 * cutroom.Second, Text: "Now."}},
		Regions:    []Region{{Box: [4]float64{0, 0, 0.5, 0.5}, Text: "EXIT", Confidence: cutroom.High}},
	}
	change := func(f func(*Findings)) string {
		raw, _ := json.Marshal(from)
		var c Findings
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		f(&c)
		raw, _ = json.Marshal(c)
		return string(raw)
	}
	for name, answer := range map[string]string{
		"the same": change(func(*Findings) {}), "shorter": change(func(f *Findings) { f.Timeline = f.Timeline[:1]; f.Regions = []Region{} }),
		"lines joined": change(func(f *Findings) { f.Transcript = []Line{{Start: cutroom.Second, Text: "Fetch it! Now."}} }),
		"reworded":     change(func(f *Findings) { f.Timeline[0].Text = "dog" }),
	} {
		if _, err := Refined(answer, from); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, answer := range map[string]string{
		"prose": "Looks good.", "nothing": `{"timeline":[],"transcript":[],"regions":[]}`,
		"a new time":      change(func(f *Findings) { f.Timeline[0].Start = 9 * cutroom.Second }),
		"a new frame":     change(func(f *Findings) { f.Timeline[0].Frame = "p9" }),
		"new words":       change(func(f *Findings) { f.Transcript[0].Text = "Sit!" }),
		"a new place":     change(func(f *Findings) { f.Regions[0].Box[0] = 0.3 }),
		"a text restated": change(func(f *Findings) { f.Regions[0].Text = "Exit" }),
	} {
		if f, err := Refined(answer, from); err == nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
	f, err := Refined(change(func(f *Findings) { f.Timeline[1].Uncertain = false }), from)
	if err != nil || !f.Timeline[1].Uncertain {
		t.Errorf("doubt was lost: %+v, %v", f, err)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	s := cutroom.Second
	f := Join(
		Findings{Timeline: []Moment{{Start: 0, Text: "a lawn"}, {Start: 2 * s, Text: "a dog"}}, Summary: "a"},
		Findings{Timeline: []Moment{{Start: 3 * s, Text: "a dog"}, {Start: 1 * s, Text: "a bird"}}, Transcript: []Line{{Start: s, Text: "hi"}}, Summary: "a"},
	)
	if len(f.Timeline) != 3 || f.Timeline[2].End == nil || *f.Timeline[2].End != 3*s || f.Summary != "a" || len(f.Transcript) != 1 {
		t.Errorf("%+v", f)
	}
	lines := JoinSpeech([]Part{
		{0, 12 * s, []Line{{Start: 1 * s, Text: "one"}, {Start: 10500000, Text: "two"}, {Start: 11500000, Text: "thr"}}},
		{10 * s, 20 * s, []Line{{Start: 10500000, Text: "two"}, {Start: 11500000, Text: "three"}, {Start: 15 * s, Text: "four"}}},
	})
	got := ""
	for _, l := range lines {
		got += l.Text + " "
	}
	if got != "one two three four " {
		t.Errorf("%q", got)
	}
}
