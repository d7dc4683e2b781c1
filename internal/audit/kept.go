package audit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"

	"cutroom"
	"cutroom/internal/store"
)

// markName is where the database remembers up to which row this machine anchored into
// this file. Machines of a team have files of their own.
func (l *Log) markName() string {
	host, _ := os.Hostname() // without one, the path alone tells
	s := sha256.Sum256([]byte(host + "\x00" + l.Anchors))
	return "anchored " + hex.EncodeToString(s[:8])
}

// anchoredHere is the last row that was anchored here, 0 for none.
func (l *Log) anchoredHere(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) (int64, error) {
	var text string
	err := db.QueryRowContext(ctx, `select value from audit_mark where name = $1`, l.markName()).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, _ := strconv.ParseInt(text, 10, 64) // what is no number was edited; the anchors that are left tell
	return n, nil
}

// remember notes that a row is anchored here, unless a later one is.
func (l *Log) remember(ctx context.Context, tx *sql.Tx, seq int64) error {
	if seq == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `insert into audit_mark (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value
		where length(audit_mark.value) < length(excluded.value) or length(audit_mark.value) = length(excluded.value) and audit_mark.value < excluded.value`,
		l.markName(), strconv.FormatInt(seq, 10))
	return err
}

// usable says whether an anchor can be added. An empty file is made where there is none.
func (l *Log) usable() error {
	if l.Anchors == "" {
		return nil
	}
	f, err := os.OpenFile(l.Anchors, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return cutroom.Errorf(cutroom.Precondition, "the anchors of the audit cannot be written").WithCause(err).
			WithHint("make audit.anchors in the state folder (`cutroom doctor` names it) a file that you may write; `cutroom audit verify` says what it lacks")
	}
	return nil
}

// tail is the row of the chain's anchor that the file ends with, 0 when it ends with none.
func (l *Log) tail(chain string) int64 {
	f, err := os.Open(l.Anchors)
	if err != nil {
		return 0
	}
	defer f.Close()
	const enough = 2 << 10 // bytes of some lines
	if info, err := f.Stat(); err == nil && info.Size() > enough {
		_, _ = f.Seek(-enough, io.SeekEnd) // from the beginning it is as true
	}
	list, _, _ := ReadAnchors(f)
	return l.newest(chain, list)
}

// newest is the last row that anchors of this installation know of a chain.
func (l *Log) newest(chain string, list []Anchor) int64 {
	var seq int64
	for _, a := range list {
		if a.Chain == chain && (len(l.Key) == 0 || a.MAC == l.mac(a)) {
			seq = max(seq, a.Seq)
		}
	}
	return seq
}

// lost tells of anchors that were made here and are not in the file any more, and of an
// end before the last one. It reads the file again: the writer of a row that was just
// seen may have been at its anchor.
func (l *Log) lost(c *checker, h head, w *witness) error {
	if l.Anchors == "" {
		return nil
	}
	if h.anchored > c.seq && w.far.Seq <= c.seq {
		c.fault(c.seq+1, FaultCut, "row %d was anchored, but the chain ends at %d", h.anchored, c.seq)
	}
	have, _, err := l.kept()
	if err != nil {
		return err
	}
	newest := l.newest(h.chain, have)
	if newest < h.here {
		c.fault(h.here, FaultAnchor, "the anchors end at row %d, but row %d was anchored: lines of audit.anchors are gone", newest, h.here)
	}
	known := map[int64]bool{}
	for _, a := range have {
		known[a.Seq] = known[a.Seq] || a.Chain == h.chain
	}
	for _, a := range have {
		if a.Chain == h.chain && a.After > 0 && !known[a.After] {
			c.fault(a.After, FaultAnchor, "the anchor of this row is gone: the one of row %d came after it", a.Seq)
		}
	}
	return nil
}

// rely makes the anchors that are left the ones that count: a restored database speaks
// of anchors that this file may never have had.
func (l *Log) rely(ctx context.Context, db *sql.DB, anchors []Anchor) error {
	var seq int64
	for _, a := range anchors {
		seq = max(seq, a.Seq)
	}
	return store.Within(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `delete from audit_mark where name = $1`, l.markName()); err != nil {
			return err
		}
		if seq > 0 {
			if err := l.remember(ctx, tx, seq); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `update audit_head set anchored = case when anchored > seq then $1 else anchored end where id = 1`, seq)
		return err
	})
}
