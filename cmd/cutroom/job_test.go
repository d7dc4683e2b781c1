package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/tools/media"
)

// jobDoc is what the job commands print under --json.
type jobDoc struct {
	ID      string           `json:"job_id"`
	State   cutroom.JobState `json:"state"`
	Attempt int              `json:"attempt"`
}

func runJSON(t *testing.T, into any, c *exec.Cmd) {
	t.Helper()
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		t.Fatalf("%v: %v: %s", c.Args, err, out)
	}
}

// TestKilledJobs kills processes that work on real watches: each job ends, with a
// result that verifies, and no program outlives its worker.
func TestKilledJobs(t *testing.T) {
	w := open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	var jobs []jobDoc
	for i := range 4 {
		name := fmt.Sprintf("request%d.json", i)
		text := fmt.Sprintf(`{"source":{"kind":"local_file","value":"clip.mp4"},"mode":"timeline","limits":{"max_frames":%d}}`, 4+i)
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var j jobDoc
		runJSON(t, &j, command(t, w.dir, "jobs", "submit", "media.watch", "--input", name, "--json"))
		jobs = append(jobs, j)
	}
	for range 3 {
		c := command(t, w.dir, "jobs", "work")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(200*time.Millisecond + time.Duration(rand.Int64N(int64(1500*time.Millisecond))))
		_ = c.Process.Kill()
		_ = c.Wait()
		if left := waitForNone(w.dir); len(left) > 0 {
			t.Errorf("programs survive: %v", left)
		}
	}
	if out, err := command(t, w.dir, "jobs", "work").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, j := range jobs {
		runJSON(t, &j, command(t, w.dir, "jobs", "wait", j.ID, "--json"))
		if j.State != cutroom.JobCompleted {
			t.Errorf("%+v", j)
			continue
		}
		var r media.WatchResult
		runJSON(t, &r, command(t, w.dir, "jobs", "result", j.ID, "--json"))
		if r.Status != cutroom.Completed {
			t.Errorf("%s: %s", j.ID, r.Status)
		}
	}
}

// working is a workspace with a job that a worker of its own is at.
func working(t *testing.T) (w *workspace, worker *exec.Cmd, j jobDoc) {
	t.Helper()
	w = open(t, "")
	clip(t, filepath.Join(w.dir, "clip.mp4"))
	text := `{"source":{"kind":"local_file","value":"clip.mp4"},"mode":"timeline"}`
	if err := os.WriteFile(filepath.Join(w.dir, "request.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runJSON(t, &j, command(t, w.dir, "jobs", "submit", "media.watch", "--input", "request.json", "--json"))
	worker = command(t, w.dir, "jobs", "work")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	for j.State != cutroom.JobRunning {
		runJSON(t, &j, command(t, w.dir, "jobs", "get", j.ID, "--json"))
		if j.State.Final() {
			t.Fatalf("the job ended too early: %+v", j)
		}
	}
	return w, worker, j
}

// TestCanceledJob: a cancel from another process ends the job and its programs.
func TestCanceledJob(t *testing.T) {
	w, worker, j := working(t)
	runJSON(t, &j, command(t, w.dir, "jobs", "cancel", j.ID, "--json"))
	if j.State != cutroom.JobCanceled {
		t.Errorf("%+v", j)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("the worker: %v", err)
	}
	if left := waitForNone(w.dir); len(left) > 0 {
		t.Errorf("programs survive: %v", left)
	}
}

// TestInterruptedWorker hands its job back, and says so by its exit code.
func TestInterruptedWorker(t *testing.T) {
	w, worker, j := working(t)
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()
	if code := worker.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	runJSON(t, &j, command(t, w.dir, "jobs", "get", j.ID, "--json"))
	if j.State != cutroom.JobQueued || j.Attempt != 0 {
		t.Errorf("%+v", j)
	}
	if left := waitForNone(w.dir); len(left) > 0 {
		t.Errorf("programs survive: %v", left)
	}
}
