package run_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cutroom/internal/run"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// TestFollowers: twenty followers, in this process and in others, slow ones and such that
// break off and come back, each see every event once and in order; the writer is as fast as
// without them.
func TestFollowers(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		events := 150
		if testenv.Soak() {
			events = 2000
		}
		db, reading := storetest.At(t, place), storetest.At(t, place)
		l := logOf(db)
		alone := write(t, l, taken(t, l, created(t, l)), events)

		id := created(t, l)
		w := taken(t, l, id)
		var all sync.WaitGroup
		for range 8 { // of this process and of another handle, in all paces
			all.Go(func() { follower(t, l, id, events, 0, false) })
		}
		for n := range 6 {
			pause := time.Duration(0)
			if n < 3 {
				pause = 3 * time.Millisecond
			}
			all.Go(func() { follower(t, logOf(reading), id, events, pause, n%2 == 0) })
		}
		for n := range 6 {
			all.Go(func() { process(t, place, id, events, n) })
		}
		stalled := make(chan struct{}) // one looks at its first event until the writer is done
		all.Go(func() {
			n := int64(0)
			for e, err := range l.Follow(t.Context(), id, 1) {
				if n++; err != nil || e.Seq != n {
					t.Errorf("%d: %v", e.Seq, err)
					return
				}
				if n == 1 {
					<-stalled
				}
			}
			if n != int64(events) {
				t.Errorf("the one that stood still saw %d", n)
			}
		})
		took := write(t, l, w, events)
		close(stalled)
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		t.Logf("%d events alone in %s, with 21 followers in %s", events, alone, took)
	})
}

// write appends events and returns how long that took. The
// last ends the run.
func write(t *testing.T, l *run.Log, w *run.Writer, events int) time.Duration {
	t.Helper()
	began := time.Now()
	for i := range events - 1 {
		if err := w.Append(t.Context(), run.Text{Turn: 1, Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Turn(t.Context(), run.Completed, "", run.Done{Text: "done"}); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// follower sees all events once and in order; one that breaks off comes back where it was.
func follower(t *testing.T, l *run.Log, id string, events int, pause time.Duration, breaks bool) {
	next := int64(1)
	for next <= int64(events) {
		ctx, cancel := context.WithCancel(t.Context())
		left := int64(events)
		if breaks {
			left = rand.Int64N(20)
		}
		for e, err := range l.Follow(ctx, id, next) {
			if errors.Is(err, context.Canceled) && breaks {
				break
			}
			if err != nil || e.Seq != next {
				t.Errorf("event %d, want %d: %v", e.Seq, next, err)
				cancel()
				return
			}
			if next++; pause > 0 {
				<-time.After(pause)
			}
			if left--; left < 0 {
				cancel()
			}
		}
		cancel()
		if !breaks && next <= int64(events) {
			t.Errorf("it ended before event %d", next)
			return
		}
	}
}

// process follows in a process of its own, which is killed in between where n says so.
func process(t *testing.T, place, id string, events, n int) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return
	}
	next, kill := 1, n%2 == 0
	for next <= events {
		c := exec.Command(self)
		c.Env = append(os.Environ(), asFollower+"="+place, itsRun+"="+id, itsFrom+"="+fmt.Sprint(next), itsPause+"="+fmt.Sprint(n/2))
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Error(err)
			return
		}
		lines := bufio.NewScanner(out)
		var killed atomic.Bool
		for lines.Scan() {
			var seq int
			var kind string
			if _, err := fmt.Sscan(lines.Text(), &seq, &kind); err != nil || seq != next {
				t.Errorf("process %d: %q, want %d", n, lines.Text(), next)
				_ = c.Process.Kill()
				break
			}
			if next++; kill && seq > events/2 && !killed.Swap(true) {
				_ = c.Process.Kill()
			}
		}
		if err := c.Wait(); err != nil && !killed.Load() {
			t.Errorf("process %d: %v", n, err)
			return
		}
		kill = false
		if t.Failed() {
			return
		}
	}
}

// TestFollowEnds: followers of a run that is not closed wait; those of one that is have an
// end, also when there is nothing to see.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := logOf(open())
		id := created(t, l)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		for e, err := range l.Follow(ctx, id, 1) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("of a run that nobody began: %+v, %v", e, err)
			}
		}
		w := taken(t, l, id)
		if err := w.Turn(t.Context(), run.Failed, run.Aborted, run.Broken{Reason: run.Aborted}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := 0
		for range l.Follow(t.Context(), id, 1) {
			n++
		}
		for range l.Follow(t.Context(), id, 5) {
			n += 100
		}
		if n != 1 {
			t.Errorf("%d events", n)
		}
		for _, err := range l.Follow(t.Context(), "nobody", 1) {
			if err == nil || !strings.Contains(err.Error(), "no run") {
				t.Errorf("%v", err)
			}
		}
	})
}
