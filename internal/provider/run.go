package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cutroom"
)

// run is one walk along a chain.
type run struct {
	Chain
	hops    []Hop
	on      func(Delta)
	said    bool // something was streamed that a later attempt voids
	queue   []turn
	states  []hopState
	resting map[Target]time.Time // as the store knew, and since
	clean   cleaner
	out     Outcome
	last    int // the hop that was tried last and failed, -1 for none
}

// turn is one key of one hop.
type turn struct {
	hop, key int
	late     bool // it rests, and stands at the end
}

// hopState is what a hop's keys share.
type hopState struct {
	request *Request
	shrunk  bool
	fixed   bool  // one repair was asked for
	over    Class // the failure that ended the hop; no further key is tried
	failed  Class // of the last key
	lastKey int
}

func (c Chain) begin(hops []Hop, on func(Delta)) *run {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Cool <= 0 {
		c.Cool = DefaultCool
	}
	r := &run{Chain: c, hops: hops, states: make([]hopState, len(hops)), resting: map[Target]time.Time{}, clean: cleaner{more: c.Redact}, last: -1}
	r.out.Hop = -1
	r.on = on
	for _, h := range hops {
		r.clean.learn(h.Endpoint)
	}
	return r
}

func (r *run) warn(format string, args ...any) {
	r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
}

// line puts the turns in order: who rests comes last.
func (r *run) line(ctx context.Context) {
	var all []turn
	var targets []Target
	for h, hop := range r.hops {
		for k := range max(len(hop.Endpoint.Keys), 1) {
			all = append(all, turn{hop: h, key: k})
			targets = append(targets, r.target(turn{hop: h, key: k}))
		}
	}
	if r.Cooldowns != nil && len(targets) > 0 {
		known, err := r.Cooldowns.Resting(ctx, targets)
		if err != nil {
			r.warn("which providers rest is not known: %s", r.clean.text(cutroom.AsError(err).Msg))
		}
		now := r.Now()
		for t, until := range known {
			if until.After(now) {
				r.resting[t] = until
			}
		}
	}
	var late []turn
	for _, t := range all {
		until, rests := r.resting[r.target(t)]
		if hop := r.hops[t.hop]; !rests || hop.Skip != "" || hop.Local != nil {
			r.queue = append(r.queue, t)
			continue
		}
		t.late = true
		late = append(late, t)
		r.warn("cooled: %s rests for %s more and was moved to the end of the chain", r.who(t), rest(until.Sub(r.Now())))
	}
	r.queue = append(r.queue, late...)
}

func rest(d time.Duration) string { return max(d.Round(time.Second), time.Second).String() }

// who names a turn in a warning.
func (r *run) who(t turn) string {
	h := r.hops[t.hop]
	text := h.name()
	if h.Endpoint.Model != "" {
		text += " (" + h.Endpoint.Model + ")"
	}
	if n := len(h.Endpoint.Keys); n > 1 {
		text += fmt.Sprintf(" key %d of %d", t.key+1, n)
	}
	return text
}

func (r *run) key(t turn) string {
	if keys := r.hops[t.hop].Endpoint.Keys; t.key < len(keys) {
		return keys[t.key]
	}
	return ""
}

func (r *run) target(t turn) Target {
	e := r.hops[t.hop].Endpoint
	return Target{e.Name, e.Model, Fingerprint(e.BaseURL, r.key(t))}
}

// postpone moves a turn to the end whose key another hop of this run sent to rest, and
// drops the keys of a hop that is over.
func (r *run) postpone(t turn) bool {
	state, hop := &r.states[t.hop], r.hops[t.hop]
	if state.over != "" && (!t.late || state.over != Unavailable && state.over != TimedOut) {
		return true
	}
	if _, rests := r.resting[r.target(t)]; !rests || t.late || hop.Local != nil || hop.Skip != "" {
		return false
	}
	t.late = true
	r.queue = append(r.queue, t)
	r.warn("cooled: %s was moved to the end of the chain", r.who(t))
	return true
}

// try makes the requests of one turn: one, and one more with less or to repair.
func (r *run) try(ctx context.Context, t turn) (Reply, bool) {
	hop, state := r.hops[t.hop], &r.states[t.hop]
	if hop.Skip != "" {
		r.skip(t, hop.Skip, 0)
		r.warn("%s was skipped: %s", hop.name(), hop.Skip)
		state.over = BadRequest
		return Reply{}, false
	}
	if r.last >= 0 && r.last != t.hop {
		r.warn("failover: %s failed (%s), going on to %s", r.hops[r.last].name(), r.states[r.last].failed, r.who(t))
		r.last = -1
	}
	for {
		reply, f, stop := r.once(ctx, t)
		if f == nil {
			return reply, !stop
		}
		state.failed, state.lastKey = f.Class, t.key
		r.last = t.hop
		if stop {
			return Reply{}, false
		}
		if r.again(ctx, t, f, reply) {
			continue
		}
		if !f.Class.KeyFailure() || f.Status == 0 {
			state.over = f.Class
		} else {
			r.cool(ctx, t, f)
		}
		return Reply{}, false
	}
}

