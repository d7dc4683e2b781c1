package ffmpeg

import (
	"bytes"
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
)

// runner starts real programs for the tests: no sandbox, the same rendering of atoms.
type runner struct {
	tb     testing.TB
	dir    string   // the private folder
	inputs []string // the call's inputs
	runs   int
	stderr string
}

func newRunner(tb testing.TB, inputs ...string) *runner {
	tb.Helper()
	return &runner{tb: tb, dir: tb.TempDir(), inputs: inputs}
}

// run renders and runs c as the sandbox does.
func (r *runner) run(c argv.Command) argv.Result {
	r.tb.Helper()
	r.runs++
	path, err := exec.LookPath(c.Program)
	if err != nil {
		r.tb.Fatalf("%s is needed: %v", c.Program, err)
	}
	table := argv.Programs()[c.Program]
	grants := argv.GrantsOf(c, nil)
	args, err := argv.Render(c, table, grants)
	if err != nil {
		r.tb.Fatal(err)
	}
	if err := argv.Check(table, args, grants); err != nil {
		r.tb.Fatalf("%s %s: %v", c.Program, strings.Join(args, " "), err)
	}
	var files, readers []*os.File
	for range grants.Pipes {
		pr, pw, err := os.Pipe()
		if err != nil {
			r.tb.Fatal(err)
		}
		files, readers = append(files, pw), append(readers, pr)
	}
	for _, n := range c.Inputs {
		f, err := os.Open(r.inputs[n])
		if err != nil {
			r.tb.Fatal(err)
		}
		files = append(files, f)
	}
	cmd := exec.CommandContext(r.tb.Context(), path, args...)
	cmd.Dir, cmd.ExtraFiles = r.dir, files
	var stdout, stderr bytes.Buffer
	cmd.Stderr = &stderr
	res := argv.Result{Values: make([]any, len(c.Consume))}
	var out io.ReadCloser
	if len(c.Consume) > 0 && c.Consume[0] != nil {
		if out, err = cmd.StdoutPipe(); err != nil {
			r.tb.Fatal(err)
		}
	} else {
		cmd.Stdout = &stdout
	}
	if err := cmd.Start(); err != nil {
		r.tb.Fatal(err)
	}
	for _, f := range files { // the program has its own
		_ = f.Close()
	}
	var wg sync.WaitGroup
	consume := func(i int, from io.Reader) {
		wg.Go(func() {
			v, err := c.Consume[i](from)
			if err != nil {
				r.tb.Errorf("consume %d: %v", i, err)
			}
			res.Values[i] = v
		})
	}
	if out != nil {
		consume(0, out)
	}
	for i, f := range readers {
		consume(i+1, f)
	}
	wg.Wait()
	err = cmd.Wait()
	for _, f := range readers {
		_ = f.Close()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		res.Exit = exit.ExitCode()
	} else if err != nil {
		r.tb.Fatal(err)
	}
	res.Stdout = stdout.Bytes()
	r.stderr = stderr.String()
	res.Complaints.Lines = bytes.Count(stderr.Bytes(), []byte("\n"))
	if res.Exit != 0 && !c.MayFail {
		r.tb.Fatalf("%s %s: exit %d\n%s", c.Program, strings.Join(args, " "), res.Exit, tail(r.stderr))
	}
	return res
}

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
			return nil, f, r.runs, err
		}
	}
	d, err = p.Document()
	return d, f, r.runs, err
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
