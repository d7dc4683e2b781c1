package job

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// asWorker in the environment makes the test binary a worker of the queue in that
// folder; asCaller one that makes a call which outlasts its patience.
const (
	asWorker = "CUTROOM_TEST_WORKER"
	asCaller = "CUTROOM_TEST_CALLER"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(asWorker); dir != "" {
		os.Exit(child(dir, func(ctx context.Context, q *Queue) error { return q.Start(ctx) }))
	}
	if dir := os.Getenv(asCaller); dir != "" {
		os.Exit(child(dir, func(ctx context.Context, q *Queue) error {
			_, job, err := q.Call(ctx, call("left behind", 3*time.Second), 50*time.Millisecond)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "caller"), []byte(job.ID), 0o600)
			}
			return err
		}))
	}
	os.Exit(m.Run())
}

// child works until it is told to end.
func child(dir string, begin func(context.Context, *Queue) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	q := queue(dir)
	if err := begin(ctx, q); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := q.Stop(last); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process starts the test binary as something else. It is killed at the end of the
// test, if it still lives.
func process(t *testing.T, as, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), as+"="+dir)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c
}

// onBoth runs a test with a folder for its queue on each kind of database.
func onBoth(t *testing.T, body func(t *testing.T, dir string)) {
	t.Helper()
	storetest.Places(t, func(t *testing.T, place string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "place"), []byte(place), 0o600); err != nil {
			t.Fatal(err)
		}
		body(t, dir)
	})
}

// place is where the database of the queue in dir is.
func place(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "place"))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// opener opens the database in dir; it is closed with the process.
func opener(dir string) Opener {
	return func(ctx context.Context) (*sql.DB, error) { return store.Open(ctx, place(dir), Migration()) }
}

// queue is one with a fast heart over the database in dir.
func queue(dir string) *Queue {
	q := New(Options{Engine: ledger{dir}, Open: opener(dir), Exists: func() bool { return store.Exists(place(dir)) }, Space: Space(dir, "stage"), Log: slog.New(slog.DiscardHandler)})
	q.pace = pace{100 * time.Millisecond, 600 * time.Millisecond}
	return q
}

// open is a queue that ends with the test.
func open(t *testing.T, dir string) *Queue {
	t.Helper()
	q := queue(dir)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
		if q.db != nil {
			q.db.Close()
		}
	})
	return q
}

// ledger is an engine whose calls write down that they began and how they ended, and
// whose results are files: an equal call that was answered before is answered by it.
type ledger struct{ dir string }

// work is what a call is to do.
type work struct {
	Name      string        `json:"name"`
	Takes     time.Duration `json:"takes"`
	Fails     string        `json:"fails,omitempty"`
	Transient bool          `json:"transient,omitempty"`
	Kills     bool          `json:"kills,omitempty"` // its process
	Panics    bool          `json:"panics,omitempty"`
	Stubborn  bool          `json:"stubborn,omitempty"` // takes its time, whatever its context says
}

func call(name string, takes time.Duration) engine.Call {
	return callOf(work{Name: name, Takes: takes})
}

func callOf(w work) engine.Call {
	in, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	return engine.Call{Tool: "test.work", Input: in, Principal: cutroom.Agent}
}

func (l ledger) note(format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(l.dir, "ledger"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, format+" %d\n", append(args, os.Getpid())...)
}

// lines are those of the ledger that begin with a word and a name.
func (l ledger) lines(word, name string) []string {
	raw, err := os.ReadFile(filepath.Join(l.dir, "ledger"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	var found []string
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, word+" "+name+" ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func (l ledger) Invoke(ctx context.Context, c engine.Call) (*engine.Reply, error) {
	var w work
	if err := json.Unmarshal(c.Input, &w); err != nil {
		return nil, err
	}
	run := cutroom.DigestOf(c.Input)
	if r, err := l.Answer(ctx, c.Principal, string(run)); err == nil {
		return r, nil
	}
	l.note("begin %s", w.Name)
	if c.Progress != nil {
		c.Progress(cutroom.Progress{Tool: c.Tool, Stage: "working on " + w.Name, Done: 1, Total: 2, Unit: "steps"})
	}
	if w.Panics {
		panic("as asked")
	}
	if w.Kills {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			panic(err)
		}
		_ = self.Kill()
	}
	stop := ctx.Done()
	if w.Stubborn {
		stop = nil
	}
	select {
	case <-stop:
		l.note("stopped %s", w.Name)
		return nil, ctx.Err()
	case <-time.After(w.Takes):
	}
	if w.Fails != "" {
		l.note("failed %s", w.Name)
		return nil, cutroom.Errorf(cutroom.UnreadableMedia, "%s", w.Fails).WithHint("give another file")
	}
	answer := fmt.Appendf(nil, `{"worked_on":%q}`, w.Name)
	if !w.Transient {
		if err := os.WriteFile(filepath.Join(l.dir, string(run)), answer, 0o600); err != nil {
			return nil, err
		}
	}
	l.note("end %s", w.Name)
	return &engine.Reply{Tool: c.Tool, JSON: answer, Run: run, Transient: w.Transient}, nil
}

func (l ledger) Answer(_ context.Context, _ cutroom.Principal, run string) (*engine.Reply, error) {
	answer, err := os.ReadFile(filepath.Join(l.dir, run))
	if err != nil {
		return nil, err
	}
	return &engine.Reply{Tool: "test.work", JSON: bytes.TrimSpace(answer), Run: cutroom.Digest(run), Reused: true}, nil
}

func (l ledger) Decode(tool string, output []byte) (*engine.Reply, error) {
	return &engine.Reply{Tool: tool, JSON: output, Transient: true}, nil
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(60 * time.Second)
	for !holds() {
		select {
		case <-late:
			t.Fatalf("still not: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// wait returns a job that ended.
func wait(t *testing.T, q *Queue, id string) cutroom.Job {
	t.Helper()
	j, err := q.For(cutroom.Operator).Wait(t.Context(), id, 60*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if !j.State.Final() {
		t.Fatalf("the job %s is still %s", id, j.State)
	}
	return j
}

// submit queues a call.
func submit(t *testing.T, q *Queue, c engine.Call) cutroom.Job {
	t.Helper()
	j, err := q.Submit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// ends has the database write down each time that a job's state becomes final, and
// returns what it wrote.
func ends(t *testing.T, q *Queue) func() map[string]int {
	t.Helper()
	if err := q.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.db.ExecContext(t.Context(), `create table if not exists ending (job text, state text)`); err != nil {
		t.Fatal(err)
	}
	for _, text := range map[store.Dialect][]string{
		store.SQLite: {`create trigger if not exists ends after update on job when new.state in ('completed', 'failed', 'canceled')
			begin insert into ending values (new.id, new.state); end`},
		store.Postgres: {
			`create function note_end() returns trigger language plpgsql as 'begin insert into ending values (new.id, new.state); return null; end'`,
			`create trigger ends after update on job for each row when (new.state in ('completed', 'failed', 'canceled')) execute function note_end()`,
		},
	}[store.DialectOf(q.db)] {
		if _, err := q.db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return func() map[string]int {
		rows, err := q.db.QueryContext(t.Context(), `select job from ending`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		n := map[string]int{}
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			n[id]++
		}
		return n
	}
}