// again says whether the same key is asked once more: with less, or to repair.
func (r *run) again(ctx context.Context, t turn, f *Fault, reply Reply) bool {
	hop, state := r.hops[t.hop], &r.states[t.hop]
	switch {
	case f.Class == BadRequest && f.TooLarge && hop.Shrink != nil && !state.shrunk && state.request != nil:
		state.shrunk = true
		less, err := hop.Shrink(ctx, *state.request)
		if err != nil {
			r.record(t, Attempt{}, faultOf(err), r.Now())
			return false
		}
		state.request = &less
		return true
	case f.Class == EmptyOrUnparsable && hop.Repair != nil && !state.fixed && errors.Is(f.Err, errAnswer):
		state.fixed = true
		fixed := hop.Repair(*state.request, reply, errors.Unwrap(f.Err))
		state.request = &fixed
		return true
	}
	return false
}

// cool lets a key rest, for as long as the service says.
func (r *run) cool(ctx context.Context, t turn, f *Fault) {
	span := f.RetryAfter
	if span <= 0 {
		span = r.Cool
	}
	until := r.Now().Add(span)
	r.resting[r.target(t)] = until
	if r.Cooldowns == nil {
		return
	}
	if err := r.Cooldowns.Rest(context.WithoutCancel(ctx), r.target(t), until); err != nil {
		r.warn("that %s rests could not be kept: %s", r.who(t), r.clean.text(cutroom.AsError(err).Msg))
	}
}

// won records what a success means.
func (r *run) won(t turn, reply Reply) {
	h, state := r.hops[t.hop], r.states[t.hop]
	if state.failed.KeyFailure() && state.lastKey != t.key {
		r.warn("key rotation: %s answered after key %d failed (%s)", r.who(t), state.lastKey+1, state.failed)
	}
	r.out.Reply, r.out.Hop, r.out.Provider = reply, t.hop, h.name()
	if h.Local == nil {
		r.wake(t)
	}
}

// wake ends the rest of a key that was accepted.
func (r *run) wake(t turn) {
	target := r.target(t)
	if _, rested := r.resting[target]; !rested || r.Cooldowns == nil {
		return
	}
	if err := r.Cooldowns.Wake(context.Background(), target); err != nil {
		r.warn("that %s rests no longer could not be kept: %s", r.who(t), r.clean.text(cutroom.AsError(err).Msg))
	}
}

// record adds an attempt that failed.
func (r *run) record(t turn, a Attempt, f *Fault, begun time.Time) {
	a.Class, a.Message, a.BytesSent = f.Class, r.clean.message(f), f.Sent
	r.add(t, a, begun)
	if f.Warning != "" {
		r.warn("%s", r.clean.text(f.Warning))
	}
}

func (r *run) skip(t turn, why string, ms int64) { r.add(t, Attempt{Skipped: why, MS: ms}, r.Now()) }

func (r *run) add(t turn, a Attempt, begun time.Time) {
	h := r.hops[t.hop]
	a.Provider, a.Model, a.Cooled = h.name(), h.Endpoint.Model, t.late
	if len(h.Endpoint.Keys) > 1 && a.Skipped == "" {
		a.KeyIndex = &t.key
	}
	a.MS = max(r.Now().Sub(begun).Milliseconds(), a.MS)
	r.out.Attempts = append(r.out.Attempts, a)
}

// faultOf is an error of somebody else's as a fault.
func faultOf(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		c := *f
		return &c
	}
	e := cutroom.AsError(err)
	f := &Fault{Class: Unavailable, Message: e.Msg, Err: err}
	switch e.Code {
	case cutroom.Timeout:
		f.Class = TimedOut
	case cutroom.Invalid, cutroom.Limit, cutroom.UnreadableMedia, cutroom.NotFound, cutroom.Denied, cutroom.Precondition:
		f.Class = BadRequest
	}
	return f
}

// Targets lists whom the hops would ask, for commands that show who rests.
func Targets(hops []Hop) []Target {
	r := (Chain{}).begin(hops, nil)
	var list []Target
	for h, hop := range hops {
		for k := range max(len(hop.Endpoint.Keys), 1) {
			if t := r.target(turn{hop: h, key: k}); hop.Local == nil && !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
	}
	return list
}
