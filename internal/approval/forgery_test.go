package approval

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
)

// TestForgery: whatever is done to an approval, or to the call, the answer is no, with
// the reason.
func TestForgery(t *testing.T) {
	t.Parallel()
	for name, forgery := range map[string]struct {
		forge func(d *desk, b *Bound, id string)
		why   string
	}{
		"edited row": {func(d *desk, _ *Bound, id string) {
			d.exec(`update approval set expires = expires + 3600000 where id = $1`, id)
		}, "is not as it was signed"},
		"edited decider": {func(d *desk, _ *Bound, id string) {
			d.exec(`update approval set decided_by = 'someone' where id = $1`, id)
		}, "is not as it was signed"},
		"copied id": {func(d *desk, b *Bound, id string) { // an approval's columns put over another request
			other := *b
			other.Arguments = digest("other")
			victim := d.file(other)
			d.exec(`delete from approval where id = $1`, victim.ID)
			d.exec(`update approval set bound = $1, id = $2 where id = $3`, string(other.Digest()), victim.ID, id)
			*b = other
		}, "is not as it was signed"},
		"copied id, kept id": {func(d *desk, b *Bound, id string) {
			b.Arguments = digest("other")
			d.exec(`update approval set bound = $1 where id = $2`, string(b.Digest()), id)
		}, "was given for another call"},
		"other arguments":   {func(_ *desk, b *Bound, _ string) { b.Arguments = digest("other") }, "for other arguments"},
		"other input bytes": {func(_ *desk, b *Bound, _ string) { b.Inputs = []cutroom.Digest{digest("other")} }, "for other content of an input"},
		"other output":      {func(_ *desk, b *Bound, _ string) { b.Outputs = []Output{{Path: "/w/x.mp4"}} }, "for another file at an output"},
		"other file there":  {func(_ *desk, b *Bound, _ string) { b.Outputs = []Output{{b.Outputs[0].Path, digest("newer")}} }, "for another file at an output"},
		"other principal":   {func(_ *desk, b *Bound, _ string) { b.Principal.Name = "other" }, "none: "},
		"other role":        {func(_ *desk, b *Bound, _ string) { b.Principal.Role = cutroom.RoleOperator }, "none: "},
		"other workspace":   {func(_ *desk, b *Bound, _ string) { b.Workspace = "/v" }, "none: "},
		"other programs":    {func(_ *desk, b *Bound, _ string) { b.Run = digest("newer") }, "for other programs or settings"},
		"policy changed":    {func(_ *desk, b *Bound, _ string) { b.Policy = digest("newer") }, "under another policy"},
		"other destination": {func(_ *desk, b *Bound, _ string) { b.Destination = "https://example.com" }, "for another destination"},
		"expired":           {func(d *desk, _ *Bound, _ string) { d.pass(time.Hour) }, "expired at 2027-01-15T"},
		"clock set back":    {func(d *desk, _ *Bound, _ string) { d.pass(-time.Minute) }, "the clock was set back"},
		"used twice":        {func(d *desk, b *Bound, _ string) { d.try(*b) }, "was used already"},
		"used and set back": {func(d *desk, b *Bound, id string) {
			d.try(*b)
			d.exec(`update approval set state = 'approved', ended = 0 where id = $1`, id)
		}, "was used already"},
		"revoked":            {func(d *desk, _ *Bound, id string) { _, _ = d.Revoke(d.t.Context(), cutroom.Operator, id) }, "was taken back"},
		"revoked, row saved": {revokeAndRestore, "was used already"},
		"all revoked, row saved": {func(d *desk, _ *Bound, id string) {
			r := d.row(id)
			if n, err := d.RevokeBefore(d.t.Context(), cutroom.Operator, d.Now()); err != nil || n != 1 {
				d.t.Errorf("%d, %v", n, err)
			}
			d.exec(`update approval set state = 'approved', ended = 0, signature = $1 where id = $2`, r.signature, id)
		}, "was taken back with all others"},
		"decided by the model": {func(d *desk, _ *Bound, id string) {
			r := d.row(id)
			r.By, r.role = cutroom.Agent.Name, cutroom.RoleAgent
			d.exec(`update approval set decided_by = $1, decided_role = $2, signature = $3 where id = $4`, r.By, string(r.role), d.signer().sign(r.signed()), id)
		}, "was not decided by the operator"},
		"signed by another key": {func(d *desk, _ *Bound, id string) {
			other, r := stranger(d.t), d.row(id)
			d.exec(`update approval set signed_by = $1, signature = $2 where id = $3`, fingerprint(other.Public()), other.sign(r.signed()), id)
		}, "was signed by another key"},
		"another key's signature under our name": {func(d *desk, _ *Bound, id string) {
			d.exec(`update approval set signature = $1 where id = $2`, stranger(d.t).sign(d.row(id).signed()), id)
		}, "is not as it was signed"},
		"no signature": {func(d *desk, b *Bound, id string) {
			b.Arguments = digest("other")
			d.exec(`update approval set state = 'approved', decided_role = 'operator' where id = $1`, d.file(*b).ID)
		}, "was signed by another key"},
		"decided in the future": {func(d *desk, _ *Bound, id string) {
			r := d.row(id)
			r.Decided, r.Expires = r.Decided.Add(time.Minute), r.Expires.Add(time.Minute)
			d.exec(`update approval set decided = $1, expires = $2, signature = $3 where id = $4`, r.Decided.UnixMilli(), r.Expires.UnixMilli(), d.signer().sign(r.signed()), id)
		}, "was decided in the future"},
		"lives too long": {func(d *desk, _ *Bound, id string) {
			r := d.row(id)
			r.Expires = r.Decided.Add(LongestLife + time.Minute)
			d.exec(`update approval set expires = $1, signature = $2 where id = $3`, r.Expires.UnixMilli(), d.signer().sign(r.signed()), id)
		}, "lives longer than an approval may"},
		"broken signature": {func(d *desk, _ *Bound, id string) {
			d.exec(`update approval set signature = $1 where id = $2`, base64.StdEncoding.EncodeToString([]byte("short")), id)
		}, "is not as it was signed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d *desk) {
				b := overwriting()
				a := d.file(b)
				d.approve(b, a.ID)
				d.pass(time.Second)
				forgery.forge(d, &b, a.ID)
				if p, why := d.try(b); why == "" || !strings.Contains(why, forgery.why) {
					t.Errorf("%v: %q, want %q", p, why, forgery.why)
				}
			})
		})
	}
}

func (d *desk) row(id string) *row {
	d.t.Helper()
	r, err := one(d.t.Context(), d.db, `id = $1`, id)
	if err != nil || r == nil {
		d.t.Fatalf("%s: %v", id, err)
	}
	return r
}

func (d *desk) signer() *Signer {
	d.t.Helper()
	s, err := d.keys.Unlock(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func stranger(t testing.TB) *Signer {
	t.Helper()
	s, err := Keys{filepath.Join(t.TempDir(), "keys")}.Unlock(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func revokeAndRestore(d *desk, _ *Bound, id string) {
	r := d.row(id)
	if _, err := d.Revoke(d.t.Context(), cutroom.Operator, id); err != nil {
		d.t.Error(err)
	}
	d.exec(`update approval set state = 'approved', ended = 0, signature = $1, decided = $2, expires = $3, decided_by = $4 where id = $5`,
		r.signature, r.Decided.UnixMilli(), r.Expires.UnixMilli(), r.By, id)
}
