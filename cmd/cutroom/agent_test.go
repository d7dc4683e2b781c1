package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running is `cutroom agent run --json` in a process of its own, with its events.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	events []string
	id     string
}

// begin starts a run of a script in dir and waits for its first event.
func begin(t *testing.T, dir, text string, more ...string) *running {
	t.Helper()
	write(t, filepath.Join(dir, "model.yaml"), text)
	r := &running{t: t, cmd: command(t, dir, append([]string{"agent", "run", "--json", "--goal", "go", "--tools", "measure.*", "--model", "script:model.yaml"}, more...)...)}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	r.lines = bufio.NewScanner(out)
	r.lines.Buffer(nil, 1<<20)
	r.until("run_started")
	var first struct {
		ID string `json:"runId"`
	}
	if err := json.Unmarshal([]byte(r.events[0]), &first); err != nil {
		t.Fatal(err)
	}
	r.id = first.ID
	return r
}

// until reads events up to one of a type.
func (r *running) until(kind string) {
	r.t.Helper()
	for r.lines.Scan() {
		r.events = append(r.events, r.lines.Text())
		if strings.Contains(r.lines.Text(), `"type":"`+kind+`"`) {
			return
		}
	}
	r.t.Fatalf("no %s: %v\n%s", kind, r.lines.Err(), strings.Join(r.events, "\n"))
}

// ends waits for the end of the process, and returns its exit code and how long it took.
func (r *running) ends() (code int, took time.Duration) {
	r.t.Helper()
	began := time.Now()
	for r.lines.Scan() {
		r.events = append(r.events, r.lines.Text())
	}
	err := r.cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode(), time.Since(began)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return 0, time.Since(began)
}

// thinks is a model that never answers.
const thinks = "- goal: go\n  steps:\n    - calls: [{tool: measure.probe, input: {inputs: [clip.mp4]}}]\n      fault: {hang: true}\n  final: done\n"

// TestAgentStopsAtOnce: while the model thinks, a signal and another process's abort end a
// run within a second, and it says so; afterwards it can be gone on with.
func TestAgentStopsAtOnce(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(t *testing.T, r *running, dir string){
		"SIGINT":  func(_ *testing.T, r *running, _ string) { _ = r.cmd.Process.Signal(os.Interrupt) },
		"SIGTERM": func(_ *testing.T, r *running, _ string) { _ = r.cmd.Process.Signal(syscall.SIGTERM) },
		"abort": func(t *testing.T, r *running, dir string) {
			if out, err := command(t, dir, "agent", "abort", r.id).CombinedOutput(); err != nil || !strings.Contains(string(out), "failed (aborted)") {
				t.Errorf("%v: %s", err, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := begin(t, dir, thinks)
			stop(t, r, dir)
			code, took := r.ends()
			want := map[string]int{"SIGINT": 130, "SIGTERM": 143, "abort": 130}[name]
			if last := r.events[len(r.events)-1]; code != want || !strings.Contains(last, `"type":"run_failed","reason":"aborted"`) {
				t.Errorf("exit code %d, want %d; the last event is %s", code, want, last)
			}
			if limit := 5 * time.Second; took > limit { // far less on a machine with nothing else to do
				t.Errorf("it took %s", took)
			}
			write(t, filepath.Join(dir, "model.yaml"), "- goal: go\n  final: done after all\n")
			if out, err := command(t, dir, "agent", "resume", r.id, "--quiet").Output(); err != nil || string(out) != "done after all\n" {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestAgentIsFollowed: another process sees the events of a run as they come, from any one
// on, byte by byte as whoever started it.
func TestAgentIsFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	steps := strings.Repeat("    - say: on\n      calls: [{tool: measure.probe, input: {inputs: [nothing.mp4]}}]\n      fault: {slow: 50ms}\n", 12)
	r := begin(t, dir, "- goal: go\n  steps:\n"+steps+"  final: done\n")
	var whole, part bytes.Buffer
	var all []*exec.Cmd
	for from, into := range map[string]*bytes.Buffer{"1": &whole, "7": &part} {
		c := command(t, dir, "agent", "events", r.id, "--follow", "--json", "--from", from)
		c.Stdout, c.Stderr = into, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if code, _ := r.ends(); code != 0 {
		t.Fatalf("exit code %d: %s", code, r.events[len(r.events)-1])
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := whole.String(), strings.Join(r.events, "\n")+"\n"; got != want {
		t.Errorf("followed:\n%s\nthe run itself:\n%s", got, want)
	}
	if got, want := part.String(), strings.Join(r.events[6:], "\n")+"\n"; got != want {
		t.Errorf("from 7 on:\n%s\nthe run itself:\n%s", got, want)
	}
}
