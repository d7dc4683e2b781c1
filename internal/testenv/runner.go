package testenv

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cutroom/internal/sandbox/argv"
)

// Runner starts real programs for the tests: no sandbox, the same rendering of atoms.
type Runner struct {
	tb     testing.TB
	Dir    string   // the private folder
	Inputs []string // the call's inputs
	Runs   int
	Stderr string
}

// NewRunner returns a runner with a private folder of the test's own; inputs are what
// In(n) counts.
func NewRunner(tb testing.TB, inputs ...string) *Runner {
	tb.Helper()
	return &Runner{tb: tb, Dir: tb.TempDir(), Inputs: inputs}
}

// Run renders, checks and runs c as the sandbox does.
func (r *Runner) Run(c argv.Command) argv.Result {
	r.tb.Helper()
	r.Runs++
	path, err := exec.LookPath(c.Program)
	if err != nil {
		r.tb.Fatalf("%s is needed: %v", c.Program, err)
	}
	for _, f := range c.Files {
		if err := os.WriteFile(filepath.Join(r.Dir, f.Name), f.Data, 0o600); err != nil {
			r.tb.Fatal(err)
		}
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
		f, err := os.Open(r.Inputs[n])
		if err != nil {
			r.tb.Fatal(err)
		}
		files = append(files, f)
	}
	cmd := exec.CommandContext(r.tb.Context(), path, args...)
	cmd.Dir, cmd.ExtraFiles = r.Dir, files
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
	r.Stderr = stderr.String()
	res.Complaints.Lines = bytes.Count(stderr.Bytes(), []byte("\n"))
	if res.Exit != 0 && !c.MayFail {
		r.tb.Fatalf("%s %s: exit %d\n%s", c.Program, strings.Join(args, " "), res.Exit, last(r.Stderr))
	}
	return res
}

func last(s string) string { return s[max(0, len(s)-2000):] }

// Script is a chain of runs: a prober, a measurement, a render.
type Script interface {
	Next() (argv.Command, bool)
	Feed(argv.Result) error
}

// Drive runs s to its end and returns the error that it ended with.
func (r *Runner) Drive(s Script) error {
	r.tb.Helper()
	for {
		c, ok := s.Next()
		if !ok {
			return nil
		}
		if err := s.Feed(r.Run(c)); err != nil {
			return err
		}
	}
}
