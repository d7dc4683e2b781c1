package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

const opColumns = `key, call_id, tool, revision, principal_name, principal_role, never, input, state, started, until, finished, run, output, failure, note`

// scanOp reads one operation, selected by opColumns.
func scanOp(s interface{ Scan(...any) error }) (cutroom.Operation, error) {
	var op cutroom.Operation
	var never, started, until, finished int64
	var output, failure string
	err := s.Scan(&op.Key, &op.Call, &op.Tool, &op.Revision, &op.Principal.Name, &op.Principal.Role, &never, &op.Input, &op.State, &started, &until, &finished,
		&op.Run, &output, &failure, &op.Note)
	if err != nil {
		return op, err
	}
	op.Never, op.Started, op.Until, op.Finished = never == 1, at(started), at(until), at(finished)
	if output != "" {
		op.Output = []byte(output)
	}
	if failure != "" {
		op.Failure = &cutroom.FailureDetail{}
		if err := json.Unmarshal([]byte(failure), op.Failure); err != nil {
			return op, fmt.Errorf("read the failure of an operation: %w", err)
		}
	}
	return op, nil
}

// Recall finds an operation by its key; nil when there is none.
func (l *Log) Recall(ctx context.Context, key string) (*cutroom.Operation, error) {
	db, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	op, err := scanOp(db.QueryRowContext(ctx, `select `+opColumns+` from operation where key = $1`, key))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, store.Fault(err)
	}
	return &op, nil
}

// Begin puts an operation into the ledger, before anything of it is done. When the key
// is there already nothing changes, and what is there is returned.
func (l *Log) Begin(ctx context.Context, op cutroom.Operation) (*cutroom.Operation, error) {
	db, err := l.writable(ctx)
	if err != nil {
		return nil, err
	}
	within, never := store.Within, 0
	if op.Never {
		within, never = store.Durable, 1 // no loss of power may forget it
	}
	var n int64
	err = within(ctx, db, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `insert into operation (`+opColumns+`, swept)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, '', '', '', '', 0) on conflict (key) do nothing`,
			op.Key, op.Call, op.Tool, op.Revision, plain(op.Principal.Name), op.Principal.Role, never, op.Input, cutroom.OperationStarted,
			l.ms(), op.Until.UnixMilli())
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	if err != nil {
		return nil, store.Fault(err)
	}
	if n > 0 {
		return nil, nil
	}
	return l.Recall(ctx, op.Key)
}

// Forget takes an operation out of the ledger that its own call began and that was
// never done.
func (l *Log) Forget(ctx context.Context, key, call string) error {
	db, err := l.open(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `delete from operation where key = $1 and call_id = $2 and state = $3`, key, call, cutroom.OperationStarted)
	return store.Fault(err)
}

// finish stores what became of an operation. One that may be done again is forgotten
// with it, and so is one of which the caller knows that nothing was done: its state is
// "".
func finish(ctx context.Context, tx *sql.Tx, op cutroom.Operation) error {
	if !op.Never || op.State == "" {
		_, err := tx.ExecContext(ctx, `delete from operation where key = $1 and call_id = $2`, op.Key, op.Call)
		return err
	}
	failure := ""
	if op.Failure != nil {
		b, err := json.Marshal(op.Failure)
		if err != nil {
			return err
		}
		failure = string(b)
	}
	finished := int64(0)
	if !op.Finished.IsZero() {
		finished = op.Finished.UnixMilli()
	}
	// A person may have settled it meanwhile; what is known is more than what was said.
	// However it ended, the call writes its own row now: nobody else has to.
	_, err := tx.ExecContext(ctx, `update operation set state = $1, finished = $2, run = $3, output = $4, failure = $5, swept = 1 where key = $6 and call_id = $7`,
		op.State, finished, op.Run, string(op.Output), failure, op.Key, op.Call)
	return err
}

