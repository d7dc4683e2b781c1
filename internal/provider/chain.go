package provider

import (
	"context"
	"fmt"
	"time"

	"cutroom"
)

// Chain tries hops in order until one answers. It is a value; its parts may be shared.
//
// Within a hop the keys are tried in order: one that is not accepted, or has spent what
// it may, rests, and the next is tried. Any other failure goes on to the next hop and
// leaves the key alone. Who rests is moved to the end of the chain and tried last.
type Chain struct {
	Client    *Client
	Cooldowns Cooldowns           // nil: who rests is known within one run only
	Ledger    Ledger              // nil: nothing is charged
	Cool      time.Duration       // how long a key rests whose service does not say; 0: 10 minutes
	Redact    func(string) string // takes secrets out of a message, after those that the hops hold; may be nil
	Now       func() time.Time    // nil: time.Now
}

// DefaultCool is how long a key rests where neither the service nor the operator says.
const DefaultCool = 10 * time.Minute

// Hop is one step of a chain: an endpoint, or something local in its place.
type Hop struct {
	Route    string // where it comes from, the prefix of its attempts: "registered", "configured", …
	Endpoint Endpoint
	// Request makes what is sent, when it is first needed. A *Fault as its error is the
	// attempt's.
	Request func(context.Context) (Request, error)
	// Shrink makes less of a request that is too large; nil where that cannot be. It is
	// asked once.
	Shrink func(context.Context, Request) (Request, error)
	// Accept refuses an answer that is of no use; nil accepts all. A *Fault (as [Echo])
	// ends the hop; after any other error the model is asked once more with what Repair
	// makes of it, where there is one.
	Accept func(Reply) error
	Repair func(Request, Reply, error) Request
	// Local answers in the place of an endpoint, of which the name and model count then.
	Local   func(context.Context) (Reply, error)
	Skip    string        // not "": it is not tried, for this reason, such as [SkipNoConsent]
	Timeout time.Duration // of each request; 0: the client's times alone
}

// Why a hop was not tried.
const (
	SkipNoConsent = "no_consent" // nobody allowed that anything is sent there
	SkipBudget    = "budget"     // the ledger refuses
)

// Attempt is one request that was made, or was not and why.
type Attempt struct {
	Provider  string `json:"provider" doc:"Who was asked, with where it comes from as prefix: registered:, multimodal:, reencode:multimodal:, configured:, frames:, asr: or local:."`
	Model     string `json:"model" doc:"The model that was asked."`
	KeyIndex  *int   `json:"keyIndex,omitempty" doc:"Which of the provider's keys was used, from 0, where it has several."`
	OK        bool   `json:"ok" doc:"Whether its answer counted."`
	Class     Class  `json:"class,omitempty" doc:"What went wrong: rate_limited, quota, auth, unavailable, timeout, bad_request, refused, context_overflow or empty_or_unparsable."`
	Message   string `json:"message,omitempty" doc:"What the provider said of it, without keys and addresses, cut."`
	MS        int64  `json:"ms" doc:"How long it took, in milliseconds."`
	BytesSent int64  `json:"bytes_sent" doc:"Bytes of the request's body that left."`
	Tokens    int64  `json:"tokens,omitempty" doc:"Tokens of request and answer, where the provider counts them."`
	Cooled    bool   `json:"cooled,omitempty" doc:"The key was resting: it was moved to the end of the chain and tried last."`
	Skipped   string `json:"skipped,omitempty" doc:"Why nothing was sent: no_consent or budget."`
}

// Outcome is what became of a run.
type Outcome struct {
	Reply    Reply
	Hop      int    // index of the hop that answered, -1 for none
	Provider string // of that hop, as its attempts say it
	Attempts []Attempt
	Warnings []string // what a caller has to see: where it went instead, and why
}

// Run tries the hops and returns the first answer that counts. With on, answers are
// streamed to it; a piece with Again voids those before it. When none counts the error
// is a *Failed, which the outcome's attempts are in, too; when the context ends it is
// the context's.
func (c Chain) Run(ctx context.Context, hops []Hop, on func(Delta)) (Outcome, error) {
	r := c.begin(hops, on)
	r.line(ctx)
	for len(r.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return r.out, err
		}
		next := r.queue[0]
		r.queue = r.queue[1:]
		if r.postpone(next) {
			continue
		}
		reply, ok := r.try(ctx, next)
		if ok {
			r.won(next, reply)
			return r.out, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return r.out, err
	}
	return r.out, &Failed{r.out.Attempts, r.out.Warnings}
}

func (h Hop) name() string {
	if h.Route == "" {
		return h.Endpoint.Name
	}
	return h.Route + ":" + h.Endpoint.Name
}

// Failed is the one error of a chain in which nobody answered.
type Failed struct {
	Attempts []Attempt
	Warnings []string
}

// Error lists who failed how; no word of it is a service's.
func (f *Failed) Error() string {
	if len(f.Attempts) == 0 {
		return "no provider is configured for this"
	}
	text := "no provider answered"
	for i, a := range f.Attempts {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s %s", sep, a.Provider, orText(a.Skipped, string(a.Class)))
	}
	return text
}

// Class is the class that the failures have in common, "" when they have none, and when
// something was skipped.
func (f *Failed) Class() Class {
	var c Class
	for i, a := range f.Attempts {
		if a.Skipped != "" || i > 0 && a.Class != c {
			return ""
		}
		c = a.Class
	}
	return c
}

// skipped is the reason for which everything was skipped, "" when something was tried.
func (f *Failed) skipped() string {
	why := ""
	for _, a := range f.Attempts {
		if a.Skipped == "" {
			return ""
		}
		why = orText(why, a.Skipped)
	}
	return why
}

// Unwrap is the failure as callers see it.
func (f *Failed) Unwrap() error {
	code, hint := cutroom.Unavailable, "see the attempts; repeat the call later, or name another provider in cutroom.yaml"
	class := f.Class()
	switch {
	case len(f.Attempts) == 0:
		code, hint = cutroom.Precondition, "name one in lens.providers or models of cutroom.yaml"
	case f.skipped() == SkipNoConsent:
		code, hint = cutroom.Denied, "set lens.allow_upload: true in cutroom.yaml, or ask for this one call with send: true"
	case f.skipped() == SkipBudget:
		code, hint = cutroom.Budget, "raise lens.budget in cutroom.yaml, or ask for less of the media"
	case class == Auth || class == Quota:
		code, hint = cutroom.Precondition, "check the keys that cutroom.yaml refers to, and what they may spend"
	case class == TimedOut:
		code, hint = cutroom.Timeout, "repeat the call later, or ask for less of the media"
	case class == ContextOverflow || class == BadRequest:
		code, hint = cutroom.Limit, "ask for less of the media, or name another model in cutroom.yaml"
	}
	return cutroom.Errorf(code, "%s", f.Error()).WithHint("%s", hint)
}
