package lens

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

const minute = 60 * cutroom.Second

// Every cell of the table, with the borders on both sides.
func TestJudge(t *testing.T) {
	t.Parallel()
	mb := func(n float64) int64 { return int64(n * 1e6) }
	video := func(size float64, length cutroom.Micros) Facts {
		return Facts{Bytes: mb(size), Length: length, Whole: length, Form: "video/mp4"}
	}
	frames, direct, smaller := []Step{FrameRead, Metadata}, []Step{Multimodal, FrameRead, Metadata}, []Step{Smaller, FrameRead, Metadata}
	sound := []Step{Multimodal, Endpoint, Speech, Metadata}
	picture := []Step{Registered, Configured, Looking, Metadata}
	for name, r := range map[string]struct {
		medium Medium
		facts  Facts
		want   Verdict
		chain  []Step
	}{
		"9.99 MB":                  {Video, video(9.99, minute), Full, direct},
		"10 MB":                    {Video, video(10, minute), Full, direct},
		"10 MB and a byte":         {Video, Facts{Bytes: 10_000_001, Length: minute, Whole: minute}, Reencode, smaller},
		"19 MB":                    {Video, video(19, minute), Reencode, smaller},
		"19.01 MB":                 {Video, video(19.01, minute), SampleFrames, frames},
		"10 min - 1 s":             {Video, video(9, 599*cutroom.Second), Full, direct},
		"10 min":                   {Video, video(9, 600*cutroom.Second), Full, direct},
		"10 min + 1 s":             {Video, video(9, 601*cutroom.Second), SampleFrames, frames},
		"10 min and a microsecond": {Video, video(9, 600*cutroom.Second+1), SampleFrames, frames},
		"15 MB, 10 min + 1 s":      {Video, video(15, 601*cutroom.Second), SampleFrames, frames},
		"15 MB, 10 min":            {Video, video(15, 600*cutroom.Second), Reencode, smaller},
		"no length known":          {Video, Facts{Bytes: mb(9)}, Full, direct},
		"a part of 5 MB":           {Video, Facts{Bytes: mb(5), Length: minute, Whole: 2 * minute}, Reencode, smaller},
		"a minute of an hour":      {Video, Facts{Bytes: mb(600), Length: minute, Whole: 60 * minute}, Reencode, smaller},
		"two minutes of an hour":   {Video, Facts{Bytes: mb(600), Length: 2 * minute, Whole: 60 * minute}, SampleFrames, frames},

		"sound of 10 MB":      {Audio, Facts{Bytes: mb(10), Length: minute, Whole: minute}, Full, sound},
		"sound of 10.01 MB":   {Audio, Facts{Bytes: mb(10.01), Length: minute, Whole: minute}, Downsample, sound},
		"sound of 10 min":     {Audio, Facts{Bytes: mb(5), Length: 10 * minute, Whole: 10 * minute}, Full, sound},
		"sound of 10 min 1 s": {Audio, Facts{Bytes: mb(5), Length: 601 * cutroom.Second, Whole: 601 * cutroom.Second}, Segment, sound},
		"a part of a sound":   {Audio, Facts{Bytes: mb(5), Length: minute, Whole: 2 * minute}, Downsample, sound},

		"a picture of 4 MB":    {Image, Facts{Bytes: mb(4), Side: 2048}, Full, picture},
		"a picture of 4.01 MB": {Image, Facts{Bytes: mb(4.01), Side: 2048}, Downsample, picture},
		"a picture of 2049 px": {Image, Facts{Bytes: mb(1), Side: 2049}, Downsample, picture},
	} {
		got := Judge(r.medium, DefaultSizes(), r.facts)
		if got.Verdict != r.want {
			t.Errorf("%s: %s, want %s", name, got.Verdict, r.want)
		}
		if d := cmp.Diff(r.chain, got.Chain); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A chain never ends without an answer, and the reader that costs most is asked first.
func TestEveryRowEndsInMetadata(t *testing.T) {
	t.Parallel()
	seen := map[Medium]bool{}
	for _, r := range Table() {
		if r.Chain[len(r.Chain)-1] != Metadata {
			t.Errorf("%s %s ends in %s", r.Medium, r.Verdict, r.Chain[len(r.Chain)-1])
		}
		seen[r.Medium] = true
	}
	if len(seen) != 3 {
		t.Errorf("media: %v", seen)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := Facts{Bytes: rapid.Int64Min(0).Draw(rt, "bytes"), Length: cutroom.Micros(rapid.Int64Range(0, 1<<50).Draw(rt, "length")), Side: rapid.IntMin(0).Draw(rt, "side")}
		f.Whole = f.Length
		m := rapid.SampledFrom([]Medium{Video, Audio, Image}).Draw(rt, "medium")
		row := Judge(m, DefaultSizes(), f)
		if row.Medium != m || row.Verdict == "" {
			rt.Fatalf("%+v: %+v", f, row)
		}
		half := f
		half.Bytes, half.Length, half.Side = f.Bytes/2, f.Length/2, f.Side/2
		half.Whole = half.Length
		if Judge(m, DefaultSizes(), half).Verdict != Full && row.Verdict == Full {
			rt.Fatalf("%+v is sent as it is and its half is not", f)
		}
	})
}

func TestOrder(t *testing.T) {
	t.Parallel()
	readers := []Reader{
		{Step: Registered, Name: "a", Cooled: true}, {Step: Registered, Name: "b"}, {Step: Configured, Name: "openai"}, {Step: Multimodal, Name: "omni"},
	}
	show := func(hops []Hop) []string {
		var names []string
		for _, h := range hops {
			if h.Reader == nil {
				names = append(names, string(h.Step))
				continue
			}
			names = append(names, h.Reader.Provider(h.Step))
		}
		return names
	}
	hops, cooled := Order([]Step{Registered, Configured, Looking, Metadata}, readers)
	want := []string{"registered:b", "configured:openai", "local:ocr", "registered:a", "local:metadata"}
	if d := cmp.Diff(want, show(hops)); d != "" || len(cooled) != 1 {
		t.Error(d, cooled)
	}
	hops, _ = Order([]Step{Smaller, FrameRead, Metadata}, readers)
	if d := cmp.Diff([]string{"reencode:multimodal:omni", "frames", "local:metadata"}, show(hops)); d != "" {
		t.Error(d)
	}
}
