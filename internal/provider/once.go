package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cutroom"
)

// errAnswer marks the fault of an answer that Accept did not take.
var errAnswer = errors.New("the answer was not accepted")

// once makes one request of a turn and records it. stop says that there is nothing more
// to be done for this turn: the context ended, or the ledger refused.
func (r *run) once(ctx context.Context, t turn) (reply Reply, f *Fault, stop bool) {
	hop, state, begun := r.hops[t.hop], &r.states[t.hop], r.Now()
	if hop.Local != nil {
		reply, err := hop.Local(ctx)
		reply.Usage = reply.Usage.Counted()
		if on := r.stream(); err == nil && on != nil {
			on(Delta{Text: reply.Message.Text()})
		}
		return r.judge(ctx, t, reply, err, begun)
	}
	if state.request == nil {
		q, err := hop.Request(ctx)
		if err != nil {
			return r.judge(ctx, t, Reply{}, orFault(err), begun)
		}
		state.request = &q
	}
	p, err := r.Client.prepare(hop.Endpoint, *state.request, r.on != nil)
	if err != nil {
		return r.judge(ctx, t, Reply{}, orFault(err), begun)
	}
	charge := hop.Endpoint.charge(*state.request, p)
	if r.Ledger != nil {
		if err := r.Ledger.Charge(ctx, charge); err != nil {
			if ctx.Err() != nil {
				return Reply{}, nil, true
			}
			r.skip(t, SkipBudget, 0)
			r.warn("%s was skipped: %s", hop.name(), r.clean.text(cutroom.AsError(err).Msg))
			state.over = BadRequest
			return Reply{}, nil, true
		}
	}
	reply, err = r.send(ctx, t, p)
	r.settle(ctx, hop.Endpoint, charge, reply, err)
	return r.judge(ctx, t, reply, err, begun)
}

// send sends under the hop's own time.
func (r *run) send(ctx context.Context, t turn, p packed) (Reply, error) {
	hop := r.hops[t.hop]
	within, cancel := ctx, context.CancelFunc(func() {})
	if hop.Timeout > 0 {
		within, cancel = context.WithTimeout(ctx, hop.Timeout)
	}
	defer cancel()
	reply, err := r.Client.send(within, hop.Endpoint, r.key(t), p, r.stream())
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		err = &Fault{Class: TimedOut, Message: fmt.Sprintf("no answer within %s", hop.Timeout), Err: err, Sent: int64(len(p.body))}
	}
	return reply, err
}

// stream is where the pieces of the next answer go; nil where nobody wants them. It voids
// those that came before.
func (r *run) stream() func(Delta) {
	if r.on == nil {
		return nil
	}
	if r.said {
		r.on(Delta{Again: true})
		r.said = false
	}
	return func(d Delta) { r.said = true; r.on(d) }
}

// judge decides what an answer is worth, and records it.
func (r *run) judge(ctx context.Context, t turn, reply Reply, err error, begun time.Time) (Reply, *Fault, bool) {
	hop := r.hops[t.hop]
	if err != nil && ctx.Err() != nil {
		f := &Fault{Class: TimedOut, Message: "the call ended"}
		if e, ok := errors.AsType[*ended](err); ok {
			f.Sent = e.sent
		}
		r.record(t, Attempt{}, f, begun)
		return Reply{}, f, true
	}
	if err == nil && reply.Stop == StopRefused {
		err = &Fault{Class: Refused, Message: orText(reply.Refusal, "the model refused"), Sent: reply.Sent}
	}
	if err == nil && hop.Accept != nil {
		if no := hop.Accept(reply); no != nil {
			err = answerFault(no, reply.Sent)
		}
	}
	tokens := reply.Usage.Input + reply.Usage.Output
	if err == nil {
		r.add(t, Attempt{OK: true, BytesSent: reply.Sent, Tokens: tokens}, begun)
		return reply, nil, false
	}
	f := faultOf(err)
	r.record(t, Attempt{Tokens: tokens}, f, begun)
	return reply, f, false
}

func answerFault(err error, sent int64) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		c := *f
		c.Sent = sent
		return &c
	}
	return &Fault{Class: EmptyOrUnparsable, Message: err.Error(), Err: &refusedAnswer{err}, Sent: sent}
}

// refusedAnswer is why Accept did not take an answer.
type refusedAnswer struct{ why error }

func (r *refusedAnswer) Error() string        { return r.why.Error() }
func (r *refusedAnswer) Unwrap() error        { return r.why }
func (r *refusedAnswer) Is(target error) bool { return target == errAnswer }

// orFault turns what stood in the way before anything was sent into a fault.
func orFault(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return faultOf(err)
}
