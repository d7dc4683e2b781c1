package audit

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"

	"cutroom"
	"cutroom/internal/store"
)

// Report says whether a chain is whole.
type Report struct {
	Valid   bool           `json:"valid"`
	Chain   string         `json:"chain"`
	Rows    int64          `json:"rows"`
	First   int64          `json:"first"` // 0 without rows
	Last    int64          `json:"last"`
	Hash    cutroom.Digest `json:"hash"`          // of the last row
	Anchors int            `json:"anchors"`       // that were compared
	Newest  int64          `json:"newest_anchor"` // seq of the last one; rows after it can be cut off unseen by whoever can write the database
	Faults  []Fault        `json:"faults"`
	More    int            `json:"more_faults"` // that are not listed
	Notes   []string       `json:"notes"`       // what is not wrong and is to be known: backups that were put back, with the rows that are gone since
}

// batch is how many rows are read at once. Between two batches others may write: rows
// never change, and those that are added are not looked at.
const batch = 2000

// Verify follows the chain from the first row to the last and compares it with the
// anchors of the state folder and those given. It needs a constant amount of memory,
// and keeps no writer waiting.
func (l *Log) Verify(ctx context.Context, more ...Anchor) (Report, error) {
	db, err := l.open(ctx)
	if err != nil {
		return Report{}, err
	}
	anchors, bad, err := l.kept()
	if err != nil {
		return Report{}, cutroom.Errorf(cutroom.Precondition, "the anchors cannot be read").WithCause(err).WithHint("check that audit.anchors in the state folder is yours")
	}
	anchors = append(anchors, more...)
	h, err := headOf(ctx, db)
	if err != nil {
		return Report{}, store.Fault(err)
	}
	if h.gone && len(anchors) > 0 {
		h.chain = anchors[len(anchors)-1].Chain
	}
	c := newChecker(0, genesis(h.chain))
	w := newWitness(l, h.chain, anchors)
	for _, n := range bad {
		c.fault(0, FaultForeign, "line %d of the anchors is none", n)
	}
	if h.here, err = l.anchoredHere(ctx, db); err != nil {
		return Report{}, store.Fault(err)
	}
	if err := l.follow(ctx, db, c, w, h.last()); err != nil {
		return Report{}, store.Fault(err)
	}
	if err := l.lost(c, h, w); err != nil {
		return Report{}, store.Fault(err)
	}
	if aside := l.superseded(); len(aside) > 0 && len(c.notes) == 0 {
		c.fault(0, FaultAnchor, "anchors were set aside (%s), but no row says that a backup was put back", strings.Join(aside, ", "))
	}
	return h.report(c, w)
}

// head is the end of the chain as the database says.
type head struct {
	chain, hash string
	seq         int64
	rows        int64 // how many there are
	most        int64 // the greatest seq of a row
	anchored    int64 // the last anchored row, on whichever machine
	here        int64 // … and on this one
	gone        bool  // the database does not say
}

// last is the place up to which rows are looked at.
func (h head) last() int64 { return max(h.seq, h.most) }

func headOf(ctx context.Context, db *sql.DB) (head, error) {
	var h head
	var heads int64
	err := db.QueryRowContext(ctx, `select coalesce(max(chain), ''), coalesce(max(hash), ''), coalesce(max(seq), 0), coalesce(max(anchored), 0), count(*),
		(select count(*) from audit_event), (select coalesce(max(seq), 0) from audit_event) from audit_head where id = 1`).
		Scan(&h.chain, &h.hash, &h.seq, &h.anchored, &heads, &h.rows, &h.most)
	h.gone = heads == 0
	return h, err
}

