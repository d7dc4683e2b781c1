package approval

import (
	"context"
	"crypto/rand"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Decide says what the operator decided. Each decision is an operation of its own: one
// update of the request, made once or not at all; the same word later is another. No door offers it to a model, and approving
// takes the power that `cutroom approve` makes on a terminal.
var Decide = tool.Add(Family, tool.Spec[DecideInput, DecideOutput]{
	Name:        "approval.decide",
	Summary:     "Approve, refuse or take back a request",
	Description: "Write down what the operator decided about a request. It is called by `cutroom approve`, `cutroom deny` and `cutroom approvals revoke`; approving by it alone is refused.",
	Kind:        cutroom.Approve,
	Risk:        tool.HighRisk,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Timeout:     30 * time.Second,
	Key:         func(DecideInput) string { return rand.Text() },
	Examples:    []DecideInput{{ID: "k3v5q7x2m4n6p7ra", Decision: cutroom.SayDeny}, {Decision: cutroom.SayRevoke, Before: "2026-01-02T15:04:05Z"}},
	Run: func(ctx context.Context, env tool.Env, in DecideInput) (DecideOutput, error) {
		var out DecideOutput
		v := cutroom.Verdict{ID: in.ID, Say: in.Decision, Life: time.Duration(in.Minutes) * time.Minute}
		if in.Before != "" {
			t, err := time.Parse(time.RFC3339, in.Before)
			if err != nil {
				return out, tool.Undone(cutroom.Errorf(cutroom.Invalid, "before is not a time").WithHint("use RFC 3339, such as 2026-01-02T15:04:05Z"))
			}
			v.Before = t
		}
		a, n, err := env.Approvals().Decide(ctx, v)
		if err != nil {
			return out, tool.Undone(err)
		}
		out.Count = n
		if a.ID != "" {
			e := entry(a, false)
			out.Approval = &e
		}
		return out, nil
	},
})

// DecideInput is a decision.
type DecideInput struct {
	ID       string `json:"id,omitempty" max:"64" doc:"The request: its approval_id. Left out with before."`
	Decision string `json:"decision" enum:"approve,deny,revoke" doc:"What was decided."`
	Minutes  int    `json:"minutes,omitzero" min:"1" max:"1440" doc:"How long an approval lives; 15 at most where the call reaches the network. Default: approvals.life_minutes."`
	Before   string `json:"before,omitempty" max:"40" doc:"With revoke: take back everything approved or granted up to this time, RFC 3339."`
}

// Validate refuses a decision about nothing, and one about everything that is none.
func (in DecideInput) Validate() error {
	if (in.ID == "") == (in.Before == "") {
		return cutroom.Errorf(cutroom.Invalid, "a decision is about one request (id), or revoke about all before a time (before)").WithHint("give one of the two")
	}
	if in.Before != "" && in.Decision != cutroom.SayRevoke {
		return cutroom.Errorf(cutroom.Invalid, "before goes with revoke only").WithHint("decide about each request by its id")
	}
	return nil
}

// DecideOutput is what became of it.
type DecideOutput struct {
	cutroom.Unrecorded
	Approval *Entry `json:"approval,omitempty" doc:"The request, after the decision."`
	Count    int64  `json:"count" min:"0" doc:"How many requests and grants that decided."`
}
