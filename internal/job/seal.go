package job

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"time"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/store"
)

// stored is what a job's row says of its call, and the seal over it.
type stored struct {
	id      string
	call    engine.Call
	created int64
	mac     string
}

// seal is HMAC-SHA256, under a key derived from the installation's, of everything that
// decides what a job does and for whom. Whoever can write the database cannot make one.
func (q *Queue) seal(s stored) string {
	derived := hmac.New(sha256.New, q.Key)
	derived.Write([]byte("cutroom job 1"))
	h := hmac.New(sha256.New, derived.Sum(nil))
	for _, part := range []string{s.id, q.Space, s.call.Tool, string(s.call.Input), s.call.Principal.Name, string(s.call.Principal.Role)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	for _, n := range []int64{s.call.Timeout.Milliseconds(), s.created} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// unsealed says why a row is not believed; nil when its seal holds.
func (q *Queue) unsealed(s stored) error {
	switch {
	case s.mac == "":
		return cutroom.Errorf(cutroom.Denied, "the job carries no mark of this installation: an earlier version queued it, or somebody wrote it into the database").
			WithHint("make the call again, or queue it again with `cutroom jobs submit`")
	case !hmac.Equal([]byte(s.mac), []byte(q.seal(s))):
		return cutroom.Errorf(cutroom.Denied, "the job is not as this installation queued it: its row was changed, or a machine with another key queued it").
			WithHint("make the call again here; machines that work each other's jobs share keys/mac.key of the state folder (`cutroom doctor` names it)")
	}
	return nil
}

// refuse ends a job whose row is not believed, and writes that down with it.
func (q *Queue) refuse(ctx context.Context, tx *sql.Tx, s stored, why error) error {
	if _, err := tx.ExecContext(ctx, `update job set state = $1, failure = $2, finished = $3, input = '', worker = '' where id = $4`,
		cutroom.JobFailed, failureText(why), q.ms(), s.id); err != nil {
		return err
	}
	q.Log.Warn("a job is refused", "job", s.id, "tool", s.call.Tool, "cause", why)
	if q.Note == nil {
		return nil
	}
	// Who is said to have asked for it is not known: the row says so, and it is not believed.
	return q.Note(ctx, tx, cutroom.AuditEvent{
		At: q.Now(), Type: cutroom.AuditInvoke, Call: s.id, Principal: cutroom.Principal{Name: "cutroom"}, Tool: s.call.Tool,
		Kind: cutroom.Execute, Outcome: string(cutroom.Denied), Reason: cutroom.AsError(why).Msg, Detail: "job " + s.id + " is not believed",
	})
}

// claimed takes a job that waits in one transaction with the look at its seal. It is
// nil when the job does not wait, is not for this process, or was refused.
func (q *Queue) claimed(ctx context.Context, id string) (*stored, int64, error) {
	var got *stored
	var attempt int64
	err := store.Within(ctx, q.db, func(tx *sql.Tx) error {
		s := stored{id: id}
		var input string
		var timeout int64
		err := tx.QueryRowContext(ctx, `update job set state = $1, worker = $2, attempt = attempt + 1, started = $3
			where id = $4 and space = $5 and state = $6 and principal_role <> $7
			returning tool, input, principal_name, principal_role, timeout_ms, created, mac, attempt`,
			cutroom.JobRunning, q.id, q.ms(), id, q.Space, cutroom.JobQueued, q.passed()).
			Scan(&s.call.Tool, &input, &s.call.Principal.Name, &s.call.Principal.Role, &timeout, &s.created, &s.mac, &attempt)
		if err != nil {
			return err
		}
		s.call.Input, s.call.Timeout = []byte(input), time.Duration(timeout)*time.Millisecond
		if why := q.unsealed(s); why != nil {
			return q.refuse(ctx, tx, s, why)
		}
		got = &s
		return nil
	})
	return got, attempt, err
}
