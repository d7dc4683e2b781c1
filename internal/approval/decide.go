package approval

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// Seal is the power to approve one call, which a door makes after the operator saw
// the sheet and gave the passphrase. Nobody decides without one.
type Seal struct {
	signer *Signer
	bound  cutroom.Digest
	by     string
}

// Seal returns the power to approve the call with that bound, which the door has just
// made anew and shown. by is the person, or the host that asked one.
func (b *Book) Seal(passphrase []byte, bound cutroom.Digest, by string) (*Seal, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // a look at the database
	defer cancel()
	s, err := b.unlock(ctx, passphrase)
	if err != nil {
		return nil, err
	}
	return &Seal{s, bound, by}, nil
}

type sealKey struct{}

// WithSeal hands a seal to the call that decides, through everything in between.
func WithSeal(ctx context.Context, s *Seal) context.Context {
	return context.WithValue(ctx, sealKey{}, s)
}

// Decide does what the operator says. It returns the request, or how many were taken
// back at once.
func (b *Book) Decide(ctx context.Context, who cutroom.Principal, v cutroom.Verdict) (cutroom.Approval, int64, error) {
	if v.Say == cutroom.SayRevoke && !v.Before.IsZero() {
		n, err := b.RevokeBefore(ctx, who, v.Before)
		return cutroom.Approval{}, n, err
	}
	var a cutroom.Approval
	var err error
	switch v.Say {
	case cutroom.SayApprove:
		a, err = b.Approve(ctx, who, v.ID, v.Life)
	case cutroom.SayDeny:
		a, err = b.Deny(ctx, who, v.ID)
	case cutroom.SayRevoke:
		a, err = b.Revoke(ctx, who, v.ID)
	default:
		err = cutroom.Errorf(cutroom.Invalid, "%q is no decision", short(v.Say)).WithHint("use approve, deny or revoke")
	}
	return a, 1, err
}

// Approve allows the request id for life, 0 for the usual one. Of several processes
// that decide at once exactly one does. What was approved once and refused since is
// allowed under an id of its own, which is returned.
func (b *Book) Approve(ctx context.Context, who cutroom.Principal, id string, life time.Duration) (cutroom.Approval, error) {
	seal, _ := ctx.Value(sealKey{}).(*Seal)
	if who.Role != cutroom.RoleOperator || seal == nil {
		return cutroom.Approval{}, cutroom.Errorf(cutroom.Denied, "only the operator approves, on a terminal").
			WithHint("run `cutroom approve %s` on a terminal of your own", short(id))
	}
	var done *row
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		r, err := b.mine(ctx, tx, who, id)
		if err != nil {
			return err
		}
		if r.digest != seal.bound || r.bound.Digest() != seal.bound || r.ID != idOf(r.digest, r.round) {
			return cutroom.Errorf(cutroom.Conflict, "the request %s is not the call that was shown", r.ID).
				WithHint("look at it again with `cutroom approvals show %s`", r.ID)
		}
		if r.State == cutroom.ApprovalDenied && b.marks.used(r.ID) && now.Before(r.Expires) {
			if r, err = b.again(ctx, tx, r, now); err != nil {
				return err
			}
		}
		if !now.Before(r.Expires) || !slices.Contains([]cutroom.ApprovalState{cutroom.ApprovalPending, cutroom.ApprovalDenied}, r.State) || b.marks.used(r.ID) {
			return notOpen(r, now)
		}
		was := r.State
		r.By, r.role, r.Decided = seal.by, who.Role, now
		r.Expires = now.Add(b.term(life, r.bound.Network()))
		r.signedBy, r.signature = fingerprint(seal.signer.Public()), seal.signer.sign(r.signed())
		won, err := changed(tx.ExecContext(ctx, `update approval set state = $1, decided = $2, decided_by = $3, decided_role = $4, expires = $5, signed_by = $6, signature = $7, ended = 0
			where id = $8 and state = $9`,
			string(cutroom.ApprovalApproved), now.UnixMilli(), r.By, string(r.role), r.Expires.UnixMilli(), r.signedBy, r.signature, r.ID, string(was)))
		if err != nil {
			return err
		}
		if !won {
			return decidedMeanwhile(r.ID)
		}
		r.State, done = cutroom.ApprovalApproved, r
		return errorsOf(tick(ctx, tx, now), b.note(ctx, tx, decided(r, cutroom.AuditApprovalDecided, who)))
	})
	if err != nil {
		return cutroom.Approval{}, err
	}
	return done.Approval, nil
}

