package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cutroom"
	runlog "cutroom/internal/run"
	"cutroom/internal/setup"
	"cutroom/internal/testenv"
)

// TestAbortKillsPrograms: whoever stops a run, from another process, stops the programs
// that its calls started, also those of a run that it delegated to.
func TestAbortKillsPrograms(t *testing.T) {
	t.Parallel()
	longest := 5 * time.Second // of a machine that does much else
	if testenv.Soak() {
		longest = time.Second
	}
	for name, script := range map[string]string{
		"its own": `- goal: stop me
  steps:
    - calls: [{tool: measure.signals, input: {input: long.mp4}}]
  final: done`,
		"a delegated one's": `- goal: stop me
  steps:
    - calls: [{tool: agent.delegate, input: {goal: measure long.mp4}}]
  final: done
- goal: measure
  steps:
    - calls: [{tool: measure.signals, input: {input: long.mp4}}]
  final: done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, "")
			testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=90", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(w.dir, "long.mp4"))
			if err := os.WriteFile(filepath.Join(w.dir, "script.yaml"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			c := command(t, w.dir, "agent", "run", "--goal", "stop me", "--tools", "measure.*", "--delegate", "--model", "script:script.yaml", "--json")
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { _ = c.Wait(); close(ended) }()
			programs := func() []string {
				return slices.DeleteFunc(inFolder(w.dir), func(p string) bool { return strings.HasPrefix(p, fmt.Sprintf("/proc/%d/", c.Process.Pid)) })
			}
			for len(programs()) == 0 {
				select {
				case <-ended:
					t.Fatalf("it ended by itself: %s", out.String())
				case <-time.After(5 * time.Millisecond):
				}
			}
			agents := w.Agents(setup.AgentOptions{})
			list, err := agents.List(t.Context(), cutroom.Operator, 10, runlog.Running)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(list, func(i runlog.Info) bool { return i.Spec.Parent == "" })
			if i < 0 {
				t.Fatalf("no run: %+v", list)
			}
			x, err := agents.Open(t.Context(), cutroom.Operator, list[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := x.Abort(t.Context()); err != nil {
				t.Fatal(err)
			}
			left := programs()
			for len(left) > 0 && time.Since(began) < longest {
				<-time.After(5 * time.Millisecond)
				left = programs()
			}
			if took := time.Since(began); took > longest || len(left) > 0 {
				t.Errorf("%v are left after %s", left, took)
			} else {
				t.Logf("gone after %s", took)
			}
			<-ended
			if code := c.ProcessState.ExitCode(); code != cutroom.Canceled.Facts().Exit {
				t.Errorf("exit code %d: %s", code, out.String())
			}
			if list, err = agents.List(t.Context(), cutroom.Operator, 10); err != nil || slices.ContainsFunc(list, func(i runlog.Info) bool { return i.State != runlog.Failed || i.Reason != runlog.Aborted }) {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}
