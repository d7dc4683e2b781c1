package approval

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// desk is a book over a database of its own, with a clock that the test moves.
type desk struct {
	*Book
	t  testing.TB
	db *sql.DB

	mu  sync.Mutex
	now time.Time
}

func newDesk(t testing.TB, db *sql.DB) *desk {
	t.Helper()
	d := &desk{t: t, db: db, now: time.UnixMilli(1_800_000_000_000)}
	d.Book = New(Options{
		Open:   func(context.Context) (*sql.DB, error) { return db, nil },
		Folder: filepath.Join(t.TempDir(), "keys"),
		Now: func() time.Time {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.now
		},
	})
	return d
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

// each runs body with a desk on every kind of database.
func each(t *testing.T, body func(t *testing.T, d *desk)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, open storetest.Open) { body(t, newDesk(t, open())) })
}

func digest(text string) cutroom.Digest { return cutroom.DigestOf([]byte(text)) }

// overwriting is an agent's call that replaces a file.
func overwriting() Bound {
	return Bound{
		Workspace: "/w", StageRoot: ".cutroom/stage", Principal: cutroom.Agent, Tool: "edit.cut", Revision: 1,
		Arguments: digest("arguments"), Inputs: []cutroom.Digest{digest("talk.mp4")}, Run: digest("run"),
		Outputs: []Output{{Path: "/w/out.mp4", Replaces: digest("old")}}, Policy: digest("policy"),
	}
}

func (d *desk) file(b Bound) cutroom.Approval {
	d.t.Helper()
	a, err := d.File(d.t.Context(), Request{Bound: b, Input: []byte(`{"input":"talk.mp4"}`), Why: "it replaces a file"})
	if err != nil {
		d.t.Fatal(err, cutroom.AsError(err).Err)
	}
	return a
}

func (d *desk) approve(b Bound, id string) cutroom.Approval {
	d.t.Helper()
	seal, err := d.Seal(nil, b.Digest(), "operator")
	if err != nil {
		d.t.Fatal(err)
	}
	a, err := d.Approve(WithSeal(d.t.Context(), seal), cutroom.Operator, id, 0)
	if err != nil {
		d.t.Fatal(err, cutroom.AsError(err).Err)
	}
	return a
}

// try finds and spends as the engine does, and returns why it may not.
func (d *desk) try(b Bound) (Pass, string) {
	d.t.Helper()
	p, why, err := d.Find(d.t.Context(), Candidate{Bound: b})
	if err != nil {
		return p, cutroom.AsError(err).Msg
	}
	if p.ID == "" {
		return p, "none: " + why
	}
	if err := d.Spend(d.t.Context(), Candidate{Bound: b}, p); err != nil {
		return p, cutroom.AsError(err).Msg
	}
	return p, ""
}

func (d *desk) exec(query string, args ...any) {
	d.t.Helper()
	r, err := d.db.ExecContext(d.t.Context(), query, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		d.t.Fatalf("%s: %d rows, %v", query, n, err)
	}
}

// TestLife: asked, approved, used once, asked anew under another id.
func TestLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		if _, why := d.try(b); why != "none: " {
			t.Fatalf("nothing was asked, yet %q", why)
		}
		first := d.file(b)
		if again := d.file(b); again.ID != first.ID || again.State != cutroom.ApprovalPending {
			t.Errorf("the same call is %s %s, not %s", again.ID, again.State, first.ID)
		}
		if _, why := d.try(b); why != "none: " {
			t.Errorf("what waits allows: %q", why)
		}
		d.approve(b, first.ID)
		if p, why := d.try(b); why != "" || p.ID != first.ID {
			t.Fatalf("%v %q", p, why)
		}
		if _, why := d.try(b); !strings.Contains(why, "was used already") {
			t.Errorf("a second time: %q", why)
		}
		second := d.file(b)
		if second.ID == first.ID || second.State != cutroom.ApprovalPending {
			t.Errorf("asked again: %s %s", second.ID, second.State)
		}
		spent, err := d.Get(t.Context(), cutroom.Operator, first.ID)
		if err != nil || spent.State != cutroom.ApprovalSpent || len(spent.Input) != 0 || spent.Run != b.Run || spent.By != "operator" {
			t.Errorf("%+v, %v", spent, err)
		}
	})
}

