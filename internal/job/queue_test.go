package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

func TestCallInTimeOpensNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		reply, job, err := q.Call(t.Context(), call("quick", 0), time.Minute)
		if err != nil || job != nil || string(reply.JSON) != `{"worked_on":"quick"}` {
			t.Errorf("%+v %+v %v", reply, job, err)
		}
		if jobs, err := q.For(cutroom.Agent).List(t.Context(), 10); err != nil || len(jobs) != 0 {
			t.Errorf("%v, %v", jobs, err)
		}
		if _, err := os.Stat(place(dir)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a database: %v", err)
		}
	})
}

func TestCallBecomesAJob(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		storetest.At(t, place(dir), Migration()) // making it may take longer than the call
		q := open(t, dir)
		ctx, hangUp := context.WithCancel(t.Context())
		c := call("long", 1500*time.Millisecond)
		told := make(chan cutroom.Progress, 1)
		c.Progress = func(p cutroom.Progress) { told <- p }
		reply, job, err := q.Call(ctx, c, 50*time.Millisecond)
		if err != nil || reply != nil || job == nil || job.State != cutroom.JobRunning || job.Attempt != 1 {
			t.Fatalf("%+v %+v %v", reply, job, err)
		}
		hangUp()
		if p := <-told; p.Stage != "working on long" {
			t.Errorf("%+v", p)
		}
		_, err = q.Result(t.Context(), cutroom.Agent, job.ID)
		if e := cutroom.AsError(err); e.Code != cutroom.Precondition {
			t.Errorf("the result of a running job: %v", err)
		}
		j := wait(t, q, job.ID)
		if j.State != cutroom.JobCompleted || j.Run != cutroom.DigestOf(c.Input) || j.Finished.Before(j.Started) {
			t.Errorf("%+v", j)
		}
		reply, err = q.Result(t.Context(), cutroom.Agent, job.ID)
		if err != nil || string(reply.JSON) != `{"worked_on":"long"}` {
			t.Errorf("%+v %v", reply, err)
		}
		if n := len(ledger{dir}.lines("begin", "long")); n != 1 {
			t.Errorf("the call was begun %d times", n)
		}
	})
}

func TestCallerGoesBeforePatience(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		ctx, hangUp := context.WithCancel(t.Context())
		go func() {
			for len((ledger{dir}).lines("begin", "unwanted")) == 0 {
				<-time.After(time.Millisecond)
			}
			hangUp()
		}()
		reply, job, err := q.Call(ctx, call("unwanted", time.Hour), time.Minute)
		if !errors.Is(err, context.Canceled) || reply != nil || job != nil {
			t.Errorf("%+v %+v %v", reply, job, err)
		}
		if n := len(ledger{dir}.lines("stopped", "unwanted")); n != 1 {
			t.Errorf("the call was stopped %d times", n)
		}
	})
}

// TestUnstorable: a call whose job cannot be stored is waited for.
func TestUnstorable(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		want := cutroom.Precondition
		if strings.HasPrefix(place(dir), "postgres:") {
			want = cutroom.Unavailable
			if err := os.WriteFile(filepath.Join(dir, "place"), []byte("postgres://someone:hush@/there?host="+dir), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(filepath.Dir(place(dir)), nil, 0o600); err != nil { // where a folder has to be
			t.Fatal(err)
		}
		q := open(t, dir)
		reply, job, err := q.Call(t.Context(), call("stays", 200*time.Millisecond), 20*time.Millisecond)
		if err != nil || job != nil || string(reply.JSON) != `{"worked_on":"stays"}` {
			t.Errorf("%+v %+v %v", reply, job, err)
		}
		_, err = q.Submit(t.Context(), call("nowhere", 0))
		said := fmt.Sprint(err, " ", cutroom.AsError(err).Err)
		if e := cutroom.AsError(err); e.Code != want || e.Hint == "" || strings.Contains(e.Error(), dir) || strings.Contains(said, "hush") || strings.Contains(said, "someone") {
			t.Errorf("%v", said)
		}
	})
}

