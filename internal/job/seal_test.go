package job

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"cutroom"
)

// TestChangedRowsAreRefused: whoever can write the database cannot say what a job does
// or for whom. Each change of a row that waits makes it fail as denied, with a row of
// the audit, and nothing begins.
func TestChangedRowsAreRefused(t *testing.T) {
	t.Parallel()
	changes := map[string]string{
		"input":     `input = '{"name":"forged","takes":0}'`,
		"tool":      `tool = 'other.tool'`,
		"role":      `principal_role = 'operator'`,
		"name":      `principal_name = 'somebody'`,
		"timeout":   `timeout_ms = 3600000`,
		"created":   `created = created + 1`,
		"no mark":   `mac = ''`,
		"bad mark":  `mac = 'zz'`,
		"id":        `id = 'another'`,
		"swapped":   `mac = (select o.mac from job o where o.id <> job.id and o.id not like 'another%' order by o.id limit 1)`,
		"both told": `principal_role = 'operator', principal_name = 'operator', input = '{"name":"forged","takes":0}'`,
	}
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		var mu sync.Mutex
		notes := map[string]cutroom.AuditEvent{}
		q.Note = func(_ context.Context, _ *sql.Tx, e cutroom.AuditEvent) error {
			mu.Lock()
			defer mu.Unlock()
			notes[e.Call] = e
			return nil
		}
		q.Key = []byte("of this installation")
		good := submit(t, q, call("good", 0))
		ids := map[string]string{}
		for what := range changes {
			ids[what] = submit(t, q, call(what, 0)).ID
		}
		for what, change := range changes {
			if _, err := q.db.ExecContext(t.Context(), `update job set `+change+` where id = $1`, ids[what]); err != nil {
				t.Fatal(what, err)
			}
			if what == "id" {
				ids[what] = "another"
			}
		}
		if err := q.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, q, good.ID); j.State != cutroom.JobCompleted {
			t.Errorf("an untouched job is %s: %v", j.State, j.Error)
		}
		for what, id := range ids {
			j := wait(t, q, id)
			if j.State != cutroom.JobFailed || j.Error == nil || j.Error.Code != cutroom.Denied || j.Error.Hint == "" {
				t.Errorf("%s: %s, %+v", what, j.State, j.Error)
			}
			if e := notes[id]; e.Outcome != string(cutroom.Denied) || e.Reason == "" || e.Principal.Role == cutroom.RoleOperator {
				t.Errorf("%s: the audit says %+v", what, e)
			}
			if b := append(ledger{dir}.lines("begin", what), ledger{dir}.lines("begin", "forged")...); len(b) > 0 {
				t.Errorf("%s: began: %v", what, b)
			}
		}
		if n := q.Tally().Failed; n != len(ids) {
			t.Errorf("%d jobs told as failed, of %d", n, len(ids))
		}
	})
}

// TestRefusalThatCannotBeWritten: a job that is not believed does not run either where
// its refusal cannot be written down; it waits.
func TestRefusalThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		q := open(t, dir)
		q.Note = func(context.Context, *sql.Tx, cutroom.AuditEvent) error { return fmt.Errorf("the disk is full") }
		j := submit(t, q, call("forged", 0))
		if _, err := q.db.ExecContext(t.Context(), `update job set mac = '' where id = $1`, j.ID); err != nil {
			t.Fatal(err)
		}
		if got, err := q.claim(t.Context(), j.ID); got != nil || err == nil {
			t.Errorf("claimed: %v, %v", got, err)
		}
		if j, err := q.For(cutroom.Operator).Get(t.Context(), j.ID); err != nil || j.State != cutroom.JobQueued || j.Attempt != 0 {
			t.Errorf("%+v, %v", j, err)
		}
	})
}

// TestAnotherKey: a worker with another key believes nothing, and says which file is
// to be shared.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		ours, others := open(t, dir), open(t, dir)
		ours.Key, others.Key = []byte("ours"), []byte("theirs")
		id := submit(t, ours, call("ours", 0)).ID
		if err := others.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, ours, id); j.Error == nil || j.Error.Code != cutroom.Denied || !strings.Contains(j.Error.Hint, "mac.key") {
			t.Errorf("%+v", j.Error)
		}
	})
}

// TestAgentsLeaveOperatorsJobs: who leaves operators' jobs to others ends when no other
// is left, and takes nobody's ticket away.
func TestAgentsLeaveOperatorsJobs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dir string) {
		agent := open(t, dir)
		agent.Theirs = true
		c := call("operators", 0)
		c.Principal = cutroom.Operator
		theirs, mine := submit(t, agent, c), submit(t, agent, call("agents", 0))
		if err := agent.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, agent, mine.ID); j.State != cutroom.JobCompleted {
			t.Errorf("the agent's job is %s", j.State)
		}
		if got, err := agent.claim(t.Context(), theirs.ID); got != nil || err != nil {
			t.Errorf("claimed by hand: %v, %v", got, err)
		}
		if j, err := agent.For(cutroom.Operator).Get(t.Context(), theirs.ID); err != nil || j.State != cutroom.JobQueued {
			t.Errorf("%+v, %v", j, err)
		}
		operator := open(t, dir)
		if err := operator.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := wait(t, operator, theirs.ID); j.State != cutroom.JobCompleted {
			t.Errorf("the operator's job is %s", j.State)
		}
		if b := slices.Concat(ledger{dir}.lines("begin", "operators"), ledger{dir}.lines("begin", "agents")); len(b) != 2 {
			t.Errorf("began: %v", b)
		}
	})
}
