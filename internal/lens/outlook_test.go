package lens_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/lens"
)

// TestAVideosSoundIsInTheOutlook: the frames of a video and its sound go to different
// services, and whoever asks where a file goes is told of both, with their bytes.
func TestAVideosSoundIsInTheOutlook(t *testing.T) {
	t.Parallel()
	eye := lens.Reader{Step: lens.Registered, Name: "eye", Origin: "https://eye.example", Priced: true}
	ear := lens.Reader{Step: lens.Endpoint, Name: "endpoint-1", Origin: "https://ear.example", Priced: true}
	model := lens.Reader{Step: lens.Multimodal, Name: "omni", Origin: "https://omni.example", Priced: true}
	here := lens.Reader{Step: lens.Endpoint, Name: "endpoint-2", Local: true}
	sizes := lens.Sizes{AudioFullLength: 600 * cutroom.Second, AudioPart: 300 * cutroom.Second}
	none := func(lens.Hop) string { return "" }
	for _, c := range []struct {
		length  cutroom.Micros
		heard   bool
		consent lens.Consent
		want    []string
		sends   string
		most    int64
	}{
		{60 * cutroom.Second, true, lens.Allowed, []string{"frames:registered:eye send", "frames:local:ocr work_here", "frames:asr:endpoint-1 send", "frames:asr:endpoint-2 work_here", "frames:local:speech work_here", "local:metadata work_here"}, "a mono copy", 146_666 + 320_000},
		{1200 * cutroom.Second, true, lens.Allowed, []string{"frames:registered:eye send", "frames:local:ocr work_here", "frames:asr:endpoint-1 send", "frames:asr:endpoint-2 work_here", "frames:local:speech work_here", "local:metadata work_here"}, "4 parts of a mono copy", 146_666 + 6_400_000},
		{60 * cutroom.Second, true, lens.NeedsConsent, []string{"frames:registered:eye skip", "frames:local:ocr work_here", "frames:asr:endpoint-1 skip", "frames:asr:endpoint-2 work_here", "frames:local:speech work_here", "local:metadata work_here"}, "a mono copy", 0},
		{60 * cutroom.Second, false, lens.Allowed, []string{"frames:registered:eye send", "frames:local:ocr work_here", "local:metadata work_here"}, "", 146_666},
	} {
		o := lens.Outlook{}
		shape := lens.Shape{Medium: lens.Video, Sizes: sizes, Facts: lens.Facts{Bytes: 30_000_000, Length: c.length}, Frames: 1}
		hops, _ := lens.Order([]lens.Step{lens.FrameRead, lens.Metadata}, nil)
		o.Legs(hops, shape, lens.SampleFrames, c.consent, lens.Apart{Frames: []lens.Reader{eye}, Sound: []lens.Reader{ear, model, here}, Heard: c.heard}, none)
		var got []string
		for _, l := range o.Chain {
			got = append(got, l.Provider+" "+l.Would)
			if l.Provider == "frames:asr:endpoint-1" && l.Sends != c.sends {
				t.Errorf("sends %q, not %q", l.Sends, c.sends)
			}
			if l.Would == "send" && l.Destination == "" {
				t.Errorf("%s goes nowhere", l.Provider)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" || o.MaxBytes-c.most > 10 || c.most-o.MaxBytes > 10 {
			t.Errorf("%s\n%d bytes, not %d", d, o.MaxBytes, c.most)
		}
	}
}
