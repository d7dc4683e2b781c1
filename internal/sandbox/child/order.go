// Package child is what happens between fork and exec of a sandboxed program: our
// own binary, started again under a private name, locks itself in and then becomes
// the program.
//
// It promises that the program starts with every ordered layer in force or not at
// all, and that this costs a few milliseconds: it imports the standard library
// only, so that its init — the one init of the repository — runs before the heavy
// packages of the binary are initialised (Go initialises ready packages in the
// order of their import paths). The Landlock ruleset and the seccomp programs are
// made by the parent and handed over ready. It must never know a tool, a toolchain
// or a policy: it does what its [Order] says.
package child

import (
	"encoding/binary"
	"errors"
)

// Names under which our binary is started again (argv[0]).
const (
	HelperName  = "cutroom-sandbox" // locks itself in, then becomes the program
	AttemptName = "cutroom-attempt" // tries to get out; the self-test's program
)

// Order is what the parent tells the helper. Descriptors are numbers in the helper.
type Order struct {
	Exe     int // the program, opened and checked by the parent; -1: lock in, then exit 0
	Ruleset int // a Landlock ruleset
	Status  int // a pipe for the one line that says what failed; closed by a good exec
	Keep    int // descriptors below this number are handed on, all others are closed

	Limits []Limit
	// Filters are seccomp programs in the kernel's form (struct sock_filter), loaded
	// in order. An instruction whose constant is PidMark gets the helper's own process
	// id instead: exec keeps it, and only the helper knows it.
	Filters [][]byte
	PidMark uint32
	// KeepCaps is the set of capabilities that the program keeps, as bits below 32;
	// all others are dropped.
	KeepCaps uint32

	Args, Env []string
}

// Limit is one resource limit, soft and hard alike (setrlimit(2)).
type Limit struct {
	Resource int
	Value    uint64
}

// errOrder reports an order that does not parse.
var errOrder = errors.New("malformed order")

const (
	orderMagic = 0x63757430 // "cut0"
	maxList    = 1 << 16
)

// Encode returns the order with its own length in front.
func (o *Order) Encode() []byte {
	b := make([]byte, 4, 4096)
	b = binary.BigEndian.AppendUint32(b, orderMagic)
	for _, n := range []int{o.Exe, o.Ruleset, o.Status, o.Keep} {
		b = binary.BigEndian.AppendUint32(b, uint32(int32(n)))
	}
	b = binary.BigEndian.AppendUint32(b, o.PidMark)
	b = binary.BigEndian.AppendUint32(b, o.KeepCaps)
	b = binary.BigEndian.AppendUint32(b, uint32(len(o.Limits)))
	for _, l := range o.Limits {
		b = binary.BigEndian.AppendUint32(b, uint32(l.Resource))
		b = binary.BigEndian.AppendUint64(b, l.Value)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(o.Filters)))
	for _, f := range o.Filters {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	for _, list := range [][]string{o.Args, o.Env} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(list)))
		for _, s := range list {
			b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
			b = append(b, s...)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// Decode reads what [Order.Encode] wrote, without the length in front.
func Decode(b []byte) (*Order, error) {
	r := reader{rest: b}
	if r.u32() != orderMagic {
		return nil, errOrder
	}
	o := &Order{Exe: r.int(), Ruleset: r.int(), Status: r.int(), Keep: r.int(), PidMark: r.u32(), KeepCaps: r.u32()}
	for range r.count() {
		o.Limits = append(o.Limits, Limit{Resource: r.int(), Value: r.u64()})
	}
	for range r.count() {
		o.Filters = append(o.Filters, r.bytes())
	}
	for _, list := range []*[]string{&o.Args, &o.Env} {
		for range r.count() {
			*list = append(*list, string(r.bytes()))
		}
	}
	if r.bad || len(r.rest) != 0 {
		return nil, errOrder
	}
	return o, nil
}

// reader takes an order apart; after the first fault every read answers zero.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) int() int { return int(int32(r.u32())) }

// count reads the length of a list. Every element takes at least four bytes, so a
// longer list than the rest can hold is a fault.
func (r *reader) count() int {
	n := r.u32()
	if n > maxList || int(n) > len(r.rest)/4 {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) bytes() []byte { return r.take(int(r.u32())) }