// Operations lists what the ledger holds, the newest first: those without an outcome,
// or all.
func (l *Log) Operations(ctx context.Context, all bool, most int) ([]cutroom.Operation, error) {
	db, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `select `+opColumns+` from operation where state = $1 or $2 = 1 order by started desc, key limit $3`,
		cutroom.OperationStarted, flag(all), most)
	if err != nil {
		return nil, store.Fault(err)
	}
	list, err := store.Collect(rows, scanOp)
	return list, store.Fault(err)
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// begun finds an operation by the call that began it, or by its key.
func (l *Log) begun(ctx context.Context, id string) (*cutroom.Operation, error) {
	db, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	op, err := scanOp(db.QueryRowContext(ctx, `select `+opColumns+` from operation where call_id = $1 or key = $1 order by key limit 1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &op, store.Fault(err)
}

// Settle writes down what a person found out about an operation of unknown outcome: it
// happened, and is never done again; or it did not, and the next call does it. One
// that may still be at work is not settled.
func (l *Log) Settle(ctx context.Context, id string, happened bool, note string, who cutroom.Principal) (cutroom.Operation, error) {
	op, err := l.begun(ctx, id)
	if err != nil {
		return cutroom.Operation{}, err
	}
	switch {
	case op == nil:
		return cutroom.Operation{}, cutroom.Errorf(cutroom.NotFound, "there is no operation %q", id).WithHint("`cutroom operations` lists those of unknown outcome")
	case op.State != cutroom.OperationStarted:
		return *op, cutroom.Errorf(cutroom.Conflict, "the outcome of the operation is known: %s", op.State).WithHint("`cutroom operations --all` shows it")
	case l.Now().Before(op.Until):
		return *op, cutroom.Errorf(cutroom.Precondition, "the call that began the operation may still be at work, until %s at the latest", op.Until.Local().Format(time.DateTime)).
			WithHint("wait until then; `cutroom jobs` shows what runs here")
	}
	db, err := l.writable(ctx)
	if err != nil {
		return *op, err
	}
	word := "it did not happen"
	if happened {
		word = "it happened"
	}
	if note = clip(plain(note), maxReason); note != "" {
		word += ": " + note
	}
	err = l.write(ctx, db, true, func(tx *sql.Tx) (*Anchor, error) {
		var res sql.Result
		var err error
		if happened {
			res, err = tx.ExecContext(ctx, `update operation set state = $1, finished = $2, note = $3 where key = $4 and call_id = $5 and state = $6`,
				cutroom.OperationSettled, l.ms(), note, op.Key, op.Call, cutroom.OperationStarted)
		} else {
			res, err = tx.ExecContext(ctx, `delete from operation where key = $1 and call_id = $2 and state = $3`, op.Key, op.Call, cutroom.OperationStarted)
		}
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return nil, errors.Join(err, cutroom.Errorf(cutroom.Conflict, "the operation was settled by somebody else").WithHint("`cutroom operations --all` shows it"))
		}
		_, a, err := l.append(ctx, tx, cutroom.AuditEvent{
			Type: cutroom.AuditOperationSettled, Parent: op.Call, Principal: who, Tool: op.Tool, Revision: op.Revision, Kind: cutroom.Approve,
			Input: op.Input, Outcome: cutroom.OutcomeOK, Detail: word,
		}, true)
		return a, err
	})
	if err != nil {
		return *op, err
	}
	op.State, op.Note = cutroom.OperationSettled, note
	if !happened {
		op.State = ""
	}
	return *op, nil
}

// sweep writes a row for each call that was cut off: its deadline is over, and it said
// nothing. It takes out of the ledger what may be done again.
func (l *Log) sweep(ctx context.Context, db *sql.DB) error {
	var n int64
	if err := db.QueryRowContext(ctx, `select count(*) from operation where state = $1 and swept = 0 and until < $2`, cutroom.OperationStarted, l.ms()).Scan(&n); err != nil || n == 0 {
		return err
	}
	return store.Durable(ctx, db, func(tx *sql.Tx) error {
		// One process at a time: the head is what all of them wait for.
		if _, err := tx.ExecContext(ctx, `update audit_head set id = id where id = 1`); err != nil {
			return err
		}
		lost, err := cutOff(ctx, tx, l.ms())
		if err != nil {
			return err
		}
		for _, op := range lost {
			if _, err := l.Append(ctx, tx, cutroom.AuditEvent{
				Type: cutroom.AuditInvoke, Call: op.Call, Principal: op.Principal, Tool: op.Tool, Revision: op.Revision, Kind: cutroom.Execute, Input: op.Input,
				Decision: "allow", Outcome: cutroom.OutcomeUnknown, Detail: "the process ended before the call did",
			}); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `update operation set swept = 1 where key = $1`, op.Key); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `delete from operation where swept = 1 and never = 0 and state = $1`, cutroom.OperationStarted)
		return err
	})
}

func cutOff(ctx context.Context, tx *sql.Tx, now int64) ([]cutroom.Operation, error) {
	rows, err := tx.QueryContext(ctx, `select `+opColumns+` from operation where state = $1 and swept = 0 and until < $2 order by started, key limit 1000`, cutroom.OperationStarted, now)
	if err != nil {
		return nil, err
	}
	return store.Collect(rows, scanOp)
}