// full has the database refuse what is large as it does on a full disk, until it is
// told to end that.
func full(t *testing.T, q *Queue) (end func()) {
	t.Helper()
	do := func(text string) {
		t.Helper()
		if _, err := q.db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if store.DialectOf(q.db) == store.SQLite {
		// SQLite answers a file that may not grow as it does a full disk.
		do(`pragma max_page_count = 1`)
		return func() { do(`pragma max_page_count = 100000`) }
	}
	do(`create function refuse() returns trigger language plpgsql as 'begin raise sqlstate ''53100''; end'`)
	do(`create trigger refuse before insert on job for each row execute function refuse()`)
	return func() { do(`drop trigger refuse on job`) }
}

// TestFullDisk: what cannot be stored any more is said, and the call goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		if err := q.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		end := full(t, q)
		big := callOf(work{Name: "big " + strings.Repeat("x", 200_000), Takes: 200 * time.Millisecond, Transient: true})
		_, err := q.Submit(t.Context(), big)
		if e := cutroom.AsError(err); e.Code != cutroom.Unavailable || !strings.Contains(e.Msg, "full") {
			t.Errorf("%v", err)
		}
		reply, job, err := q.Call(t.Context(), big, 20*time.Millisecond)
		if err != nil || job != nil || reply == nil {
			t.Errorf("%+v %+v %v", reply, job, err)
		}
		end()
		if jobs, err := q.For(cutroom.Operator).List(t.Context(), 10); err != nil || len(jobs) != 0 {
			t.Errorf("%v, %v", jobs, err)
		}
	})
}

func TestFailuresAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		broken := submit(t, q, callOf(work{Name: "broken", Fails: "the file is broken"}))
		fault := submit(t, q, callOf(work{Name: "fault", Panics: true}))
		after := submit(t, q, callOf(work{Name: "after", Transient: true}))
		want := &cutroom.FailureDetail{Kind: "input", Code: cutroom.UnreadableMedia, Message: "the file is broken", Hint: "give another file"}
		if j := wait(t, q, broken.ID); j.State != cutroom.JobFailed || !cmp.Equal(j.Error, want) || j.Attempt != 1 {
			t.Errorf("%+v %+v", j, j.Error)
		}
		_, err := q.Result(t.Context(), cutroom.Agent, broken.ID)
		if e := cutroom.AsError(err); e.Code != want.Code || e.Msg != want.Message || e.Hint != want.Hint {
			t.Errorf("%v", err)
		}
		if j := wait(t, q, fault.ID); j.State != cutroom.JobFailed || j.Error.Code != cutroom.Internal || strings.Contains(j.Error.Message, "as asked") {
			t.Errorf("%+v %+v", j, j.Error)
		}
		if j := wait(t, q, after.ID); j.State != cutroom.JobCompleted || j.Run != "" {
			t.Errorf("%+v", j)
		}
		if r, err := q.Result(t.Context(), cutroom.Agent, after.ID); err != nil || string(r.JSON) != `{"worked_on":"after"}` || !r.Transient {
			t.Errorf("%+v %v", r, err)
		}
		for _, name := range []string{"broken", "fault", "after"} {
			if n := len(ledger{dir}.lines("begin", name)); n != 1 {
				t.Errorf("%s was begun %d times", name, n)
			}
		}
	})
}

