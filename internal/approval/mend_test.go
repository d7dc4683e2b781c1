package approval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// TestUsedUpGrantAsks: a grant whose uses the marks alone still know, as after a backup
// was put back, does not stand between the call and a new request.
func TestUsedUpGrantAsks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		g := standing()
		g.Uses = 1
		g, err := d.Grant(t.Context(), cutroom.Operator, nil, g, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := d.Find(t.Context(), covered())
		if err != nil || p.ID != g.ID {
			t.Fatalf("%+v, %v", p, err)
		}
		if err := d.Spend(t.Context(), covered(), p); err != nil {
			t.Fatal(err)
		}
		d.exec(`update automation_grant set used = 0 where id = $1`, g.ID)
		if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != "" {
			t.Errorf("found %+v, %v", p, err)
		}
		if a := d.file(covered().Bound); a.State != cutroom.ApprovalPending {
			t.Errorf("the request is %s", a.State)
		}
		more, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != more.ID {
			t.Errorf("the grant beside it is not found: %+v, %v", p, err)
		}
	})
}

// TestNearestTellsOnlyOfOnesOwn: what comes near is told of the same principal and
// workspace, and of what was signed.
func TestNearestTellsOnlyOfOnesOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		other := func(change func(*Bound)) Bound {
			b := overwriting()
			b.Arguments = digest("others")
			change(&b)
			return b
		}
		why := func() string {
			t.Helper()
			p, why, err := d.Find(t.Context(), Candidate{Bound: overwriting()})
			if err != nil || p.ID != "" {
				t.Fatalf("%+v, %v", p, err)
			}
			return why
		}
		for name, b := range map[string]Bound{
			"workspace": other(func(b *Bound) { b.Workspace = "/secret" }),
			"principal": other(func(b *Bound) { b.Principal.Name = "somebody" }),
			"role":      other(func(b *Bound) { b.Principal = cutroom.Operator }),
		} {
			a := d.file(b)
			d.approve(b, a.ID)
			if w := why(); w != "" {
				t.Errorf("%s: %q", name, w)
			}
			// Nor when its row says that it is the caller's.
			d.exec(`update approval set workspace = '/w', principal_name = 'agent', principal_role = 'agent' where id = $1`, a.ID)
			if w := why(); w != "" {
				t.Errorf("%s, forged: %q", name, w)
			}
		}
		mine := other(func(*Bound) {})
		a := d.file(mine)
		d.exec(`update approval set state = 'approved', decided = requested, decided_role = 'operator' where id = $1`, a.ID)
		if w := why(); w != "" {
			t.Errorf("never signed: %q", w)
		}
		d.exec(`update approval set state = 'pending', decided = 0 where id = $1`, a.ID)
		d.approve(mine, a.ID)
		if why() == "" {
			t.Error("one's own is not told")
		}
	})
}

// TestRevokeBeforeTakesGrants: the emergency stop stops grants as well, also where
// somebody sets their rows back; those that are made after it hold.
func TestRevokeBeforeTakesGrants(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		g, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		d.pass(time.Second)
		if n, err := d.RevokeBefore(t.Context(), cutroom.Operator, d.Now()); err != nil || n != 1 {
			t.Errorf("%d, %v", n, err)
		}
		for range 2 {
			if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != "" {
				t.Errorf("found %+v, %v", p, err)
			}
			d.exec(`update automation_grant set revoked = 0 where id = $1`, g.ID)
		}
		d.pass(time.Second)
		next, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != next.ID {
			t.Errorf("found %+v, %v", p, err)
		}
		d.exec(`update automation_grant set uses = 9000 where id = $1`, next.ID)
		list, err := d.Grants(t.Context(), cutroom.Operator)
		if err != nil || len(list) != 2 || list[0].Fault != "is not as it was signed" || list[1].Fault != "was taken back" {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// TestLostKey: a key that is gone is not replaced by one without a passphrase, as long
// as a file beside it or the database knows of it.
func TestLostKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		// Taking all back before anything was signed is no sign of a key.
		if _, err := d.RevokeBefore(t.Context(), cutroom.Operator, d.Now()); err != nil {
			t.Fatal(err)
		}
		d.pass(time.Second)
		if _, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour); err != nil {
			t.Fatal(err)
		}
		refused := func(what string) {
			t.Helper()
			_, err := d.Seal(nil, overwriting().Digest(), "operator")
			if e := cutroom.AsError(err); e.Code != cutroom.Precondition || !strings.Contains(e.Hint, "--reset") {
				t.Errorf("%s: %v", what, err)
			}
			if present, _, err := d.Keys().Present(); present || err != nil {
				t.Errorf("%s: a key was made, %v", what, err)
			}
		}
		remove := func(name string) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(d.Folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		remove(privateName)
		refused("the private half")
		remove(publicName)
		refused("both halves")
		remove("approval")
		if store.DialectOf(d.db) == store.SQLite {
			refused("the marks as well")
		}
		d.exec(`delete from automation_grant`)
		if _, err := d.Seal(nil, overwriting().Digest(), "operator"); err != nil {
			t.Errorf("the first key: %v", err)
		}
		remove(privateName)
		remove(publicName)
		refused("the marks alone know")
		if err := d.Reset(t.Context(), cutroom.Operator); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Seal(nil, overwriting().Digest(), "operator"); err != nil {
			t.Error(err)
		}
	})
}
