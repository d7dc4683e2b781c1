package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/engine"
	"cutroom/internal/job"
	"cutroom/internal/policy"
	"cutroom/internal/setup"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
	approvals "cutroom/internal/tools/approval"
)

// asking is a workspace in which an agent wants to replace out.mp4 by a part of in.mp4,
// with a clock that the test moves.
type asking struct {
	*workspace
	now  time.Time
	call engine.Call
}

func ask(t *testing.T) *asking {
	t.Helper()
	pin(t)
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	a := &asking{now: time.Now()}
	dir := t.TempDir()
	i, err := setup.Open(t.Context(), setup.Options{Dir: dir, Root: dir, Registry: registry, Now: func() time.Time { return a.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	a.workspace = &workspace{i, t, dir}
	// A moved clock, and forged rows, are not for the other tests of this home.
	db := storetest.At(t, filepath.Join(t.TempDir(), store.Name), job.Migration())
	i.Approvals = approval.New(approval.Options{
		Open:   func(context.Context) (*sql.DB, error) { return db, nil },
		Folder: filepath.Join(t.TempDir(), "keys"), Now: func() time.Time { return a.now },
	})
	i.Engine.Approvals = i.Approvals
	a.copy(filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4"), "in.mp4")
	put(t, filepath.Join(dir, "out.mp4"), "what stands there")
	a.call = engine.Call{Tool: "edit.cut", Principal: cutroom.Agent, Input: []byte(`{"input":"in.mp4","start":"0","end":"1","output":"out.mp4","overwrite":true}`)}
	return a
}

// requested makes the call, which has to be refused, and returns the request.
func (a *asking) requested() cutroom.Approval {
	a.t.Helper()
	_, err := a.Engine.Invoke(a.ctx(), a.call)
	e := cutroom.AsError(err)
	if e == nil || e.Code != cutroom.NeedsApproval || e.Approval == "" || !strings.Contains(e.Hint, "cutroom approve "+e.Approval) {
		a.t.Fatalf("%+v", e)
	}
	r, err := a.Approvals.Get(a.ctx(), cutroom.Operator, e.Approval)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

// approved has the operator look at the request and allow it.
func (a *asking) approved(r cutroom.Approval) {
	a.t.Helper()
	sheet, bound, err := a.Engine.Review(a.ctx(), r)
	if err != nil || bound != r.Bound || len(sheet.Commands) == 0 || sheet.Outputs[0].Replaces == "" {
		a.t.Fatalf("%v: %+v", err, sheet)
	}
	seal, err := a.Approvals.Seal(nil, bound, "operator")
	if err != nil {
		a.t.Fatal(err)
	}
	in, err := tool.Encode(map[string]string{"id": r.ID, "decision": cutroom.SayApprove})
	if err != nil {
		a.t.Fatal(err)
	}
	c := engine.Call{Tool: "approval.decide", Principal: cutroom.Operator, Input: in}
	if _, err := a.Engine.Invoke(approval.WithSeal(a.ctx(), seal), c); err != nil {
		a.t.Fatal(err)
	}
}

func (a *asking) db() *sql.DB {
	a.t.Helper()
	db, err := a.Approvals.Open(a.ctx())
	if err != nil {
		a.t.Fatal(err)
	}
	return db
}

func (a *asking) exec(query string, args ...any) {
	a.t.Helper()
	if _, err := a.db().ExecContext(a.ctx(), query, args...); err != nil {
		a.t.Fatal(err)
	}
}

// newest is the number of the last audit row.
func (a *asking) newest() int64 {
	a.t.Helper()
	rows, err := a.Audit.Query(a.ctx(), cutroom.AuditFilter{Max: 1})
	if err != nil || len(rows) != 1 {
		a.t.Fatal(rows, err)
	}
	return rows[0].Seq
}

// TestForgedApprovals: whatever is done to an approval, or to the call, it is refused
// with the reason, nothing is written, and the refusal is one row of the audit.
func TestForgedApprovals(t *testing.T) {
	// One after another: the rows between two numbers have to be the test's own.
	for _, row := range []struct {
		name, why string
		forge     func(a *asking, r cutroom.Approval)
	}{
		{"edited row", "is not as it was signed", func(a *asking, r cutroom.Approval) {
			a.exec(`update approval set expires = expires + 60000 where id = $1`, r.ID)
		}},
		{"copied id", "is not as it was signed", func(a *asking, r cutroom.Approval) {
			a.call.Input = []byte(strings.Replace(string(a.call.Input), `"1"`, `"2"`, 1))
			other := a.requested()
			a.exec(`update approval set state = 'approved', expires = o.expires, decided = o.decided, decided_by = o.decided_by, decided_role = o.decided_role, signed_by = o.signed_by, signature = o.signature
				from (select * from approval where id = $1) as o where approval.id = $2`, r.ID, other.ID)
		}},
		{"other arguments", "for other arguments", func(a *asking, _ cutroom.Approval) {
			a.call.Input = []byte(strings.Replace(string(a.call.Input), `"1"`, `"3"`, 1))
		}},
		{"other output", "for other arguments", func(a *asking, _ cutroom.Approval) {
			put(a.t, filepath.Join(a.dir, "other.mp4"), "what stands there")
			a.call.Input = []byte(strings.Replace(string(a.call.Input), "out.mp4", "other.mp4", 1))
		}},
		{"other input bytes", "for other content of an input", func(a *asking, _ cutroom.Approval) {
			f, err := os.OpenFile(filepath.Join(a.dir, "in.mp4"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				a.t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("\x00\x00\x00\x08free"); err != nil {
				a.t.Fatal(err)
			}
		}},
		{"other file there", "for another file at an output", func(a *asking, _ cutroom.Approval) {
			put(a.t, filepath.Join(a.dir, "out.mp4"), "another file")
		}},
		{"other principal", "needs a person", func(a *asking, _ cutroom.Approval) {
			a.call.Principal = cutroom.Principal{Name: "somebody", Role: cutroom.RoleAgent}
		}},
		{"expired", "expired at ", func(a *asking, _ cutroom.Approval) { a.now = a.now.Add(time.Hour) }},
		{"used twice", "was used already", func(a *asking, r cutroom.Approval) {
			if _, err := a.Engine.Invoke(a.ctx(), a.call); err != nil {
				a.t.Fatal(err)
			}
			put(a.t, filepath.Join(a.dir, "out.mp4"), "what stands there") // the very same situation
			a.exec(`update approval set state = 'approved', ended = 0 where id = $1`, r.ID)
		}},
		{"clock set back", "the clock was set back", func(a *asking, _ cutroom.Approval) { a.now = a.now.Add(-time.Minute) }},
		{"taken back", "was taken back", func(a *asking, r cutroom.Approval) {
			if _, err := a.Approvals.Revoke(a.ctx(), cutroom.Operator, r.ID); err != nil {
				a.t.Fatal(err)
			}
		}},
		{"decided by the model", "was not decided by the operator", func(a *asking, r cutroom.Approval) {
			a.call.Input = []byte(strings.Replace(string(a.call.Input), `"1"`, `"4"`, 1))
			other := a.requested()
			in, err := tool.Encode(map[string]string{"id": other.ID, "decision": cutroom.SayApprove})
			if err != nil {
				a.t.Fatal(err)
			}
			for _, c := range []engine.Call{
				{Tool: "approval.decide", Principal: cutroom.Agent, Input: in},
				{Tool: "approval.decide", Principal: cutroom.Operator, Input: in}, // as a program of the operator's would
			} {
				if _, err := a.Engine.Invoke(a.ctx(), c); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Denied {
					a.t.Errorf("%s decided: %v", c.Principal.Name, err)
				}
			}
			a.exec(`update approval set state = 'approved', decided = requested, decided_by = 'agent', decided_role = 'agent' where id = $1`, other.ID)
		}},
		{"policy changed", "under another policy", func(a *asking, _ cutroom.Approval) {
			a.Engine.Policy = a.Engine.Policy.Narrow(cutroom.RoleAgent, policy.Bounds{Tools: []string{"edit.*", "approval.*"}})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := ask(t)
			a.t = t
			r := a.requested()
			a.approved(r)
			row.forge(a, r)
			before := a.newest()
			was, err := os.ReadFile(filepath.Join(a.dir, "out.mp4"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Engine.Invoke(a.ctx(), a.call)
			e := cutroom.AsError(err)
			if e == nil || e.Group() != "denied" || !strings.Contains(e.Msg, row.why) {
				t.Errorf("%v, want %q", e, row.why)
			}
			if now, err := os.ReadFile(filepath.Join(a.dir, "out.mp4")); err != nil || string(now) != string(was) {
				t.Errorf("it was written: %v", err)
			}
			rows, err := a.Audit.Query(a.ctx(), cutroom.AuditFilter{Max: 10})
			if err != nil || a.newest() != before+1 || rows[0].Tool != "edit.cut" || rows[0].Outcome != string(e.Code) || rows[0].Approval != "" {
				t.Errorf("the audit: %+v, %v", rows[0], err)
			}
		})
	}
}

// TestApprovedCallRunsOnce: of several equal calls at once one uses the approval, and
// the others ask anew; what ran says by which approval.
func TestApprovedCallRunsOnce(t *testing.T) {
	a := ask(t)
	r := a.requested()
	a.approved(r)
	replies, errs := make([]*engine.Reply, 4), make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { replies[i], errs[i] = a.Engine.Invoke(a.ctx(), a.call) })
	}
	all.Wait()
	ran := 0
	for i, err := range errs {
		if err == nil {
			ran++
			if replies[i].Approval != r.ID || replies[i].Record.Provenance.ApprovalID != r.ID {
				t.Errorf("it ran by %q, and says %q", replies[i].Approval, replies[i].Record.Provenance.ApprovalID)
			}
			continue
		}
		if e := cutroom.AsError(err); e.Code != cutroom.NeedsApproval {
			t.Errorf("%s: %v", e.Code, e)
		}
	}
	if ran != 1 {
		t.Errorf("%d of them ran", ran)
	}
	if e := a.requested(); e.ID == r.ID {
		t.Error("it did not ask anew")
	}
}

// TestNobodyIsAskedInVain: what cannot be done, or needs nobody, asks nobody.
func TestNobodyIsAskedInVain(t *testing.T) {
	a := ask(t)
	for name, row := range map[string]struct {
		input string
		code  cutroom.Code
	}{
		"not media":     {`{"input":"out.mp4","start":"0","end":"1","output":"in.mp4","overwrite":true}`, cutroom.UnreadableMedia},
		"the input":     {`{"input":"in.mp4","start":"0","end":"1","output":"in.mp4","overwrite":true}`, cutroom.Invalid},
		"in the way":    {`{"input":"in.mp4","start":"0","end":"1","output":"out.mp4"}`, cutroom.Conflict},
		"agreed before": {`{"input":"in.mp4","start":"0","end":"1","output":"out.mp4","overwrite":true,"approved":true}`, cutroom.Invalid},
	} {
		a.call.Input = []byte(row.input)
		if _, err := a.Engine.Invoke(a.ctx(), a.call); err == nil || cutroom.AsError(err).Code != row.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	out := must[approvals.RequestOutput](a.workspace, "approval.request", approvals.RequestInput{ToolID: "edit.cut", Request: `{"input":"in.mp4","start":"0","end":"1","output":"new.mp4"}`})
	if out.Needed || out.Approval != nil {
		t.Errorf("%+v", out)
	}
	if list, err := a.Approvals.List(a.ctx(), cutroom.Operator, "", 10); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	asked := must[approvals.RequestOutput](a.workspace, "approval.request", approvals.RequestInput{ToolID: "edit.cut", Request: `{"input":"in.mp4","start":"0","end":"1","output":"out.mp4","overwrite":true}`})
	if !asked.Needed || asked.Approval.State != cutroom.ApprovalPending || asked.Approval.Sheet.Outputs[0].Replaces == "" {
		t.Fatalf("%+v", asked)
	}
	a.call.Input = []byte(`{"end":"1","mode":"smart","input":"in.mp4","start":"0","overwrite":true,"output":"out.mp4"}`) // the same call in other words
	if r := a.requested(); r.ID != asked.Approval.ID {
		t.Errorf("%s, not %s: %+v", r.ID, asked.Approval.ID, r.Sheet.Arguments)
	}
}