func TestOthersJobsDoNotExist(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		mine := submit(t, q, call("mine", 0))
		c := call("theirs", 0)
		c.Principal = cutroom.Principal{Name: "another", Role: cutroom.RoleAgent}
		theirs := submit(t, q, c)
		elsewhere := queue(dir)
		elsewhere.Space = Space(dir, "another stage")
		t.Cleanup(func() { _ = elsewhere.Stop(context.Background()) })

		for _, v := range []struct {
			q    *Queue
			who  cutroom.Principal
			sees []string
		}{
			{q, cutroom.Agent, []string{mine.ID}},
			{q, c.Principal, []string{theirs.ID}},
			{q, cutroom.Operator, []string{mine.ID, theirs.ID}},
			{elsewhere, cutroom.Operator, nil},
		} {
			seen := map[string]bool{}
			jobs, err := v.q.For(v.who).List(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				seen[j.ID] = true
			}
			if len(seen) != len(v.sees) {
				t.Errorf("%v sees %v", v.who, seen)
			}
			for _, id := range []string{mine.ID, theirs.ID} {
				may := false
				for _, s := range v.sees {
					may = may || s == id
				}
				_, err := v.q.For(v.who).Get(t.Context(), id)
				if may != (err == nil) || !may && cutroom.AsError(err).Code != cutroom.NotFound {
					t.Errorf("%v gets %v", v.who, err)
				}
				if may {
					continue
				}
				for what, err := range map[string]error{
					"cancel": second(v.q.For(v.who).Cancel(t.Context(), id)), "wait": second(v.q.For(v.who).Wait(t.Context(), id, 0)),
					"result": second(v.q.Result(t.Context(), v.who, id)),
				} {
					if cutroom.AsError(err).Code != cutroom.NotFound {
						t.Errorf("%s of %v: %v", what, v.who, err)
					}
				}
			}
		}
		if j, err := q.For(cutroom.Operator).Get(t.Context(), theirs.ID); err != nil || j.State != cutroom.JobQueued {
			t.Errorf("%+v %v", j, err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestOneReaperWins: of many processes that find the same orphan, or the same job
// whose ticket is lost, one makes its ticket.
func TestOneReaperWins(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		if err := q.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		jobs := []unended{
			{id: "orphan", worker: "nobody", state: cutroom.JobRunning, attempt: 1},
			{id: "waits", state: cutroom.JobQueued},
		}
		for _, j := range jobs {
			in, err := json.Marshal(work{Name: j.id})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.db.ExecContext(t.Context(), `insert into job (id, space, tool, input, principal_name, principal_role, timeout_ms, state, worker, attempt, created, started, mac)
				values ($1, $2, 'test.work', $3, 'agent', 'agent', 0, $4, $5, $6, 1, 1, $7)`, j.id, q.Space, string(in), j.state, j.worker, j.attempt,
				q.seal(stored{id: j.id, call: callOf(work{Name: j.id}), created: 1})); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for range 8 {
			other := open(t, dir)
			if err := other.open(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				all.Go(func() {
					if err := store.Within(t.Context(), other.db, func(tx *sql.Tx) error { return other.rescue(t.Context(), tx, j) }); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		for _, j := range jobs {
			var tickets int
			if err := q.db.QueryRowContext(t.Context(), `select count(*) from river_job where args ->> 'id' = $1`, j.id).Scan(&tickets); err != nil || tickets != 1 {
				t.Errorf("%s: %d tickets, %v", j.id, tickets, err)
			}
		}
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if got := wait(t, q, j.id); got.State != cutroom.JobCompleted || got.Attempt != int(j.attempt)+1 {
				t.Errorf("%+v", got)
			}
		}
	})
}

// TestLostTicket: a job whose ticket went down with the process that had fetched it is
// handed out again.
func TestLostTicket(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		j := submit(t, q, call("unlucky", 0))
		nobody := map[store.Dialect]string{store.SQLite: `jsonb('["nobody"]')`, store.Postgres: `array['nobody']`}[store.DialectOf(q.db)]
		if _, err := q.db.ExecContext(t.Context(), `update river_job set state = 'running', attempted_by = `+nobody); err != nil {
			t.Fatal(err)
		}
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, q, j.ID); j.State != cutroom.JobCompleted || j.Attempt != 1 {
			t.Errorf("%+v", j)
		}
	})
}

// TestCancelOfQueued: a job that nobody began ends at once, and nobody begins it.
func TestCancelOfQueued(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		j := submit(t, q, call("unwanted", 0))
		next := submit(t, q, call("wanted", 0))
		for range 2 { // a second cancel changes nothing
			got, err := q.For(cutroom.Agent).Cancel(t.Context(), j.ID)
			if err != nil || got.State != cutroom.JobCanceled {
				t.Errorf("%+v %v", got, err)
			}
		}
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait(t, q, next.ID)
		if n := len(ledger{dir}.lines("begin", "unwanted")); n != 0 {
			t.Errorf("it was begun %d times", n)
		}
		got, err := q.For(cutroom.Agent).Cancel(t.Context(), next.ID)
		if err != nil || got.State != cutroom.JobCompleted {
			t.Errorf("a job that ended: %+v %v", got, err)
		}
	})
}

