package media

import (
	"context"
	"errors"

	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
)

// refine lets a text model tighten the evidence once, where the operator opened that. It
// fails quietly but not silently: the evidence stays as it was.
func (r *reading) refine() error {
	if !r.set.Refine.Open() || !r.remote() || r.out.Findings.Empty() {
		return nil
	}
	x, ok := r.env.Readers().Refiner()
	if !ok {
		return nil
	}
	if !x.Local && r.env.Readers().Consent() != lens.Allowed {
		r.warn("refine skipped: " + lens.NoConsent)
		return nil
	}
	rules, evidence, err := lens.RefineInstruction(r.out.Findings)
	if err != nil {
		return err
	}
	var better lens.Findings
	hop := tool.ReadHop{Reader: x, Hop: provider.Hop{Route: string(lens.Configured)}}
	hop.Request = func(context.Context) (provider.Request, error) {
		q := provider.Request{Messages: []provider.Message{
			{Role: provider.RoleSystem, Parts: []provider.Part{provider.TextPart(rules)}},
			{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart(evidence)}},
		}}
		if r.set.Structured {
			q.Schema = &provider.Schema{Name: lens.SchemaName, JSON: lens.Schema()}
		}
		return q, nil
	}
	hop.Accept = func(reply provider.Reply) error {
		f, err := lens.Refined(reply.Message.Text(), r.out.Findings)
		if err == nil {
			better = f
		}
		return err
	}
	out, err := r.env.Readers().Ask(r.ctx, []tool.ReadHop{hop})
	var failed *provider.Failed
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	if failed != nil {
		out.Attempts = failed.Attempts
	}
	try := &lens.RefineAttempt{Provider: "refined:openai/" + x.Model, Model: x.Model, OK: failed == nil}
	for _, a := range out.Attempts {
		try.Class, try.Message, try.MS, try.Tokens = lens.Class(a.Class), a.Message, try.MS+a.MS, try.Tokens+a.Tokens
		r.out.Meta.Budget.BytesSent += a.BytesSent
	}
	r.out.Meta.RefineAttempt = try
	if !try.OK {
		why := try.Message
		if why == "" {
			why = string(try.Class)
		}
		if why == "" && len(out.Attempts) > 0 {
			why = out.Attempts[len(out.Attempts)-1].Skipped
		}
		r.warn("refine failed: " + why)
		return nil
	}
	try.Class, try.Message = "", ""
	r.out.Findings = better
	return nil
}
