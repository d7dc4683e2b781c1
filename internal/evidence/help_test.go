package evidence

import (
	"os"
	"path/filepath"
	"testing"

	"cutroom"
)

// shared returns the folder of the test files beside the repository; the test is
// skipped on a machine that has none.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the shared test files are not here")
	}
	return dir
}

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
