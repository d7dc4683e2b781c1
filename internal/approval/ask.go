package approval

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cutroom"
)

// Request is a call that a person has to allow.
type Request struct {
	Bound
	Input     []byte // JSON of the call
	PlanFirst bool   // the caller wants it, the policy would not ask
	Why       string // why a person has to decide
	Sheet     cutroom.Sheet
}

// Pass is what allows one call: an approval, or one use of a grant. The zero pass
// allows nothing.
type Pass struct {
	ID    string
	grant bool
}

// Grant says that the pass is one use of a grant, not an approval.
func (p Pass) Grant() bool { return p.grant }

// Candidate is a call that looks for what allows it.
type Candidate struct {
	Bound
	Input     []byte   // JSON of the request with its defaults, for the bounds of grants
	Files     []string // absolute paths of what it reads and writes
	PlanFirst bool     // only an approval of this very plan will do
}

// Find returns what allows exactly this call now. When nothing does, the second result
// says why what comes near does not count, "" when nothing does come near. An answer
// of the person's that was no is an error.
func (b *Book) Find(ctx context.Context, c Candidate) (Pass, string, error) {
	var pass Pass
	var why string
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		r, err := latest(ctx, tx, c.Digest())
		if err != nil {
			return err
		}
		if r != nil {
			if why, err = b.settle(ctx, tx, r, c.Bound, now); err != nil {
				return err
			}
			switch r.State {
			case cutroom.ApprovalApproved:
				pass = Pass{ID: r.ID}
				return nil
			case cutroom.ApprovalDenied:
				if now.Before(r.Expires) {
					return denied(r)
				}
			}
		}
		if c.PlanFirst {
			return nil // a grant has seen no plan
		}
		if pass, err = b.granted(ctx, tx, c, now); err != nil || pass.ID != "" {
			return err
		}
		if why == "" {
			why, err = b.nearest(ctx, tx, c.Bound, now)
		}
		return err
	})
	return pass, why, err
}

// settle brings a row up to date: what is over ends, and what is not as it was signed
// is void. It says why an approval does not count.
func (b *Book) settle(ctx context.Context, tx *sql.Tx, r *row, bound Bound, now time.Time) (string, error) {
	name := "the approval " + r.ID
	switch r.State {
	case cutroom.ApprovalPending:
		if now.Before(r.Expires) {
			return "", nil
		}
		return "", errorsOf(end(ctx, tx, r, cutroom.ApprovalExpired, now), tick(ctx, tx, now))
	case cutroom.ApprovalApproved:
		fault, err := b.fault(r, bound, now)
		if err != nil || fault == "" {
			return "", err
		}
		state := cutroom.ApprovalVoid
		if !now.Before(r.Expires) {
			state = cutroom.ApprovalExpired
		}
		b.Log.Warn("approval", "id", r.ID, "tool", r.Tool, "fault", fault)
		return name + " " + fault, errorsOf(end(ctx, tx, r, state, now), tick(ctx, tx, now))
	case cutroom.ApprovalSpent:
		return name + " was used already", nil
	case cutroom.ApprovalRevoked:
		return name + " was taken back", nil
	case cutroom.ApprovalVoid:
		return name + " was changed after it was signed", nil
	case cutroom.ApprovalExpired:
		if r.signature != "" {
			return name + " expired", nil
		}
	}
	return "", nil
}

// denied is the person's no.
func denied(r *row) error {
	return cutroom.Errorf(cutroom.Denied, "the operator refused this very call (%s)", r.ID).
		WithHint("do something else; the operator can still change that with `cutroom approve %s`", r.ID).WithApproval(r.ID)
}

// latest returns the newest request for that very call, nil when there is none.
func latest(ctx context.Context, q querier, bound cutroom.Digest) (*row, error) {
	return one(ctx, q, `bound = $1 order by round desc limit 1`, string(bound))
}

// nearest says how the live approval of the same principal and workspace that comes
// nearest differs from a call. A row that is not as it was signed says nothing.
func (b *Book) nearest(ctx context.Context, q querier, bound Bound, now time.Time) (string, error) {
	rows, err := many(ctx, q, `tool = $1 and state = $2 and expires > $3 and principal_name = $4 and principal_role = $5 and workspace = $6 order by decided desc limit 20`,
		bound.Tool, string(cutroom.ApprovalApproved), now.UnixMilli(), bound.Principal.Name, string(bound.Principal.Role), bound.Workspace)
	best, text := 0, ""
	for _, r := range rows {
		if r.bound.Principal != bound.Principal || r.bound.Workspace != bound.Workspace || r.bound.Tool != bound.Tool {
			continue // the row says otherwise than what was signed
		}
		fault, err := b.fault(r, r.bound, now)
		if err != nil {
			return "", err
		}
		if fault != "" {
			continue
		}
		if d := bound.distance(r.bound); text == "" || d < best {
			if how := r.bound.differs(bound); how != "" {
				best, text = d, fmt.Sprintf("the approval %s is %s", r.ID, how)
			}
		}
	}
	return text, err
}