// TestStopDoesNotWaitForever: a call that does not hear its context is handed back all
// the same, and its late end is refused.
func TestStopDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		storetest.At(t, place(dir), Migration()) // making it may take longer than the call
		watcher := open(t, dir)
		q := queue(dir)
		_, job, err := q.Call(t.Context(), callOf(work{Name: "deaf", Takes: 2 * time.Second, Stubborn: true}), 10*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
		j, err := watcher.For(cutroom.Agent).Get(t.Context(), job.ID)
		if err != nil || j.State != cutroom.JobQueued || j.Attempt != 0 {
			t.Errorf("%+v %v", j, err)
		}
		until(t, "the call is through", func() bool { return len(ledger{dir}.lines("end", "deaf")) == 1 })
		if _, err := q.Submit(t.Context(), call("more", 0)); cutroom.AsError(err).Code != cutroom.Unavailable {
			t.Errorf("a stopped queue: %v", err)
		}
	})
}

// TestWork: works what there is, and returns.
func TestWork(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		submit(t, q, call("one", 0))
		submit(t, q, callOf(work{Name: "two", Fails: "no"}))
		if err := q.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Tally{Completed: 1, Failed: 1}, q.Tally()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestOldJobsGo: a job that ended is forgotten after its time; others stay.
func TestOldJobsGo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		old := submit(t, q, call("old", 0))
		if err := q.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		waits := submit(t, q, call("waits", time.Hour))
		later := queue(dir)
		later.Now = func() time.Time { return time.Now().Add(keepFor + time.Minute) }
		t.Cleanup(func() { _ = later.Stop(context.Background()) })
		if err := later.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := later.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := q.For(cutroom.Agent).Get(t.Context(), old.ID); cutroom.AsError(err).Code != cutroom.NotFound {
			t.Errorf("the old job: %v", err)
		}
		if j, err := q.For(cutroom.Agent).Get(t.Context(), waits.ID); err != nil || j.State.Final() {
			t.Errorf("%+v %v", j, err)
		}
	})
}

// TestAnswersAreBounded: what only the job keeps may not be of any size.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		j := submit(t, q, callOf(work{Name: strings.Repeat("x", maxOutput), Transient: true}))
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, q, j.ID); j.State != cutroom.JobFailed || j.Error.Code != cutroom.Limit {
			t.Errorf("%+v %+v", j, j.Error)
		}
	})
}

// TestServerDies: a job whose database is away for a while goes on, and its end is
// stored once that is back.
func TestServerDies(t *testing.T) {
	t.Parallel()
	s := testenv.NewPostgres(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "place"), []byte(s.Database(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	q := open(t, dir)
	ended := ends(t, q)
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	j := submit(t, q, call("outlives", time.Second))
	until(t, "the call begins", func() bool { return len(ledger{dir}.lines("begin", "outlives")) == 1 })
	s.Stop()
	if _, err := q.Submit(t.Context(), call("refused", 0)); cutroom.AsError(err).Code != cutroom.Unavailable {
		t.Errorf("without a server: %v", err)
	}
	until(t, "the call is through", func() bool { return len(ledger{dir}.lines("end", "outlives")) == 1 })
	s.Start(t)
	if j := wait(t, q, j.ID); j.State != cutroom.JobCompleted || j.Attempt != 1 {
		t.Errorf("%+v", j)
	}
	after := submit(t, q, call("after", 0))
	if j := wait(t, q, after.ID); j.State != cutroom.JobCompleted {
		t.Errorf("%+v", j)
	}
	if n := ended()[j.ID]; n != 1 {
		t.Errorf("it ended %d times", n)
	}
}
