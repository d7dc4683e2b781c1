package audit

import (
	"context"
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/store"
)

// Limits of a query.
const (
	defaultRows = 50
	MaxRows     = 500
)

// Query returns the rows that a filter chooses, the newest first.
func (l *Log) Query(ctx context.Context, f cutroom.AuditFilter) ([]cutroom.AuditEvent, error) {
	db, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	var q conditions
	q.when(!f.Since.IsZero(), "at >= %s", f.Since.UnixMilli())
	q.when(!f.Until.IsZero(), "at < %s", f.Until.UnixMilli())
	q.when(f.Principal != "", "principal_name = %s", f.Principal)
	q.when(f.Role != "", "principal_role = %s", f.Role)
	q.when(f.Type != "", "type = %s", f.Type)
	q.when(f.Outcome != "", "outcome = %s", f.Outcome)
	q.when(f.Run != "", `run like %s escape '\'`, beginning(f.Run))
	q.when(f.Before > 0, "seq < %s", f.Before)
	if family, ok := strings.CutSuffix(f.Tool, ".*"); ok {
		q.when(true, `tool like %s escape '\'`, beginning(family+"."))
	} else {
		q.when(f.Tool != "", "tool = %s", f.Tool)
	}
	if f.Call != "" {
		q.when(true, "(call_id = %[1]s or parent_id = %[1]s)", f.Call)
	}
	most := f.Max
	if most <= 0 {
		most = defaultRows
	}
	rows, err := db.QueryContext(ctx, `select `+columns+` from audit_event`+q.text()+fmt.Sprintf(` order by seq desc limit %d`, min(most, MaxRows)), q.args...)
	if err != nil {
		return nil, store.Fault(err)
	}
	defer rows.Close()
	list := []cutroom.AuditEvent{}
	for rows.Next() {
		r, hash, err := scan(rows)
		if err != nil {
			return nil, store.Fault(err)
		}
		list = append(list, r.event(hash))
	}
	return list, store.Fault(rows.Err())
}

// conditions collects what rows have to fulfil.
type conditions struct {
	parts []string
	args  []any
}

// when adds a condition with one value, which the verb in format stands for.
func (q *conditions) when(set bool, format string, value any) {
	if !set {
		return
	}
	q.args = append(q.args, value)
	q.parts = append(q.parts, fmt.Sprintf(format, fmt.Sprintf("$%d", len(q.args))))
}

func (q *conditions) text() string {
	if len(q.parts) == 0 {
		return ""
	}
	return " where " + strings.Join(q.parts, " and ")
}

// beginning is a pattern for texts that begin with s.
func beginning(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}
