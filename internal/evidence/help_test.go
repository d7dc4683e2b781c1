package evidence

import (
	"testing"

	"cutroom"
)

func sec(s float64) cutroom.Micros { return cutroom.MicrosOf(s) }

func secp(s float64) *cutroom.Micros { v := sec(s); return &v }

// seg is a segment with an end.
func seg(start, end float64, text string) Segment {
	return Segment{Start: sec(start), End: secp(end), Text: text, UntrustedContent: true}
}

func parse(t *testing.T, data string, hint Format) Transcript {
	t.Helper()
	tr, err := ParseTranscript([]byte(data), ParseOptions{Format: hint})
	if err != nil {
		t.Fatalf("ParseTranscript: %v", err)
	}
	return tr
}
