package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/store"
)

// Restored writes down that a person put a backup back in place of a chain that ended
// at former, the zero [Anchor] when that is not known. Anchors of rows that the backup
// does not have are superseded: they are set aside, beside the others, and the row names
// them and says which rows those are. From here on they are known to be gone.
func (l *Log) Restored(ctx context.Context, who cutroom.Principal, former Anchor) error {
	db, err := l.writable(ctx)
	if err != nil {
		return err
	}
	h, err := headOf(ctx, db)
	if err != nil {
		return store.Fault(err)
	}
	anchors, bad, err := l.kept()
	if err != nil {
		return err
	}
	var fit []Anchor
	var gone lost
	if former.Chain == h.chain {
		hash, err := l.hashAt(ctx, h.chain, former.Seq)
		if err != nil {
			return err
		}
		if hash != former.Hash {
			gone.add(min(h.restoredAt(), former.Seq))
			gone.add(former.Seq)
		}
	} else if former.Chain != "" {
		gone.other, gone.rows = former.Chain, former.Seq
	}
	for _, a := range anchors {
		hash, err := l.hashAt(ctx, h.chain, a.Seq)
		if err != nil {
			return err
		}
		if a.Chain == h.chain && a.Hash == hash {
			fit = append(fit, a)
			continue
		}
		if a.Chain == h.chain {
			gone.add(min(h.restoredAt(), a.Seq))
			gone.add(a.Seq)
		} else if gone.other == "" {
			gone.other = a.Chain
		}
		if a.Chain == gone.other {
			gone.rows = max(gone.rows, a.Seq)
		}
	}
	if err := l.rely(ctx, db, fit); err != nil {
		return store.Fault(err)
	}
	detail := "from a backup: " + gone.String()
	if n := len(anchors) - len(fit) + len(bad); n > 0 {
		aside, err := l.setAside(fit)
		if err != nil {
			return err
		}
		detail += fmt.Sprintf("; %d anchors of them are superseded and lie in %s", n, aside)
	}
	return l.Record(ctx, cutroom.AuditEvent{
		Type: cutroom.AuditRestored, Principal: who, Kind: cutroom.Approve, Outcome: cutroom.OutcomeOK, Detail: detail,
	}, nil)
}

// restoredAt is the first place behind the rows that the backup had.
func (h head) restoredAt() int64 { return h.seq + 1 }

// lost is which rows a backup does not have.
type lost struct {
	first, last int64  // of the same chain
	other       string // another chain, which is gone as a whole
	rows        int64  // … with so many rows
}

func (g *lost) add(seq int64) {
	if g.first == 0 || seq < g.first {
		g.first = seq
	}
	g.last = max(g.last, seq)
}

func (g *lost) String() string {
	var parts []string
	if g.last > 0 {
		parts = append(parts, fmt.Sprintf("rows %d to %d of the former chain are gone", g.first, g.last))
	}
	if g.other != "" {
		parts = append(parts, fmt.Sprintf("the former chain %s with %d rows is gone", clip(plain(g.other), maxName), g.rows))
	}
	if len(parts) == 0 {
		return "no row of the former chain is known to be gone"
	}
	return strings.Join(parts, "; ")
}

// asideMark stands between the name of the file of anchors and the time at which it was
// set aside.
const asideMark = ".before-"

// superseded are the names of the files of anchors that were set aside.
func (l *Log) superseded() []string {
	if l.Anchors == "" {
		return nil
	}
	list, err := filepath.Glob(l.Anchors + asideMark + "*")
	if err != nil {
		return nil // the name is no pattern: nothing can be found by it
	}
	for i, path := range list {
		list[i] = filepath.Base(path)
	}
	return list
}

// setAside keeps the file of anchors under another name, which it returns, and begins
// one with those.
func (l *Log) setAside(anchors []Anchor) (string, error) {
	aside := fmt.Sprintf("%s%s%d", l.Anchors, asideMark, l.ms())
	if err := os.Rename(l.Anchors, aside); err != nil {
		return "", err
	}
	return filepath.Base(aside), l.begins(anchors)
}

// begins makes a file of anchors with those.
func (l *Log) begins(anchors []Anchor) error {
	var text []byte
	for _, a := range anchors {
		line, err := a.line()
		if err != nil {
			return err
		}
		text = append(text, line...)
	}
	f, err := os.OpenFile(l.Anchors, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
