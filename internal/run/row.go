package run

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cutroom"
	"cutroom/internal/store"
)

// Create stores a run that nobody has begun. An id that exists is a conflict.
func (l *Log) Create(ctx context.Context, id string, s Spec) error {
	db, err := l.Open(ctx)
	if err != nil {
		return err
	}
	spec, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return err
	}
	r := row{id: id, spec: string(spec), who: s.Actor.Principal, parent: s.Parent, call: s.Call}
	_, err = db.ExecContext(ctx, `insert into run (id, space, parent, call, principal_name, principal_role, spec, mac, state, created)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		id, l.Space, s.Parent, s.Call, r.who.Name, string(r.who.Role), r.spec, l.seal(r), string(Created), l.ms())
	if store.Duplicate(err) {
		return cutroom.Errorf(cutroom.Conflict, "there is a run %q", id).WithHint("leave the id out, or open that run")
	}
	return store.Fault(err)
}

// row is what a run's row says of what it may do.
type row struct {
	id, parent, call string
	who              cutroom.Principal
	spec, mac        string
}

// seal is HMAC-SHA256 of everything that decides what a run may do and for whom. Whoever
// can write the database cannot make one.
func (l *Log) seal(r row) string {
	h := hmac.New(sha256.New, l.Derived("run 1"))
	for _, part := range []string{r.id, l.Space, r.parent, r.call, r.who.Name, string(r.who.Role), r.spec} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Derived is a key for one use, of the installation's.
func (l *Log) Derived(use string) []byte {
	h := hmac.New(sha256.New, l.Key)
	h.Write([]byte("cutroom " + use + "\n"))
	return h.Sum(nil)
}

// believe refuses a row that is not as this installation wrote it.
func (l *Log) believe(r row) error {
	if hmac.Equal([]byte(r.mac), []byte(l.seal(r))) {
		return nil
	}
	return cutroom.Errorf(cutroom.Denied, "the run is not as this installation created it: its row was changed, or a machine with another key wrote it").
		WithHint("start the goal again with `cutroom agent run`; machines that work each other's runs share keys/mac.key of the state folder")
}

const columns = `id, parent, call, principal_name, principal_role, spec, mac, state, reason, worker, steps, tokens, cost, bytes, created, started, finished`

func scan(s interface{ Scan(...any) error }) (Info, row, error) {
	var i Info
	var r row
	var worker string
	var created, started, finished int64
	err := s.Scan(&r.id, &r.parent, &r.call, &r.who.Name, &r.who.Role, &r.spec, &r.mac, &i.State, &i.Reason, &worker,
		&i.Spent.Steps, &i.Spent.Tokens, &i.Spent.Cost, &i.Spent.Bytes, &created, &started, &finished)
	if err != nil {
		return i, r, err
	}
	i.ID, i.Held = r.id, worker != ""
	i.Created, i.Started, i.Finished = at(created), at(started), at(finished)
	if json.Unmarshal([]byte(r.spec), &i.Spec) != nil {
		i.Spec = Spec{} // its row was spoilt, and is not believed; the others are listed all the same
	}
	i.Spec.Actor.Principal = r.who
	return i, r, nil
}

// at is a stored time; zero means none.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Get returns a run as who may see it: the operator all of the workspace, others their own.
func (l *Log) Get(ctx context.Context, who cutroom.Principal, id string) (Info, error) {
	db, err := l.Open(ctx)
	if err != nil {
		return Info{}, err
	}
	i, _, err := l.get(ctx, db, who, id)
	return i, err
}

func (l *Log) get(ctx context.Context, db *sql.DB, who cutroom.Principal, id string) (Info, row, error) {
	i, r, err := scan(db.QueryRowContext(ctx, `select `+columns+` from run where id = $1 and space = $2`, id, l.Space))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && who.Role != cutroom.RoleOperator && r.who != who:
		return i, r, missing(id)
	case err != nil:
		return i, r, store.Fault(err)
	}
	return i, r, nil
}

// Believed is [Log.Get] for whoever goes by what the row says: it is refused where it is not
// as this installation wrote it.
func (l *Log) Believed(ctx context.Context, who cutroom.Principal, id string) (Info, error) {
	db, err := l.Open(ctx)
	if err != nil {
		return Info{}, err
	}
	i, r, err := l.get(ctx, db, who, id)
	if err == nil {
		err = l.believe(r)
	}
	return i, err
}

// List returns the newest runs first, at most most, in the given states or in all.
func (l *Log) List(ctx context.Context, who cutroom.Principal, most int, states ...State) ([]Info, error) {
	args, where := []any{l.Space, most}, `space = $1`
	if who.Role != cutroom.RoleOperator {
		args = append(args, who.Name, string(who.Role))
		where += ` and principal_name = $3 and principal_role = $4`
	}
	if len(states) > 0 {
		var marks []string
		for _, s := range states {
			args = append(args, string(s))
			marks = append(marks, fmt.Sprintf("$%d", len(args)))
		}
		where += ` and state in (` + strings.Join(marks, ", ") + `)`
	}
	return l.many(ctx, where+` order by created desc, id limit $2`, args...)
}

// Children returns the runs that a run delegated to, the oldest first.
func (l *Log) Children(ctx context.Context, parent string) ([]Info, error) {
	return l.many(ctx, `space = $1 and parent = $2 order by created, id`, l.Space, parent)
}

func (l *Log) many(ctx context.Context, where string, args ...any) ([]Info, error) {
	db, err := l.Open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `select `+columns+` from run where `+where, args...)
	if err != nil {
		return nil, store.Fault(err)
	}
	list, err := store.Collect(rows, func(s interface{ Scan(...any) error }) (Info, error) {
		i, _, err := scan(s)
		return i, err
	})
	return list, store.Fault(err)
}

// Cancel asks whoever is at a run, in whatever process, to stop it. Not running says that
// nobody was.
func (l *Log) Cancel(ctx context.Context, who cutroom.Principal, id string) (running bool, err error) {
	if _, err := l.Get(ctx, who, id); err != nil {
		return false, err
	}
	db, err := l.Open(ctx)
	if err != nil {
		return false, err
	}
	res, err := db.ExecContext(ctx, `update run set cancel = 1 where id = $1 and space = $2 and worker <> '' and state = $3`, id, l.Space, string(Running))
	if err != nil {
		return false, store.Fault(err)
	}
	n, err := res.RowsAffected()
	l.woken(cancelOf(id))
	return n > 0, store.Fault(err)
}

// cancelOf is under which name a writer of this process is woken to look at its lease.
func cancelOf(id string) string { return "cancel " + id }
