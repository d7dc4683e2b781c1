package tools_test

import (
	"strings"
	"testing"

	"cutroom/internal/tool"
	family "cutroom/internal/tools/tool"
)

// env lists the shipped tools and nothing else.
type env struct {
	tool.Env
	all []*tool.Tool
}

func (e env) Registry() []*tool.Tool { return e.all }

func search(t *testing.T, in family.SearchInput) *family.SearchOutput {
	t.Helper()
	r := registry(t)
	if in.Max == 0 {
		in.Max = 3
	}
	out, err := family.Search.Run(t.Context(), env{all: r.Tools()}, in)
	if err != nil {
		t.Fatal(err)
	}
	return out.(*family.SearchOutput)
}

func TestSearchFindsTheToolForAJob(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"extract frames":                      "video.extract_frames",
		"read the text on screenshots":        "video.ocr_frames",
		"is there a dog in the photo":         "media.objects",
		"detect people in pictures":           "media.objects",
		"video_probe":                         "video.probe",
		"where is it silent":                  "measure.silence",
		"what was said in the recording":      "media.watch",
		"answer a question about a recording": "media.ask",
		"pull the audio out of a video":       "video.extract_audio",
		"download from an address":            "video.download",
	} {
		out := search(t, family.SearchInput{Query: query})
		var names []string
		for _, f := range out.Tools {
			names = append(names, f.ToolID)
		}
		if len(names) == 0 || !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("%q finds %v, want %s", query, names, want)
		}
	}
}

func TestSearchNamesEveryToolOnce(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "frames", "zzzz"} {
		out := search(t, family.SearchInput{Query: query})
		seen := map[string]bool{}
		for _, f := range out.Tools {
			seen[f.ToolID] = true
		}
		for _, n := range out.Other {
			if seen[n.ToolID] {
				t.Errorf("%q: %s twice", query, n.ToolID)
			}
			seen[n.ToolID] = true
		}
		r := registry(t)
		if len(seen) != len(r.Tools()) {
			t.Errorf("%q names %d of %d tools", query, len(seen), len(r.Tools()))
		}
		if query != "frames" && len(out.Tools) > 0 {
			t.Errorf("%q finds %d tools", query, len(out.Tools))
		}
	}
}
