package audit

import (
	"cmp"
	"fmt"
	"slices"

	"cutroom"
)

// What can be wrong with a chain.
const (
	FaultChanged = "changed" // the row is not what its hash was made of
	FaultMissing = "missing" // rows that stood here are gone
	FaultMoved   = "moved"   // the row of another place stands here
	FaultExtra   = "extra"   // a row that the chain does not have
	FaultCut     = "cut"     // the rows at the end are gone
	FaultAnchor  = "anchor"  // an anchor says otherwise: the rows up to here were written anew
	FaultHead    = "head"    // the end of the chain is not what the database says it is
	FaultForeign = "foreign" // an anchor is of another chain, or not of this installation
)

// Fault is one thing that is wrong with a chain.
type Fault struct {
	Seq    int64  `json:"seq"` // the place; 0 where it is none
	Fault  string `json:"fault"`
	Detail string `json:"detail"`
}

// maxFaults bounds the faults that are told one by one.
const maxFaults = 100

// suspect is a row whose hash does not follow from the row before.
type suspect struct {
	row      *row
	hash     string // as it is stored
	computed string
	before   string // the stored hash of the row before; "" after a gap
}

// checker follows a chain row by row, in constant memory.
type checker struct {
	seq      int64  // of the latest row
	stored   string // its hash as it is stored
	computed string // … and as it has to be; the two differ after a fault
	rows     int64
	suspects []suspect
	faults   []Fault
	more     int
	notes    []string // what is not wrong, and is to be known
}

// newChecker begins after a row: the one at seq, with that hash.
func newChecker(seq int64, hash string) *checker {
	return &checker{seq: seq, stored: hash, computed: hash}
}

func (c *checker) fault(seq int64, what, format string, args ...any) {
	if len(c.faults) == maxFaults {
		c.more++
		return
	}
	c.faults = append(c.faults, Fault{seq, what, fmt.Sprintf(format, args...)})
}

// next takes the row that follows, in order of seq.
func (c *checker) next(r *row, hash string) error {
	text, err := r.canonical()
	if err != nil {
		return err
	}
	c.rows++
	if r.Type == string(cutroom.AuditRestored) && len(c.notes) < maxFaults {
		c.notes = append(c.notes, fmt.Sprintf("row %d: restored at %s by %s, %s", r.Seq, at(r.At).Format("2006-01-02 15:04:05Z"), r.Principal, r.Detail))
	}
	if gap := r.Seq - c.seq - 1; gap > 0 {
		c.missing(c.seq+1, r.Seq-1)
		// What stood before is gone: the row is taken as it is.
		c.seq, c.stored, c.computed = r.Seq, hash, hash
		return nil
	}
	computed := link(c.stored, text)
	if computed != hash && c.computed != c.stored {
		// The row before was found wrong. Was its content changed, or its hash?
		if other := link(c.computed, text); other == hash {
			computed = other
		}
	}
	if computed != hash && len(c.suspects) < maxFaults {
		c.suspects = append(c.suspects, suspect{r, hash, computed, c.stored})
	} else if computed != hash {
		c.more++
	}
	c.seq, c.stored, c.computed = r.Seq, hash, computed
	return nil
}

func (c *checker) missing(from, to int64) {
	if from == to {
		c.fault(from, FaultMissing, "the row is gone")
		return
	}
	c.fault(from, FaultMissing, "the rows %d to %d are gone", from, to)
}

// end names what is wrong with the suspects: rows that only stand in each other's
// places are told from changed ones.
func (c *checker) end() error {
	home := map[int64]string{} // the hash that belongs at a place, where it was found elsewhere
	at := map[int64]int64{}    // where a row that stands at the key belongs
	for _, x := range c.suspects {
		for _, y := range c.suspects {
			belongs, err := belongsAt(x, y, c.suspects)
			if err != nil {
				return err
			}
			if belongs {
				home[y.row.Seq], at[x.row.Seq] = x.hash, y.row.Seq
			}
		}
	}
	for _, x := range c.suspects {
		switch seq := x.row.Seq; {
		case at[seq] != 0:
			c.fault(seq, FaultMoved, "the row of place %d stands here", at[seq])
		case home[seq-1] != "":
			text, err := x.row.canonical()
			if err != nil {
				return err
			}
			if link(home[seq-1], text) != x.hash {
				c.fault(seq, FaultChanged, "the row is not what its hash was made of")
			}
		default:
			c.fault(seq, FaultChanged, "the row is not what its hash was made of")
		}
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int { return cmp.Compare(a.Seq, b.Seq) })
	return nil
}

// belongsAt says whether the row at x is the one that was written at y. What stood
// before y then is either what stands there now, or was moved as well.
func belongsAt(x, y suspect, all []suspect) (bool, error) {
	if x.row.Seq == y.row.Seq {
		return false, nil
	}
	r := *x.row
	r.Seq = y.row.Seq
	text, err := r.canonical()
	if err != nil {
		return false, err
	}
	if link(y.before, text) == x.hash {
		return true, nil
	}
	return slices.ContainsFunc(all, func(z suspect) bool { return z.row.Seq != x.row.Seq && link(z.hash, text) == x.hash }), nil
}