// again files anew what was approved once and then refused: that approval's id stays used
// up. Another round of the same call is returned as it is.
func (b *Book) again(ctx context.Context, tx *sql.Tx, r *row, now time.Time) (*row, error) {
	newest, err := latest(ctx, tx, r.digest)
	if err != nil || newest == nil || newest.ID != r.ID {
		return r, err
	}
	request := Request{Bound: r.bound, Input: r.Input, PlanFirst: r.PlanFirst, Why: r.Why, Sheet: r.Sheet}
	if err := insert(ctx, tx, request, r.round+1, now); err != nil {
		return r, err
	}
	return latest(ctx, tx, r.digest)
}

// decided is a decision as a row of the audit.
func decided(r *row, kind cutroom.AuditType, who cutroom.Principal) cutroom.AuditEvent {
	return cutroom.AuditEvent{Type: kind, Principal: who, Tool: r.Tool, Approval: r.ID, Detail: string(r.State) + " for " + r.Principal.Name}
}

// term is how long an approval lives that was asked to live that long.
func (b *Book) term(life time.Duration, network bool) time.Duration {
	longest := LongestLife
	if network {
		longest = NetworkLife
	}
	if life <= 0 {
		return b.life(network)
	}
	return min(life, longest)
}

// Deny refuses the request id, also one that was approved and is not spent yet.
func (b *Book) Deny(ctx context.Context, who cutroom.Principal, id string) (cutroom.Approval, error) {
	return b.close(ctx, who, id, cutroom.ApprovalDenied, cutroom.ApprovalPending, cutroom.ApprovalApproved)
}

// Revoke takes the request or approval id back.
func (b *Book) Revoke(ctx context.Context, who cutroom.Principal, id string) (cutroom.Approval, error) {
	return b.close(ctx, who, id, cutroom.ApprovalRevoked, cutroom.ApprovalPending, cutroom.ApprovalApproved, cutroom.ApprovalDenied)
}

// close ends a request that is in one of the states from.
func (b *Book) close(ctx context.Context, who cutroom.Principal, id string, to cutroom.ApprovalState, from ...cutroom.ApprovalState) (cutroom.Approval, error) {
	if who.Role != cutroom.RoleOperator {
		return cutroom.Approval{}, cutroom.Errorf(cutroom.Denied, "only the operator decides about approvals")
	}
	var done *row
	var signed bool
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		r, err := b.mine(ctx, tx, who, id)
		if err != nil {
			return err
		}
		signed = r.signature != ""
		if !slices.Contains(from, r.State) {
			return notOpen(r, now)
		}
		until, input := r.Expires, string(r.Input)
		if to == cutroom.ApprovalRevoked {
			input = ""
		}
		if to == cutroom.ApprovalDenied {
			until = now.Add(waitFor)
		}
		won, err := changed(tx.ExecContext(ctx, `update approval set state = $1, decided = $2, decided_by = $3, decided_role = $4, ended = $2, expires = $5, signature = '', input = $8 where id = $6 and state = $7`,
			string(to), now.UnixMilli(), who.Name, string(who.Role), until.UnixMilli(), r.ID, string(r.State), input))
		if err != nil {
			return err
		}
		if !won {
			return decidedMeanwhile(r.ID)
		}
		r.State, r.Decided, r.Ended, r.By, r.Expires, done = to, now, now, who.Name, until, r
		kind := cutroom.AuditApprovalDecided
		if to == cutroom.ApprovalRevoked {
			kind = cutroom.AuditApprovalRevoked
		}
		return errorsOf(tick(ctx, tx, now), b.note(ctx, tx, decided(r, kind, who)))
	})
	if err != nil {
		return cutroom.Approval{}, err
	}
	if !signed {
		return done.Approval, nil
	}
	// The row alone is not trusted to stay as it is.
	if _, err := b.marks.use(done.ID, done.Requested.Add(waitFor+LongestLife)); err != nil {
		return done.Approval, cutroom.Errorf(cutroom.Precondition, "the approval was taken back in the database alone").WithCause(err).
			WithHint("check that the state folder may be written (`cutroom doctor` names it)")
	}
	return done.Approval, nil
}

