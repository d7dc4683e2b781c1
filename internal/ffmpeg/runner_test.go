package ffmpeg

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cutroom/internal/sandbox/argv"
	"cutroom/internal/testenv"
)

// runner starts real programs for the tests.
type runner struct{ *testenv.Runner }

func newRunner(tb testing.TB, inputs ...string) *runner {
	tb.Helper()
	return &runner{testenv.NewRunner(tb, inputs...)}
}

func (r *runner) run(c argv.Command) argv.Result { return r.Run(c) }

func tail(s string) string { return s[max(0, len(s)-2000):] }

// real returns the folder of real test files, and skips when it is not there.
func real(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	p := filepath.Join(dir, "..", "shared", "cases", "real", name)
	if _, err := os.Stat(p); err != nil {
		tb.Skipf("the real test files are not beside the repository: %v", err)
	}
	return p
}

// made builds a small input with ffmpeg and returns its path. Arguments are split at
// white space; OUT stands for the file.
func made(tb testing.TB, name, args string, inputs ...string) string {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), name)
	list := []string{"-v", "error", "-nostdin", "-y"}
	for _, a := range strings.Fields(args) {
		a = strings.ReplaceAll(a, "OUT", out)
		for i, in := range inputs {
			a = strings.ReplaceAll(a, fmt.Sprintf("IN%d", i), "file:"+in)
		}
		list = append(list, a)
	}
	if b, err := exec.CommandContext(tb.Context(), "ffmpeg", list...).CombinedOutput(); err != nil {
		tb.Fatalf("ffmpeg %s: %v\n%s", args, err, b)
	}
	return out
}

const testAV = "-f lavfi -i testsrc2=d=4:s=320x240:r=25 -f lavfi -i sine=f=440:d=4:r=48000 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 50 -c:a aac -b:a 96k -shortest OUT"

// sniff reads the start of a file and sniffs it.
func sniff(tb testing.TB, path string) (Format, int64, error) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	head := make([]byte, SniffLen)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		tb.Fatal(err)
	}
	format, err := Sniff(head[:n], filepath.Base(path))
	return format, st.Size(), err
}

// probe sniffs and probes a file with real runs; runs is how many it took.
func probe(tb testing.TB, path string) (d *Document, f Format, runs int, err error) {
	tb.Helper()
	f, size, err := sniff(tb, path)
	if err != nil {
		return nil, f, 0, err
	}
	r := newRunner(tb, path)
	p := NewProber(0, f, size)
	for c, ok := p.Next(); ok; c, ok = p.Next() {
		if err := p.Feed(r.run(c)); err != nil {
			return nil, f, r.Runs, err
		}
	}
	d, err = p.Document()
	return d, f, r.Runs, err
}

func mustProbe(tb testing.TB, path string) (*Document, Format) {
	tb.Helper()
	d, f, _, err := probe(tb, path)
	if err != nil {
		tb.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return d, f
}

// abilitiesOnce keeps the abilities: reading them takes five starts.
var abilitiesOnce struct {
	sync.Once
	a Abilities
}

// testAbilities returns what the ffmpeg of this machine can do.
func testAbilities(tb testing.TB) *Abilities {
	tb.Helper()
	abilitiesOnce.Do(func() { abilitiesOnce.a = readAbilities(tb) })
	a := abilitiesOnce.a
	return &a
}

func readAbilities(tb testing.TB) Abilities {
	tb.Helper()
	r := newRunner(tb)
	var out [][]byte
	for _, c := range AbilityCommands() {
		out = append(out, r.run(c).Stdout)
	}
	a, err := ParseAbilities(out[0], out[1], out[2], out[3], out[4])
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func wordsOf(atoms []argv.Atom) []string {
	var s []string
	for _, a := range atoms {
		if w, ok := a.(argv.Word); ok {
			s = append(s, string(w))
		}
	}
	return s
}
