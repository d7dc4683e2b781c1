package setup

import (
	"path/filepath"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/policy"
)

// Policy returns what each role may do, without opening anything else.
func Policy(dir, root string) (policy.Policy, error) {
	s, err := settle(dir, root)
	return s.policy(), err
}

// policy is the shipped one with the operator's rules before it, narrowed by the
// bounds of the user's file and then by the workspace's.
func (s settings) policy() policy.Policy {
	p := policy.Shipped()
	p.Root = s.workspace
	p.Rules = append(s.rules(s.config.Policy.Rules), p.Rules...)
	for _, c := range s.config.Principals {
		p.Principals = append(p.Principals, principal(c))
	}
	for _, c := range []config.Config{s.config, s.narrower} {
		p = p.Narrow(cutroom.RoleAgent, bounds(c.Agent)).Narrow(cutroom.RoleOperator, bounds(c.Operator))
	}
	if own := s.narrower.Policy.Rules; len(own) > 0 {
		layer := policy.Layer{Name: "the workspace's " + config.Name, Rules: s.rules(own)}
		for n := range layer.Rules {
			layer.Rules[n].Space = cutroom.DigestOf([]byte(s.workspace)).Short()
		}
		p = p.WithLayer(layer)
	}
	return p
}

func bounds(b config.Bounds) policy.Bounds {
	return policy.Bounds{Tools: b.Tools, Kinds: words[cutroom.Kind](b.Kinds)}
}

func words[T ~string](list []string) []T {
	var out []T
	for _, s := range list {
		out = append(out, T(s))
	}
	return out
}

func principal(c config.Principal) policy.Principal {
	l := c.Limits
	return policy.Principal{
		Name: c.Name, Role: cutroom.Role(c.Role),
		Bounds: policy.Bounds{Tools: c.Tools, Kinds: words[cutroom.Kind](c.Kinds), Scopes: c.Scopes},
		Limits: policy.Limits{
			FileBytes: l.MaxFileBytes, Length: cutroom.Micros(l.MaxDurationSeconds) * cutroom.Second, Frames: l.MaxFrames,
			TranscriptBytes: l.MaxTranscriptBytes, Timeout: cutroom.Micros(l.TimeoutSeconds) * cutroom.Second,
		},
	}
}

// rules are a file's rules as the policy reads them. An allow rule that says nothing of
// the network or of replacing files speaks of neither.
func (s settings) rules(list []config.Rule) []policy.Rule {
	var out []policy.Rule
	for _, c := range list {
		quiet := config.Choice("any")
		if c.Effect == string(policy.Allow) {
			quiet = "false"
		}
		r := policy.Rule{
			Name: c.Name, Effect: policy.Effect(c.Effect), Reason: c.Reason, Line: c.Line,
			Principals: c.Principals, Roles: words[cutroom.Role](c.Roles), Tools: c.Tools, Kinds: words[cutroom.Kind](c.Kinds), Risks: c.Risks,
			Network: c.Network.Is(quiet), Writes: c.Writes.Is("any"), Overwrite: c.Overwrite.Is(quiet), Origins: c.Origins,
			Inputs: s.rooted(c.Inputs), InputsOutside: s.rooted(c.InputsOutside), Outputs: s.rooted(c.Outputs), OutputsOutside: s.rooted(c.OutputsOutside),
			Within: amounts(c.Within), Over: amounts(c.Over),
		}
		for _, w := range c.Where {
			r.Where = append(r.Where, s.where(w))
		}
		out = append(out, r)
	}
	return out
}

// rooted are folders as they are compared: as they are written, and where an absolute
// one leads when there is a link on its way, in the workspace's own spelling.
func (s settings) rooted(list []string) []string {
	var all []string
	for _, f := range list {
		all = append(all, f)
		if !filepath.IsAbs(f) {
			continue
		}
		real, err := filepath.EvalSymlinks(f)
		if err != nil {
			continue
		}
		if root, err := filepath.EvalSymlinks(s.workspace); err == nil {
			if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
				real = filepath.Join(s.workspace, rel)
			}
		}
		if real != filepath.Clean(f) {
			all = append(all, real)
		}
	}
	return all
}

func (s settings) where(c config.Where) policy.Where {
	w := policy.Where{At: c.At, Equals: value(c.Equals), AtLeast: value(c.AtLeast), AtMost: value(c.AtMost), Glob: c.Glob, Present: c.Present.Is("any"), Not: c.Not, Line: c.Line}
	if c.Beneath != "" {
		w.Beneath = s.rooted([]string{c.Beneath})
	}
	for _, v := range c.In {
		w.In = append(w.In, policy.Value(v))
	}
	return w
}

func value(s config.Scalar) *policy.Value {
	if s == "" {
		return nil
	}
	v := policy.Value(s)
	return &v
}

func amounts(a config.Amounts) policy.Amounts {
	return policy.Amounts{Bytes: a.Bytes.Whole(), Length: a.Seconds.Micros(), Cost: a.Cost.Micros(), CallsPerHour: a.CallsPerHour.Whole()}
}