// follow hands every row up to last to the checker.
func (l *Log) follow(ctx context.Context, db *sql.DB, c *checker, w *witness, last int64) error {
	for from := c.seq; from < last; {
		n, err := l.batch(ctx, db, from, last, func(r *row, hash string) error {
			from = r.Seq
			w.see(c, r.Seq, hash)
			return c.next(r, hash)
		})
		if err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// batch reads rows after from, in order.
func (l *Log) batch(ctx context.Context, db *sql.DB, from, last int64, visit func(*row, string) error) (int, error) {
	rows, err := db.QueryContext(ctx, `select `+columns+` from audit_event where seq > $1 and seq <= $2 order by seq limit $3`, from, last, batch)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		r, hash, err := scan(rows)
		if err != nil {
			return n, err
		}
		if err := visit(r, hash); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

// report sums up.
func (h head) report(c *checker, w *witness) (Report, error) {
	if err := c.end(); err != nil {
		return Report{}, err
	}
	switch {
	case h.gone:
		c.fault(0, FaultHead, "the database does not say where the chain ends")
	case c.seq < h.seq:
		c.fault(c.seq+1, FaultCut, "the rows %d to %d at the end are gone", c.seq+1, h.seq)
	case c.seq > h.seq:
		c.fault(h.seq+1, FaultExtra, "the chain ends at %d, but there are rows up to %d", h.seq, c.seq)
	case c.stored != h.hash:
		c.fault(h.seq, FaultHead, "the last row has another hash than the end of the chain")
	}
	if c.rows != h.rows && c.seq == h.most {
		c.fault(0, FaultExtra, "%d rows stand at no place of the chain", h.rows-c.rows)
	}
	w.end(c)
	r := Report{
		Chain: h.chain, Rows: c.rows, Last: c.seq, Hash: cutroom.Digest(c.stored), Anchors: w.compared, Newest: w.newest,
		Faults: c.faults, More: c.more, Valid: len(c.faults) == 0, Notes: append([]string{}, c.notes...),
	}
	if r.Faults == nil {
		r.Faults = []Fault{}
	}
	if c.rows > 0 {
		r.First = max(1, c.seq-c.rows+1)
	}
	return r, nil
}

// witness compares a chain with anchors.
type witness struct {
	chain    string
	at       map[int64][]Anchor
	compared int
	newest   int64
	far      Anchor // of the greatest seq
	foreign  map[string]int64
	forged   int
}

func newWitness(l *Log, chain string, anchors []Anchor) *witness {
	w := &witness{chain: chain, at: map[int64][]Anchor{}, foreign: map[string]int64{}}
	for _, a := range anchors {
		switch {
		case l != nil && len(l.Key) > 0 && a.MAC != l.mac(a):
			w.forged++
		case a.Chain != chain:
			w.foreign[a.Chain] = max(w.foreign[a.Chain], a.Seq)
		case a.Seq > 0:
			w.at[a.Seq] = append(w.at[a.Seq], a)
			if a.Seq > w.far.Seq {
				w.far = a
			}
		}
	}
	return w
}

// see compares the row of a place.
func (w *witness) see(c *checker, seq int64, hash string) {
	for _, a := range w.at[seq] {
		w.compared++
		w.newest = max(w.newest, seq)
		if a.Hash != hash {
			c.fault(seq, FaultAnchor, "an anchor of %s knows another row here: the rows up to here were written anew", at(a.At).Format("2006-01-02 15:04:05Z"))
		}
	}
}

func (w *witness) end(c *checker) {
	if w.far.Seq > c.seq {
		c.fault(c.seq+1, FaultCut, "an anchor of %s knows rows up to %d: those from %d on are gone", at(w.far.At).Format("2006-01-02 15:04:05Z"), w.far.Seq, c.seq+1)
	}
	for chain, seq := range w.foreign {
		c.fault(0, FaultForeign, "anchors speak of another chain, %s, with %d rows: the database was replaced", clip(plain(chain), maxName), seq)
	}
	if w.forged > 0 {
		c.fault(0, FaultForeign, "%d anchors are not of this installation", w.forged)
	}
}

// WriteAnchor writes the end of the chain now as one line.
func (l *Log) WriteAnchor(ctx context.Context, w io.Writer) error {
	a, err := l.Latest(ctx)
	if err != nil {
		return err
	}
	line, err := a.line()
	if err != nil {
		return err
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write an anchor: %w", err)
	}
	return nil
}
