package setup

import (
	"os"
	"testing"

	"cutroom/internal/object"
	"cutroom/internal/ocr"
	"cutroom/internal/speech"
)

// TestMain lets the test binary be its own sandboxed engines, as the real one is.
func TestMain(m *testing.M) {
	switch os.Args[0] {
	case "speech", "cutroom-speech":
		os.Exit(speech.Child(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "object", "cutroom-object":
		os.Exit(object.Child(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "ocr", "cutroom-ocr":
		os.Exit(ocr.Child(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "setconfig":
		os.Exit(setChild(os.Args[1], os.Args[2]))
	case "reveal":
		os.Exit(revealChild(os.Args[1]))
	}
	os.Exit(m.Run())
}
