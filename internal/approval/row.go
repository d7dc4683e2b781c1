package approval

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// columns are those of a row, in the order of scan.
const columns = `id, bound, round, state, principal_name, principal_role, workspace, tool, call, input, plan_first, why, sheet,
	requested, expires, decided, decided_by, decided_role, signed_by, signature, ended, run`

// row is one request as it is kept.
type row struct {
	cutroom.Approval
	digest    cutroom.Digest // of the bound
	round     int64
	bound     Bound
	role      cutroom.Role // of who decided
	signedBy  string
	signature string
}

func scan(s interface{ Scan(...any) error }) (*row, error) {
	var r row
	var call, sheet, input string
	var plan, requested, expires, decided, ended int64
	err := s.Scan(&r.ID, &r.digest, &r.round, &r.State, &r.Principal.Name, &r.Principal.Role, &r.Workspace, &r.Tool, &call, &input, &plan, &r.Why, &sheet,
		&requested, &expires, &decided, &r.By, &r.role, &r.signedBy, &r.signature, &ended, &r.Run)
	if err != nil {
		return nil, err
	}
	r.Input, r.PlanFirst = []byte(input), plan != 0
	r.Requested, r.Expires, r.Decided, r.Ended = at(requested), at(expires), at(decided), at(ended)
	// What does not decode was edited: the signature, or the sheet made anew, says so.
	_ = json.Unmarshal([]byte(call), &r.bound)
	_ = json.Unmarshal([]byte(sheet), &r.Sheet)
	r.StageRoot, r.Bound = r.bound.StageRoot, r.digest
	return &r, nil
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// one reads the row that a query finds, nil when there is none.
func one(ctx context.Context, q querier, where string, args ...any) (*row, error) {
	r, err := scan(q.QueryRowContext(ctx, `select `+columns+` from approval where `+where, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r, err
}

// many reads the rows that a query finds.
func many(ctx context.Context, q querier, where string, args ...any) ([]*row, error) {
	rows, err := q.QueryContext(ctx, `select `+columns+` from approval where `+where, args...)
	if err != nil {
		return nil, err
	}
	return store.Collect(rows, scan)
}

// signed is the text that an approval's signature is over.
func (r *row) signed() []byte {
	f := form{}
	f.text("signed approval", "1")
	f.text("id", r.ID)
	f.text("bound", string(r.digest))
	f.text("by", r.By)
	f.text("role", string(r.role))
	f.number("decided", r.Decided.UnixMilli())
	f.number("expires", r.Expires.UnixMilli())
	return f
}

// fault says why an approved row allows nothing now, "" when it is live. The bound is
// the caller's: what it says of itself is not asked.
func (b *Book) fault(r *row, bound Bound, now time.Time) (string, error) {
	key, err := b.verifier()
	if err != nil {
		return "", err
	}
	floor, err := b.marks.floor()
	if err != nil {
		return "", err
	}
	switch {
	case r.digest != bound.Digest() || r.ID != idOf(r.digest, r.round):
		return "was given for another call", nil
	case r.role != cutroom.RoleOperator:
		return "was not decided by the operator", nil
	case key == nil || r.signedBy != fingerprint(key):
		return "was signed by another key", nil
	case !verify(key, r.signed(), r.signature):
		return "is not as it was signed", nil
	case r.Decided.After(now):
		return "was decided in the future: the clock was set back", nil
	case bound.Network() && r.Expires.Sub(r.Decided) > NetworkLife, r.Expires.Sub(r.Decided) > LongestLife:
		return "lives longer than an approval may", nil
	case !r.Decided.After(floor):
		return "was taken back with all others", nil
	case b.marks.used(r.ID):
		return "was used already", nil
	case !now.Before(r.Expires):
		return fmt.Sprintf("expired at %s", r.Expires.UTC().Format(time.RFC3339)), nil
	}
	return "", nil
}

func verify(key ed25519.PublicKey, text []byte, signature string) bool {
	sig, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && ed25519.Verify(key, text, sig)
}

// sign returns the signature as it is kept.
func (s *Signer) sign(text []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(s.private, text))
}

// end sets a row to a final state. The request itself is not kept longer than it can
// be looked at.
func end(ctx context.Context, q querier, r *row, state cutroom.ApprovalState, now time.Time) error {
	_, err := q.ExecContext(ctx, `update approval set state = $1, ended = $2, input = '' where id = $3 and state = $4`, string(state), now.UnixMilli(), r.ID, string(r.State))
	r.State, r.Ended = state, now
	return err
}
