package engine

import (
	"context"
	"slices"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/policy"
	"cutroom/internal/tool"
)

// lists says whether a tool exists for a principal.
func (e *Engine) lists(who cutroom.Principal, name string) bool {
	t := policy.Tool{Name: name}
	if known, ok := e.Registry.Find(name); ok {
		t = policy.Tool{Name: known.Name, Scope: known.Scope}
	}
	return e.Policy.Lists(who, t)
}

// Offered is the first guard, and the second: the tool of that name as a principal may
// call it. What is not in its allow-list is not_found, what is above its ceiling denied.
func (e *Engine) Offered(who cutroom.Principal, name string) (*tool.Tool, error) {
	return e.offered(who, name, false)
}

// offered is [Engine.Offered]; tools that are for runs of agents exist for those alone.
func (e *Engine) offered(who cutroom.Principal, name string, run bool) (*tool.Tool, error) {
	t, ok := e.Registry.Find(name)
	if !ok || !e.lists(who, t.Name) || t.Inner && !run {
		err := cutroom.Errorf(cutroom.NotFound, "there is no tool %q", name)
		if near := e.Registry.Nearest(name); near != "" && e.lists(who, near) {
			return nil, err.WithHint("did you mean %s? `cutroom tool list` shows all", near)
		}
		return nil, err.WithHint("`cutroom tool list` shows all")
	}
	if err := e.ceiling(who, t); err != nil {
		return nil, err
	}
	return t, nil
}

// ceiling refuses a tool whose kind is above what the principal may do.
func (e *Engine) ceiling(who cutroom.Principal, t *tool.Tool) error {
	if d := e.Policy.Ceiling(who, t.Kind); d.Effect != policy.Allow {
		return cutroom.Errorf(cutroom.Denied, "%s: %s", t.Name, d.Reason).
			WithHint("a person can run it; `cutroom policy show` lists the ceilings")
	}
	return nil
}

// authorize is step 5: allow, deny or ask. Where the policy asks, the call needs an
// approval of its own ([call.consent]); a tool that cannot be served here is not asked
// about.
func (k *call) authorize(ctx context.Context) error {
	q, err := k.question(ctx)
	if err != nil {
		return err
	}
	if d := k.e.Policy.Ceiling(k.Principal, q.Kind); d.Effect != policy.Allow {
		return cutroom.Errorf(cutroom.Denied, "%s: %s", k.tool.Name, d.Reason).WithHint("leave the output away, or have a person run it")
	}
	if err := k.reaches(q.Kind); err != nil {
		return err
	}
	d, err := k.decide(ctx, &q)
	if err != nil {
		return err
	}
	switch d = k.decided(d); d.Effect {
	case policy.Allow:
		if k.PlanFirst {
			k.asks = "its plan is to be approved first"
		}
	case policy.Ask:
		if err := k.tool.Available(k.in); err != nil {
			return cutroom.Errorf(cutroom.NeedsApproval, "%s: %s", k.tool.Name, d.Reason).WithHint("%s", cutroom.AsError(err).Error())
		}
		k.asks = d.Reason
	default:
		return cutroom.Errorf(cutroom.Denied, "%s: %s", k.tool.Name, d.Reason).
			WithHint("%s", k.explained())
	}
	if err := k.tool.Available(k.in); err != nil {
		return err
	}
	return k.capable()
}

// MayWrite says whether who may write a new file by a command that is no tool's. Nobody is
// asked about it: it is refused where a rule denies to execute, or to write there.
func (e *Engine) MayWrite(who cutroom.Principal, path string) error {
	d := e.Policy.Ceiling(who, cutroom.Execute)
	if d.Effect == policy.Allow {
		d = e.Policy.Decide(policy.Request{
			Principal: who, Kind: cutroom.Execute, Writes: true, Outputs: []string{e.real(path)}, Arguments: []byte(`{}`),
		})
	}
	if d.Effect == policy.Deny {
		return e.Redact.Error(cutroom.Errorf(cutroom.Denied, "a new file: %s", d.Reason).
			WithHint("a person can run it; `cutroom policy show` lists the rules"))
	}
	return nil
}

// capable refuses a call whose tool needs a program that is not pinned here.
func (k *call) capable() error {
	for _, p := range k.tool.Needs.Programs {
		if k.e.Toolchain.Fingerprint(p) == "" {
			return cutroom.Errorf(cutroom.MissingDependency, "%s needs %s, which is not pinned on this machine", k.tool.Name, p).
				WithHint("install it and run `cutroom setup`; `cutroom doctor` says what is missing")
		}
	}
	if len(k.tool.Needs.Filters)+len(k.tool.Needs.Encoders)+len(k.tool.Needs.Decoders) == 0 {
		return nil
	}
	needs, worst := k.tool.Needs.Check(k.e.Machine())
	if worst != tool.Missing {
		return nil
	}
	for _, n := range needs {
		if n.State == tool.Missing {
			return cutroom.Errorf(cutroom.MissingDependency, "%s needs %s, which the pinned ffmpeg does not have", k.tool.Name, n.Capability).
				WithHint("install a full ffmpeg build and run `cutroom setup`")
		}
	}
	return nil
}

// Machine is what tool needs are checked against.
func (e *Engine) Machine() tool.Machine { return machine{e} }

type machine struct{ e *Engine }

func (m machine) HasProgram(n string) bool { return m.e.Toolchain.Fingerprint(n) != "" }
func (m machine) HasFilter(n string) bool  { return m.e.has((*ffmpeg.Abilities).Filter, n) }
func (m machine) HasEncoder(n string) bool { return m.e.has((*ffmpeg.Abilities).Encoder, n) }
func (m machine) HasDecoder(n string) bool { return m.e.has((*ffmpeg.Abilities).Decoder, n) }
func (m machine) HasLayer(n string) bool {
	return m.e.Layers != nil && slices.Contains(m.e.Layers(), n)
}

func (e *Engine) has(ask func(*ffmpeg.Abilities, string) bool, name string) bool {
	a := e.Abilities()
	return ask(&a, name)
}
