package policy

import (
	"maps"
	"slices"

	"cutroom"
)

// Shipped is the policy of an installation that configured none: the operator may
// do everything but reach the network unasked; an agent may look at anything in
// the workspace, and write new files with the editing families.
func Shipped() Policy {
	yes, no := true, false
	operator, agent := []cutroom.Role{cutroom.RoleOperator}, []cutroom.Role{cutroom.RoleAgent}
	execute := []cutroom.Kind{cutroom.Execute}
	return Policy{
		Bounds: map[cutroom.Role]Bounds{
			cutroom.RoleOperator: {Tools: []string{"*"}, Kinds: cutroom.Kinds},
			cutroom.RoleAgent:    {Tools: []string{"*"}, Kinds: []cutroom.Kind{cutroom.Read, cutroom.Preview, cutroom.Propose, cutroom.Execute}},
		},
		Rules: []Rule{
			{Name: "shipped: network", Network: &yes, Effect: Ask, Reason: "the call reaches the network; a person has to approve this very destination"},
			{Name: "shipped: looking", Kinds: []cutroom.Kind{cutroom.Read, cutroom.Preview}, Effect: Allow, Reason: "looking is allowed"},
			{Name: "shipped: operator", Roles: operator, Effect: Allow, Reason: "the operator decides"},
			{Name: "shipped: new files", Roles: agent, Tools: []string{"measure.*", "edit.*", "review.*"}, Kinds: execute, Overwrite: &no, Effect: Allow, Reason: "an agent may write new files"},
			{Name: "shipped: jobs", Roles: agent, Tools: []string{"job.*"}, Kinds: execute, Effect: Allow, Reason: "an agent may stop agents' jobs"},
			{Name: "shipped: asking", Roles: agent, Tools: []string{"approval.*"}, Kinds: []cutroom.Kind{cutroom.Propose}, Effect: Allow, Reason: "an agent may ask"},
			{Name: "shipped: agents ask", Roles: agent, Effect: Ask, Reason: "an agent needs a person's approval for this"},
		},
	}
}

// Narrow returns p with the bounds of role reduced to those that b has too; empty
// fields of b reduce nothing.
func (p Policy) Narrow(role cutroom.Role, b Bounds) Policy {
	p.Bounds = maps.Clone(p.Bounds)
	if old, ok := p.Bounds[role]; ok {
		old.within = append(slices.Clone(old.within), b)
		p.Bounds[role] = old
	}
	return p
}

// WithLayer returns p with further rules that can only narrow it.
func (p Policy) WithLayer(l Layer) Policy {
	p.Layers = append(slices.Clone(p.Layers), l)
	return p
}
