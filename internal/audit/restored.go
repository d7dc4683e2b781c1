package audit

import (
	"context"
	"errors"
	"fmt"
	"os"

	"cutroom"
	"cutroom/internal/store"
)

// Restored writes down that a person put a backup back. Anchors of rows that the backup
// does not have are set aside, beside the others, and the row says which rows those
// are: from here on they are known to be gone.
func (l *Log) Restored(ctx context.Context, who cutroom.Principal) error {
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
	first, last := int64(0), int64(0) // of the anchors that do not fit
	for _, a := range anchors {
		hash, err := l.hashAt(ctx, h.chain, a.Seq)
		if err != nil {
			return err
		}
		if a.Chain == h.chain && a.Hash == hash {
			fit = append(fit, a)
			continue
		}
		if a.Chain == h.chain && (first == 0 || a.Seq < first) {
			first = a.Seq
		}
		if a.Chain == h.chain {
			last = max(last, a.Seq)
		}
	}
	if err := l.rely(ctx, db, fit); err != nil {
		return store.Fault(err)
	}
	detail := "from a backup"
	if len(fit) < len(anchors) || len(bad) > 0 {
		if err := l.setAside(fit); err != nil {
			return err
		}
		detail += ", with anchors of another chain set aside"
		if last > 0 {
			detail = fmt.Sprintf("from a backup, which does not have the rows that were anchored at %d to %d", first, last)
		}
	}
	return l.Record(ctx, cutroom.AuditEvent{
		Type: cutroom.AuditRestored, Principal: who, Kind: cutroom.Approve, Outcome: cutroom.OutcomeOK, Detail: detail,
	}, nil)
}

// setAside keeps the file of anchors under another name and begins one with those.
func (l *Log) setAside(anchors []Anchor) error {
	if err := os.Rename(l.Anchors, fmt.Sprintf("%s.before-%d", l.Anchors, l.ms())); err != nil {
		return err
	}
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