// RevokeBefore takes back every request, approval and grant that was decided, asked for
// or made up to t, in every workspace. It returns how many.
func (b *Book) RevokeBefore(ctx context.Context, who cutroom.Principal, t time.Time) (int64, error) {
	if who.Role != cutroom.RoleOperator {
		return 0, cutroom.Errorf(cutroom.Denied, "only the operator decides about approvals")
	}
	var n int64
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		if t.After(now) {
			t = now
		}
		// The floor holds whatever becomes of the rows, so it comes first.
		if err := b.marks.raise(t); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `update approval set state = $1, ended = $2, signature = '', input = '' where (state = $3 and decided <= $4) or (state = $5 and requested <= $4)`,
			string(cutroom.ApprovalRevoked), now.UnixMilli(), string(cutroom.ApprovalApproved), t.UnixMilli(), string(cutroom.ApprovalPending))
		if err != nil {
			return err
		}
		if n, err = r.RowsAffected(); err != nil {
			return err
		}
		r, err = tx.ExecContext(ctx, `update automation_grant set revoked = $1 where revoked = 0 and created <= $2 and expires > $1`, now.UnixMilli(), t.UnixMilli())
		if err != nil {
			return err
		}
		granted, err := r.RowsAffected()
		n += granted
		return errorsOf(err, tick(ctx, tx, now), b.note(ctx, tx, cutroom.AuditEvent{
			Type: cutroom.AuditApprovalRevoked, Principal: who, Detail: fmt.Sprintf("%d, %d grants among them, all up to %s", n, granted, t.UTC().Format(time.RFC3339)),
		}))
	})
	return n, err
}

func notOpen(r *row, now time.Time) error {
	state := string(r.State)
	if !now.Before(r.Expires) && r.State == cutroom.ApprovalPending {
		state = string(cutroom.ApprovalExpired)
	}
	return cutroom.Errorf(cutroom.Conflict, "the request %s is %s", r.ID, state).
		WithHint("`cutroom approvals` lists what waits; a call that is made again asks again")
}

func decidedMeanwhile(id string) error {
	return cutroom.Errorf(cutroom.Conflict, "the request %s was decided by another at the same moment", id).
		WithHint("`cutroom approvals show %s` says how", id)
}

// mine reads a request that the principal may see: the operator all, others their own.
func (b *Book) mine(ctx context.Context, q querier, who cutroom.Principal, id string) (*row, error) {
	r, err := one(ctx, q, `id = $1`, id)
	if err != nil {
		return nil, err
	}
	if r == nil || who.Role != cutroom.RoleOperator && r.Principal != who {
		return nil, cutroom.Errorf(cutroom.NotFound, "there is no request %q", short(id)).WithHint("`cutroom approvals` lists them")
	}
	return r, nil
}

// Get returns one request as the principal may see it.
func (b *Book) Get(ctx context.Context, who cutroom.Principal, id string) (cutroom.Approval, error) {
	db, err := b.Open(ctx)
	if err != nil {
		return cutroom.Approval{}, err
	}
	r, err := b.mine(ctx, db, who, id)
	if err != nil {
		return cutroom.Approval{}, store.Fault(err)
	}
	return b.shown(r), nil
}

// List returns the newest requests first, at most max, in the given states or in all:
// the operator's of every workspace, another principal's of its own.
func (b *Book) List(ctx context.Context, who cutroom.Principal, workspace string, max int, states ...cutroom.ApprovalState) ([]cutroom.Approval, error) {
	db, err := b.Open(ctx)
	if err != nil {
		return nil, err
	}
	where, args := `1 = 1`, []any{}
	if who.Role != cutroom.RoleOperator {
		where, args = `principal_name = $1 and principal_role = $2 and workspace = $3`, []any{who.Name, string(who.Role), workspace}
	}
	rows, err := many(ctx, db, where+` order by requested desc, id limit 1000`, args...)
	if err != nil {
		return nil, store.Fault(err)
	}
	list := []cutroom.Approval{}
	for _, r := range rows {
		a := b.shown(r)
		if len(list) < max && (len(states) == 0 || slices.Contains(states, a.State)) {
			list = append(list, a)
		}
	}
	return list, nil
}

// shown is a row as people see it: what ran out meanwhile is over.
func (b *Book) shown(r *row) cutroom.Approval {
	a := r.Approval
	if (a.State == cutroom.ApprovalPending || a.State == cutroom.ApprovalApproved) && !b.Now().Before(a.Expires) {
		a.State, a.Ended = cutroom.ApprovalExpired, a.Expires
	}
	return a
}

// short is the beginning of what a caller gave for an id.
func short(id string) string {
	if r := []rune(id); len(r) > 32 {
		return string(r[:32]) + "…"
	}
	return id
}
