package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/store"
)

// exportVersion is that of the form of exported files.
const exportVersion = 1

// header is the first line of an export.
type header struct {
	Version  int    `json:"cutroom_audit"`
	Chain    string `json:"chain"`
	First    int64  `json:"first"`       // seq of the first row; last+1 when there is none
	Before   string `json:"before"`      // the hash of the row before the first
	Last     int64  `json:"last"`        // seq of the last row
	Hash     string `json:"hash"`        // of the last row
	Exported int64  `json:"exported_at"` // milliseconds since 1970
}

// line is a further line: a row with its hash.
type line struct {
	Hash string         `json:"hash"`
	Row  jsontext.Value `json:"row"`
}

// Export writes rows as JSON Lines, a header first: those from seq first (0: the
// first) to seq last (0: the last there is). What is wrong with the chain is exported
// as it is, and reported.
func (l *Log) Export(ctx context.Context, out io.Writer, first, last int64) (Report, error) {
	db, err := l.open(ctx)
	if err != nil {
		return Report{}, err
	}
	whole, err := headOf(ctx, db)
	if err != nil {
		return Report{}, store.Fault(err)
	}
	h := header{Version: exportVersion, Chain: whole.chain, First: max(first, 1), Last: whole.seq, Exported: l.ms()}
	if last > 0 {
		h.Last = min(last, h.Last)
	}
	if h.First > h.Last+1 {
		return Report{}, cutroom.Errorf(cutroom.Invalid, "there are no rows from %d to %d", first, h.Last).WithHint("the chain ends at row %d", whole.seq)
	}
	if h.Before, err = l.hashAt(ctx, h.Chain, h.First-1); err != nil {
		return Report{}, err
	}
	if h.Hash, err = l.hashAt(ctx, h.Chain, h.Last); err != nil {
		return Report{}, err
	}
	w := bufio.NewWriterSize(out, 64<<10)
	if err := writeLine(w, h); err != nil {
		return Report{}, err
	}
	c := newChecker(h.First-1, h.Before)
	for from := c.seq; from < h.Last; {
		n, err := l.batch(ctx, db, from, h.Last, func(r *row, hash string) error {
			from = r.Seq
			text, err := r.canonical()
			if err != nil {
				return err
			}
			return errors.Join(writeLine(w, line{hash, text}), c.next(r, hash))
		})
		if err != nil {
			return Report{}, store.Fault(err)
		}
		if n == 0 {
			break
		}
	}
	if err := w.Flush(); err != nil {
		return Report{}, err
	}
	return h.report(c, newWitness(nil, h.Chain, nil))
}

func writeLine(w io.Writer, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// hashAt is the stored hash of a row; of row 0, what stands before the first.
func (l *Log) hashAt(ctx context.Context, chain string, seq int64) (string, error) {
	if seq == 0 {
		return genesis(chain), nil
	}
	db, err := l.open(ctx)
	if err != nil {
		return "", err
	}
	var hash string
	err = db.QueryRowContext(ctx, `select coalesce(max(hash), '') from audit_event where seq = $1`, seq).Scan(&hash)
	return hash, store.Fault(err)
}

func (h header) report(c *checker, w *witness) (Report, error) {
	r, err := head{chain: h.Chain, hash: h.Hash, seq: h.Last, rows: c.rows, most: c.seq}.report(c, w)
	return r, err
}

// maxLine bounds a line of an export: no row is as long.
const maxLine = 64 << 10

// VerifyExport checks an exported file by itself, and against anchors when some are
// given: nothing of this installation is needed. A file of another form is invalid.
func VerifyExport(in io.Reader, anchors ...Anchor) (Report, error) {
	lines := bufio.NewReaderSize(in, maxLine)
	raw, err := nextLine(lines, 1)
	if err != nil {
		return Report{}, err
	}
	var h header
	if err := json.Unmarshal(raw, &h, json.RejectUnknownMembers(true)); err != nil || h.Version == 0 || h.Chain == "" {
		return Report{}, notExport(1, "it is no header of an export")
	}
	if !writtenAs(raw, h) {
		return Report{}, notExport(1, "it is not as it was written")
	}
	if h.Version != exportVersion {
		return Report{}, notExport(1, "its form is one that this version does not know")
	}
	if h.First < 1 || h.Last < h.First-1 || h.First == 1 && h.Before != genesis(h.Chain) {
		return Report{}, notExport(1, "its header contradicts itself")
	}
	c := newChecker(h.First-1, h.Before)
	w := newWitness(nil, h.Chain, anchors)
	for n := 2; ; n++ {
		raw, err := nextLine(lines, n)
		if err == io.EOF {
			return h.report(c, w)
		}
		if err != nil {
			return Report{}, err
		}
		if err := takeLine(c, w, raw, n); err != nil {
			return Report{}, err
		}
	}
}

// takeLine checks one row of an export. Its text has to be the canonical one: that is
// what the hash was made of.
func takeLine(c *checker, w *witness, raw []byte, n int) error {
	var x line
	var r row
	if err := json.Unmarshal(raw, &x, json.RejectUnknownMembers(true)); err != nil {
		return notExport(n, "it is no row")
	}
	if err := json.Unmarshal(x.Row, &r, json.RejectUnknownMembers(true)); err != nil {
		return notExport(n, "it is no row")
	}
	text, err := r.canonical()
	if err != nil || !writtenAs(raw, x) {
		return notExport(n, "it is not as it was written")
	}
	if r.Seq <= c.seq {
		c.fault(r.Seq, FaultExtra, "the row stands after row %d", c.seq)
		return nil
	}
	if !bytes.Equal(text, x.Row) {
		c.fault(r.Seq, FaultChanged, "the text of the row is not in canonical form")
	}
	w.see(c, r.Seq, x.Hash)
	return c.next(&r, x.Hash)
}

// writtenAs says that a line is the one text of what it says: there is no room for
// anything that a reader would not see.
func writtenAs(raw []byte, v any) bool {
	var b bytes.Buffer
	return writeLine(&b, v) == nil && bytes.Equal(b.Bytes(), raw)
}

func nextLine(r *bufio.Reader, n int) ([]byte, error) {
	raw, err := r.ReadSlice('\n')
	switch {
	case err == io.EOF && len(raw) == 0:
		if n == 1 {
			return nil, notExport(n, "the file is empty")
		}
		return nil, io.EOF
	case err == io.EOF:
		return nil, notExport(n, "it is cut off")
	case err == bufio.ErrBufferFull:
		return nil, notExport(n, "it is too long")
	}
	return raw, err
}

func notExport(n int, why string) error {
	return cutroom.Errorf(cutroom.Invalid, "line %d: %s", n, why).WithHint("give a file that `cutroom audit export` wrote, unchanged")
}
