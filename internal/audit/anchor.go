package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"cutroom"
	"cutroom/internal/store"
)

// Anchor says what the end of the chain was at one time. Kept where the database is
// not, it shows that rows were cut off or written anew.
type Anchor struct {
	After int64  `json:"after,omitzero"` // row of the anchor before this one in the same file
	At    int64  `json:"at"`             // milliseconds since 1970
	Chain string `json:"chain"`
	Hash  string `json:"hash"` // of the row
	MAC   string `json:"mac"`  // HMAC-SHA256 of the other members, by this installation's key; "" without one
	Seq   int64  `json:"seq"`
}

// When an anchor is due: a row that has to last is anchored at once, others by number
// and by age.
const (
	anchorRows = 100
	anchorAge  = 10 * time.Minute
)

// maxAnchors bounds a file of anchors: what is longer is not read as one.
const maxAnchors = 256 << 20

// keep adds an anchor to the file, for good. One write of one line: lines of several
// processes do not mix.
func (l *Log) keep(a Anchor) error {
	line, err := a.line()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.Anchors, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Sync(), f.Close())
}

func (a Anchor) line() ([]byte, error) {
	b, err := json.Marshal(a, json.Deterministic(true))
	return append(b, '\n'), err
}

// mac is the mark of this installation on an anchor.
func (l *Log) mac(a Anchor) string {
	if len(l.Key) == 0 {
		return ""
	}
	a.MAC = ""
	text, err := a.line()
	if err != nil {
		return ""
	}
	derived := hmac.New(sha256.New, l.Key)
	derived.Write([]byte("cutroom audit anchor 1"))
	h := hmac.New(sha256.New, derived.Sum(nil))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// Latest is the end of the chain now, to be kept elsewhere.
func (l *Log) Latest(ctx context.Context) (Anchor, error) {
	a := Anchor{At: l.ms()}
	db, err := l.open(ctx)
	if err != nil {
		return a, err
	}
	err = store.Durable(ctx, db, func(tx *sql.Tx) error { // what is told to others must not be lost here
		return tx.QueryRowContext(ctx, `update audit_head set anchored_at = anchored_at where id = 1 returning chain, seq, hash`).Scan(&a.Chain, &a.Seq, &a.Hash)
	})
	a.MAC = l.mac(a)
	return a, store.Fault(err)
}

// ReadAnchors reads anchors, one JSON document a line. A last line that was cut short
// by a crash is no fault; any other that is no anchor is told by its number in bad.
func ReadAnchors(r io.Reader) (list []Anchor, bad []int, err error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxAnchors), 64<<10)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return list, bad, err
		}
		whole := err == nil
		for err == bufio.ErrBufferFull { // no anchor is as long
			_, err = in.ReadSlice('\n')
			whole = false
			line = nil
		}
		if a, ok := parseAnchor(line); ok {
			list = append(list, a)
		} else if whole && len(bytes.TrimSpace(line)) > 0 || line == nil && err == nil {
			bad = append(bad, n)
		}
		if err == io.EOF {
			return list, bad, nil
		}
	}
}

func parseAnchor(line []byte) (Anchor, bool) {
	var a Anchor
	if err := json.Unmarshal(line, &a, json.RejectUnknownMembers(true)); err != nil {
		return a, false
	}
	_, err := cutroom.ParseDigest(a.Hash)
	return a, a.Chain != "" && (a.Seq > 0 && err == nil || a.Seq == 0)
}

// kept reads the anchors of the state folder.
func (l *Log) kept() ([]Anchor, []int, error) {
	if l.Anchors == "" {
		return nil, nil, nil
	}
	f, err := os.Open(l.Anchors)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return ReadAnchors(f)
}
