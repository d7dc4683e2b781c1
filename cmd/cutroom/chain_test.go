package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

// chain runs one command of a chain of edits and returns its answer.
func chain(t *testing.T, dir string, args ...string) (answer struct {
	Output   string `json:"output"`
	OK       bool   `json:"ok"`
	Verified []struct {
		Check string `json:"check"`
		OK    bool   `json:"ok"`
	} `json:"verified"`
	Checks []struct {
		Check  string `json:"check"`
		Status string `json:"status"`
	} `json:"checks"`
},
) {
	t.Helper()
	c := command(t, dir, append(args, "--json", "--quiet")...)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	for _, v := range answer.Verified {
		if !v.OK {
			t.Errorf("%q published what failed: %+v", args, v)
		}
	}
	return answer
}

// TestCaptionedVerticalClip is what people do every day: a part of a recording becomes
// a captioned vertical clip that a platform takes. Every step is proved, links to the
// one before, and the captions can be read where the platform draws nothing.
func TestCaptionedVerticalClip(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.copy(filepath.Join(testenv.Real(t), "example.mp4"), "talk.mp4")
	chain(t, w.dir, "cut", "talk.mp4", "--start", "34", "--end", "42", "-o", "1.mp4")
	chain(t, w.dir, "fit", "1.mp4", "--aspect", "9:16", "--width", "1080", "--fit", "crop", "-o", "2.mp4")
	chain(t, w.dir, "caption", "2.mp4", "--transcribe", "--platform", "tiktok", "-o", "3.mp4")
	chain(t, w.dir, "loudness", "3.mp4", "-o", "4.mp4")
	chain(t, w.dir, "export", "4.mp4", "--preset", "tiktok", "-o", "5.mp4")
	check := chain(t, w.dir, "check", "5.mp4", "--platform", "tiktok", "--captions")
	for _, row := range check.Checks {
		if row.Status != "PASS" {
			t.Errorf("check: %+v", row)
		}
	}
	if !check.OK || !slices.ContainsFunc(check.Checks, func(r struct {
		Check  string `json:"check"`
		Status string `json:"status"`
	},
	) bool {
		return strings.Contains(r.Check, "caption")
	}) {
		t.Errorf("check: %+v", check)
	}
	var lineage struct {
		Origins []origin `json:"origins"`
	}
	out, err := command(t, w.dir, "provenance", "5.mp4", "--json").Output()
	if err != nil || json.Unmarshal(out, &lineage) != nil || len(lineage.Origins) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	var tools []string
	for at := lineage.Origins; len(at) > 0; at = at[0].MadeFrom {
		tools = append(tools, at[0].Tool)
	}
	want := []string{"edit.export", "measure.loudness_apply", "edit.caption", "edit.fit", "edit.cut"}
	if !slices.Equal(tools, want) {
		t.Errorf("made by %q, want %q", tools, want)
	}
}

type origin struct {
	Tool     string   `json:"tool"`
	MadeFrom []origin `json:"made_from"`
}