// TestNobodyElseDecides: a model's principal cannot, and neither can the operator's
// without having been shown this very call.
func TestNobodyElseDecides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		a := d.file(b)
		seal, err := d.Seal(nil, b.Digest(), "operator")
		if err != nil {
			t.Fatal(err)
		}
		other := b
		other.Arguments = digest("other")
		swapped, err := d.Seal(nil, other.Digest(), "operator")
		if err != nil {
			t.Fatal(err)
		}
		for name, try := range map[string]func() error{
			"agent": func() error {
				_, err := d.Approve(WithSeal(t.Context(), seal), cutroom.Agent, a.ID, 0)
				return err
			},
			"no seal": func() error { _, err := d.Approve(t.Context(), cutroom.Operator, a.ID, 0); return err },
			"another call": func() error {
				_, err := d.Approve(WithSeal(t.Context(), swapped), cutroom.Operator, a.ID, 0)
				return err
			},
			"agent denies": func() error { _, err := d.Deny(t.Context(), cutroom.Agent, a.ID); return err },
			"agent takes back": func() error {
				_, err := d.Revoke(t.Context(), cutroom.Agent, a.ID)
				return err
			},
			"agent takes all back": func() error { _, err := d.RevokeBefore(t.Context(), cutroom.Agent, d.Now()); return err },
			"agent grants": func() error {
				_, err := d.Grant(t.Context(), cutroom.Agent, nil, standing(), time.Hour)
				return err
			},
		} {
			if err := try(); err == nil {
				t.Errorf("%s decided", name)
			}
		}
		if got, err := d.Get(t.Context(), cutroom.Agent, a.ID); err != nil || got.State != cutroom.ApprovalPending {
			t.Errorf("%+v, %v", got, err)
		}
		stranger := cutroom.Principal{Name: "other", Role: cutroom.RoleAgent}
		if _, err := d.Get(t.Context(), stranger, a.ID); cutroom.AsError(err).Code != cutroom.NotFound {
			t.Errorf("another principal sees it: %v", err)
		}
		for who, n := range map[cutroom.Principal]int{cutroom.Operator: 1, cutroom.Agent: 1, stranger: 0} {
			if list, err := d.List(t.Context(), who, "/w", 10); err != nil || len(list) != n {
				t.Errorf("%s sees %d, %v", who.Name, len(list), err)
			}
		}
	})
}

// TestDenied: a no is final until the person changes it, also against a grant.
func TestDenied(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		a := d.file(b)
		if _, err := d.Deny(t.Context(), cutroom.Operator, a.ID); err != nil {
			t.Fatal(err)
		}
		_, err := d.File(t.Context(), Request{Bound: b})
		if e := cutroom.AsError(err); e.Code != cutroom.Denied || e.Approval != a.ID {
			t.Errorf("asked again: %v", err)
		}
		if _, _, err := d.Find(t.Context(), Candidate{Bound: b}); cutroom.AsError(err).Code != cutroom.Denied {
			t.Errorf("%v", err)
		}
		d.approve(b, a.ID) // after all
		if _, why := d.try(b); why != "" {
			t.Error(why)
		}
		next := d.file(b)
		if _, err := d.Deny(t.Context(), cutroom.Operator, next.ID); err != nil {
			t.Fatal(err)
		}
		d.pass(waitFor)
		if later := d.file(b); later.ID == next.ID || later.State != cutroom.ApprovalPending {
			t.Errorf("a day later: %+v", later)
		}
	})
}

// TestApprovedRefusedApproved: who takes a yes back by a no can still change that, as the
// refusal says; what was signed before stays used up.
func TestApprovedRefusedApproved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		first := d.file(b)
		d.approve(b, first.ID)
		for range 2 {
			if _, err := d.Deny(t.Context(), cutroom.Operator, first.ID); err != nil {
				t.Fatal(err)
			}
			if _, why := d.try(b); !strings.Contains(why, "refused this very call ("+first.ID) {
				t.Errorf("refused: %q", why)
			}
			next := d.approve(b, first.ID)
			if next.ID == first.ID || next.State != cutroom.ApprovalApproved {
				t.Errorf("approved again: %+v", next)
			}
			first = next
		}
		if p, why := d.try(b); why != "" || p.ID != first.ID {
			t.Errorf("%v %q", p, why)
		}
		if _, why := d.try(b); !strings.Contains(why, "was used already") {
			t.Errorf("a second time: %q", why)
		}
	})
}

// TestPendingIsBounded: a principal that asks and asks is stopped, others are not.
func TestPendingIsBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		for i := range maxPending {
			b.Revision = i
			d.file(b)
		}
		b.Revision = maxPending
		if _, err := d.File(t.Context(), Request{Bound: b}); cutroom.AsError(err).Code != cutroom.Limit {
			t.Errorf("%v", err)
		}
		b.Principal.Name = "other"
		d.file(b)
		d.pass(waitFor)
		b.Principal = cutroom.Agent
		d.file(b) // what nobody decided is over
	})
}

