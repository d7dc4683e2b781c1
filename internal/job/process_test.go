//go:build unix

package job

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom"
)

// TestKilledWorkers: whatever worker is killed whenever, each job ends once.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		ended := ends(t, q)
		workers := make([]*exec.Cmd, 3)
		for i := range workers {
			workers[i] = process(t, asWorker, dir)
		}
		var jobs []string
		for i := range 16 {
			jobs = append(jobs, submit(t, q, call(fmt.Sprint("job", i), time.Duration(100+rand.IntN(500))*time.Millisecond)).ID)
		}
		for range 8 {
			<-time.After(time.Duration(rand.IntN(700)) * time.Millisecond)
			i := rand.IntN(len(workers))
			if err := workers[i].Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = workers[i].Wait()
			workers[i] = process(t, asWorker, dir)
		}
		for _, id := range jobs {
			j := wait(t, q, id)
			if j.State != cutroom.JobCompleted && (j.State != cutroom.JobFailed || j.Attempt < attempts) {
				t.Errorf("%+v", j)
			}
		}
		for id, n := range ended() {
			if n != 1 {
				t.Errorf("the job %s ended %d times", id, n)
			}
		}
		if n := len(ended()); n != len(jobs) {
			t.Errorf("%d of %d jobs ended", n, len(jobs))
		}
	})
}

// TestStoppedWorker: one that was stopped for longer than its lease neither ends the
// job that another has by now, nor goes on with it.
func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		ended := ends(t, q)
		first := process(t, asWorker, dir)
		j := submit(t, q, call("slow", 4*time.Second))
		until(t, "the first worker begins", func() bool { return len(ledger{dir}.lines("begin", "slow")) == 1 })
		if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		process(t, asWorker, dir)
		until(t, "the second worker begins", func() bool { return len(ledger{dir}.lines("begin", "slow")) == 2 })
		if err := first.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		until(t, "the first worker gives up", func() bool { return len(ledger{dir}.lines("stopped", "slow")) == 1 })
		pid := fmt.Sprint(" ", first.Process.Pid)
		if line := (ledger{dir}.lines("stopped", "slow")[0]); !strings.HasSuffix(line, pid) {
			t.Errorf("%q is not of the worker%s", line, pid)
		}
		if j := wait(t, q, j.ID); j.State != cutroom.JobCompleted || j.Attempt != 2 {
			t.Errorf("%+v", j)
		}
		if n := ended()[j.ID]; n != 1 {
			t.Errorf("it ended %d times", n)
		}
		if n := len(ledger{dir}.lines("end", "slow")); n != 1 {
			t.Errorf("it was worked to its end %d times", n)
		}
	})
}

// TestStoppedWorkerEndsLate: the late end of a worker that does not even notice its
// context is refused.
func TestStoppedWorkerEndsLate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		ended := ends(t, q)
		first := process(t, asWorker, dir)
		j := submit(t, q, callOf(work{Name: "late", Takes: 2 * time.Second, Stubborn: true, Transient: true}))
		until(t, "the first worker begins", func() bool { return len(ledger{dir}.lines("begin", "late")) == 1 })
		if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		process(t, asWorker, dir)
		until(t, "the second worker begins", func() bool { return len(ledger{dir}.lines("begin", "late")) == 2 })
		if err := first.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		until(t, "both are through", func() bool { return len(ledger{dir}.lines("end", "late")) == 2 })
		if j := wait(t, q, j.ID); j.State != cutroom.JobCompleted || j.Attempt != 2 {
			t.Errorf("%+v", j)
		}
		if n := ended()[j.ID]; n != 1 {
			t.Errorf("it ended %d times", n)
		}
	})
}

// TestRestart: a call that became a job goes on in the next process when its own is
// killed.
func TestRestart(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		ended := ends(t, q)
		c := process(t, asCaller, dir)
		until(t, "the call is a job", func() bool {
			info, err := os.Stat(filepath.Join(dir, "caller"))
			return err == nil && info.Size() > 0
		})
		id, err := os.ReadFile(filepath.Join(dir, "caller"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		next := open(t, dir)
		next.Serve = true
		if err := next.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, q, string(id)); j.State != cutroom.JobCompleted || j.Attempt != 2 {
			t.Errorf("%+v", j)
		}
		if n := ended()[string(id)]; n != 1 {
			t.Errorf("it ended %d times", n)
		}
	})
}

// TestTermination: a worker that is told to end hands its job back at once, and that
// does not count as an attempt.
func TestTermination(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		first := process(t, asWorker, dir)
		j := submit(t, q, call("handed back", 2*time.Second))
		until(t, "the first worker begins", func() bool { return len(ledger{dir}.lines("begin", "handed back")) == 1 })
		if err := first.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := first.Wait(); err != nil {
			t.Errorf("the worker ended with %v", err)
		}
		now, err := q.For(cutroom.Operator).Get(t.Context(), j.ID)
		if err != nil || now.State != cutroom.JobQueued || now.Attempt != 0 || !now.Started.IsZero() {
			t.Errorf("%+v, %v", now, err)
		}
		process(t, asWorker, dir)
		if j := wait(t, q, j.ID); j.State != cutroom.JobCompleted || j.Attempt != 1 {
			t.Errorf("%+v", j)
		}
	})
}

// TestPoison: a job that kills its workers ends as failed.
func TestPoison(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		j := submit(t, q, callOf(work{Name: "poison", Kills: true}))
		for range attempts {
			if err := process(t, asWorker, dir).Wait(); err == nil {
				t.Fatal("the worker lives")
			}
		}
		process(t, asWorker, dir)
		j = wait(t, q, j.ID)
		if j.State != cutroom.JobFailed || j.Attempt != attempts || j.Error == nil || j.Error.Code != cutroom.ToolFailed || j.Error.Hint == "" {
			t.Errorf("%+v %+v", j, j.Error)
		}
		if n := len(ledger{dir}.lines("begin", "poison")); n != attempts {
			t.Errorf("it was tried %d times", n)
		}
	})
}

// TestCancelElsewhere: a cancel reaches the process that works on the job.
func TestCancelElsewhere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		process(t, asWorker, dir)
		j := submit(t, q, call("long", time.Hour))
		until(t, "progress is seen from here", func() bool {
			j, err := q.For(cutroom.Agent).Get(t.Context(), j.ID)
			return err == nil && j.State == cutroom.JobRunning && j.Progress != nil && j.Progress.Stage == "working on long"
		})
		j, err := q.For(cutroom.Agent).Cancel(t.Context(), j.ID)
		if err != nil || j.State != cutroom.JobCanceled || j.Error != nil {
			t.Errorf("%+v, %v", j, err)
		}
		if n := len(ledger{dir}.lines("stopped", "long")); n != 1 {
			t.Errorf("the call was stopped %d times", n)
		}
	})
}