// File writes a request down, or returns the one that waits already: the same call is
// the same request.
func (b *Book) File(ctx context.Context, r Request) (cutroom.Approval, error) {
	var filed *row
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		old, err := latest(ctx, tx, r.Digest())
		if err != nil {
			return err
		}
		round := int64(0)
		if old != nil {
			if _, err := b.settle(ctx, tx, old, r.Bound, now); err != nil {
				return err
			}
			switch old.State {
			case cutroom.ApprovalPending, cutroom.ApprovalApproved:
				filed = old
				return nil
			case cutroom.ApprovalDenied:
				if now.Before(old.Expires) {
					return denied(old)
				}
			}
			round = old.round + 1
		}
		if err := b.room(ctx, tx, r.Bound, now); err != nil {
			return err
		}
		if err := insert(ctx, tx, r, round, now); err != nil {
			return err
		}
		filed, err = latest(ctx, tx, r.Digest()) // ours, or that of a process which was first
		return errorsOf(err, tick(ctx, tx, now))
	})
	if err != nil {
		return cutroom.Approval{}, err
	}
	if filed == nil {
		return cutroom.Approval{}, fmt.Errorf("the request for %s was not kept", r.Tool)
	}
	return filed.Approval, nil
}

// room refuses a principal whose requests pile up, and forgets what ended long ago.
func (b *Book) room(ctx context.Context, tx *sql.Tx, bound Bound, now time.Time) error {
	ms := now.UnixMilli()
	if _, err := tx.ExecContext(ctx, `update approval set state = $1, ended = expires, input = '' where state in ($2, $3) and expires <= $4`,
		string(cutroom.ApprovalExpired), string(cutroom.ApprovalPending), string(cutroom.ApprovalApproved), ms); err != nil {
		return err
	}
	old := now.Add(-keepFor).UnixMilli()
	if _, err := tx.ExecContext(ctx, `delete from approval where ended > 0 and ended < $1`, old); err != nil {
		return err
	}
	b.marks.sweep(now.Add(-keepFor))
	var waiting int
	err := tx.QueryRowContext(ctx, `select count(*) from approval where state = $1 and principal_name = $2 and principal_role = $3 and workspace = $4`,
		string(cutroom.ApprovalPending), bound.Principal.Name, string(bound.Principal.Role), bound.Workspace).Scan(&waiting)
	if err == nil && waiting >= maxPending {
		err = cutroom.Errorf(cutroom.Limit, "%d calls of %s wait for a person already", waiting, bound.Principal.Name).
			WithHint("have the operator decide some: `cutroom approvals`")
	}
	return err
}

// insert writes a new row; one of the same round that is there already stays.
func insert(ctx context.Context, tx *sql.Tx, r Request, round int64, now time.Time) error {
	digest := r.Digest()
	plan := 0
	if r.PlanFirst {
		plan = 1
	}
	_, err := tx.ExecContext(ctx, `insert into approval (id, bound, round, state, principal_name, principal_role, workspace, tool, call, input, plan_first, why, sheet, requested, expires)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) on conflict do nothing`,
		idOf(digest, round), string(digest), round, string(cutroom.ApprovalPending), r.Principal.Name, string(r.Principal.Role), r.Workspace, r.Tool,
		encode(r.Bound), string(r.Input), plan, r.Why, encode(r.Sheet), now.UnixMilli(), now.Add(waitFor).UnixMilli())
	return err
}

// Spend uses a pass up. Of all processes that try it exactly one succeeds, and none
// after the pass ended: everything is checked again in the same transaction.
func (b *Book) Spend(ctx context.Context, c Candidate, p Pass) error {
	if p.grant {
		return b.spendGrant(ctx, c, p)
	}
	var until time.Time
	err := b.within(ctx, func(tx *sql.Tx, now time.Time) error {
		r, err := one(ctx, tx, `id = $1`, p.ID)
		if err != nil {
			return err
		}
		if r == nil || r.State != cutroom.ApprovalApproved {
			return tooLate(p.ID, "was used or taken back at the same moment")
		}
		fault, err := b.fault(r, c.Bound, now)
		if err != nil {
			return err
		}
		if fault != "" {
			return tooLate(p.ID, fault)
		}
		until = r.Expires
		won, err := changed(tx.ExecContext(ctx, `update approval set state = $1, ended = $2, run = $3, input = '' where id = $4 and state = $5 and signature = $6`,
			string(cutroom.ApprovalSpent), now.UnixMilli(), string(c.Run), r.ID, string(cutroom.ApprovalApproved), r.signature))
		if err != nil {
			return err
		}
		if !won {
			return tooLate(p.ID, "was used at the same moment")
		}
		return tick(ctx, tx, now)
	})
	if err != nil {
		return err
	}
	return b.mark(p.ID, until)
}

// mark notes a use outside of the database as well.
func (b *Book) mark(name string, until time.Time) error {
	first, err := b.marks.use(name, until)
	if err != nil {
		return cutroom.Errorf(cutroom.Precondition, "the use of the approval could not be noted").WithCause(err).
			WithHint("check that the state folder may be written (`cutroom doctor` names it), then ask again")
	}
	if !first {
		return tooLate(name, "was used already")
	}
	return nil
}

func tooLate(id, why string) error {
	return cutroom.Errorf(cutroom.NeedsApproval, "the approval %s %s", id, why).WithHint("repeat the call to ask for another")
}

// errorsOf returns the first error.
func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