// TestNetworkLife: an approval for a destination lives fifteen minutes at most,
// whatever was asked for.
func TestNetworkLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		b.Destination, b.MaxBytes = "https://example.com", 1<<20
		seal, err := d.Seal(nil, b.Digest(), "operator")
		if err != nil {
			t.Fatal(err)
		}
		a, err := d.Approve(WithSeal(t.Context(), seal), cutroom.Operator, d.file(b).ID, 10*time.Hour)
		if err != nil || a.Expires.Sub(a.Decided) != NetworkLife {
			t.Fatalf("%s, %v", a.Expires.Sub(a.Decided), err)
		}
		d.pass(NetworkLife - time.Millisecond)
		p, _, err := d.Find(t.Context(), Candidate{Bound: b})
		if err != nil || p.ID != a.ID {
			t.Fatalf("%v, %v", p, err)
		}
		d.pass(time.Millisecond) // between finding and spending
		if err := d.Spend(t.Context(), Candidate{Bound: b}, p); err == nil {
			t.Error("spent at its end")
		}
	})
}

// TestClockALittleBack: clocks of one database may lie seconds apart; nothing lives
// longer by that.
func TestClockALittleBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		d.approve(b, d.file(b).ID)
		d.pass(time.Hour)
		other := b
		other.Arguments = digest("other")
		d.file(other) // records the time
		d.pass(-2 * time.Second)
		if _, why := d.try(b); !strings.Contains(why, "expired") {
			t.Errorf("%q", why)
		}
		d.file(b)
	})
}

// TestReset: with a new key nothing counts that the old one signed, and a clock that
// was wrong before is forgiven.
func TestReset(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		b := overwriting()
		d.approve(b, d.file(b).ID)
		if _, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour); err != nil {
			t.Fatal(err)
		}
		old := d.row(d.file(b).ID)
		if err := d.keys.SetPassphrase(nil, []byte("long enough")); err != nil {
			t.Fatal(err)
		}
		if _, err := d.RevokeBefore(t.Context(), cutroom.Operator, d.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		d.pass(-time.Hour)
		if _, err := d.File(t.Context(), Request{Bound: b}); cutroom.AsError(err).Code != cutroom.Denied {
			t.Errorf("%v", err)
		}
		if err := d.Reset(t.Context(), cutroom.Agent); cutroom.AsError(err).Code != cutroom.Denied {
			t.Errorf("%v", err)
		}
		var notes []cutroom.AuditEvent
		d.Note = func(_ context.Context, _ *sql.Tx, e cutroom.AuditEvent) error {
			notes = append(notes, e)
			return nil
		}
		if err := d.Reset(t.Context(), cutroom.Operator); err != nil || len(notes) != 1 || notes[0].Type != cutroom.AuditKeyRotated {
			t.Fatal(err, notes)
		}
		d.exec(`update approval set state = 'approved', ended = 0, signature = $1, decided = requested - 3600000, expires = expires + 3600000 where id = $2`, old.signature, old.ID)
		if _, why := d.try(b); !strings.Contains(why, "was signed by another key") {
			t.Errorf("%q", why)
		}
		if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != "" {
			t.Errorf("%v, %v", p, err)
		}
		d.approve(b, d.file(b).ID)
		if _, why := d.try(b); why != "" {
			t.Error(why)
		}
	})
}

// TestDecisionsAreNoted: each decision is one row of the audit, or is not made.
func TestDecisionsAreNoted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		var notes []string
		var broken error
		d.Note = func(_ context.Context, _ *sql.Tx, e cutroom.AuditEvent) error {
			notes = append(notes, string(e.Type)+" "+e.Detail)
			return broken
		}
		b := overwriting()
		a := d.file(b)
		broken = errors.New("the disk is full")
		seal, err := d.Seal(nil, b.Digest(), "operator")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Approve(WithSeal(t.Context(), seal), cutroom.Operator, a.ID, 0); err == nil {
			t.Error("approved without a note")
		}
		if _, why := d.try(b); why != "none: " {
			t.Errorf("%q", why)
		}
		broken, notes = nil, nil
		d.approve(b, a.ID)
		if _, err := d.Revoke(t.Context(), cutroom.Operator, a.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Deny(t.Context(), cutroom.Operator, d.file(b).ID); err != nil {
			t.Fatal(err)
		}
		g, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.RevokeGrant(t.Context(), cutroom.Operator, g.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := d.RevokeBefore(t.Context(), cutroom.Operator, d.Now()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"approval.decided approved for agent", "approval.revoked revoked for agent", "approval.decided denied for agent",
			"grant.changed made for agent, 2 calls", "grant.changed taken back", "approval.revoked 0, 0 grants among them, all up to 2027-01-15T08:00:00Z",
		}
		if !slices.Equal(notes, want) {
			t.Errorf("%q", notes)
		}
	})
}
