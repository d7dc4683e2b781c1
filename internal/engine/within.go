package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/tool"
)

// within refuses what the run that makes the call may not do, whatever its principal may.
func (k *call) within(t *tool.Tool) error {
	w := k.Within
	switch {
	case w == nil:
		return nil
	case !slices.Contains(w.Tools, t.Name):
		return cutroom.Errorf(cutroom.NotFound, "there is no tool %q for this run", t.Name).WithHint("`cutroom agent show ID` lists its tools")
	case len(w.Scopes) > 0 && !slices.Contains(w.Scopes, t.Scope):
		return cutroom.Errorf(cutroom.Denied, "%s needs the scope %s, which this run does not hold", t.Name, t.Scope).
			WithHint("start it with a token that has the scope")
	}
	return k.reaches(t.Kind)
}

// reaches refuses a kind of call above those of the run that makes it.
func (k *call) reaches(kind cutroom.Kind) error {
	if k.Within == nil || slices.Contains(k.Within.Kinds, kind) {
		return nil
	}
	return cutroom.Errorf(cutroom.Denied, "%s: calls of kind %s are above what this run may do now", k.tool.Name, kind).
		WithHint("a person can start a run with more kinds, or have a plan carried out")
}

// Inner lists the tools that exist for runs of agents alone, as a principal may call them.
func (e *Engine) Inner(who cutroom.Principal) []*tool.Tool {
	var list []*tool.Tool
	for _, f := range e.Registry.Families() {
		for _, t := range f.Inner() {
			if _, err := e.offered(who, t.Name, true); err == nil {
				list = append(list, t)
			}
		}
	}
	return list
}

// longestName is how much of a name that somebody made up stands in the audit.
const longestName = 64

// Reject writes down a call that its caller's own guard refused: it was not made.
func (e *Engine) Reject(ctx context.Context, c Call, why error) {
	if e.Audit == nil {
		return
	}
	fault := cutroom.AsError(e.Redact.Error(why))
	name := strings.ToValidUTF8(e.Redact.Text(c.Tool), "\uFFFD")
	if utf8.RuneCountInString(name) > longestName {
		name = string([]rune(name)[:longestName-1]) + "…"
	}
	event := cutroom.AuditEvent{
		Type: cutroom.AuditInvoke, Call: newID(), Principal: c.Principal, Tool: strings.ReplaceAll(name, "\x00", ""), Input: cutroom.DigestOf(c.Input),
		Decision: string(policy.Deny), Reason: fault.Msg, Outcome: string(fault.Code), Detail: "refused before it was made",
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	if err := e.Audit.Record(ctx, event, nil); err != nil {
		e.Log.Warn("a refused call could not be written down", "tool", name, "cause", err)
	}
}

// Agents starts runs on behalf of the run that makes the call.
func (v *env) Agents() tool.Agents {
	for k := v.k; k != nil; k = k.parent {
		if k.Agents != nil {
			return k.Agents
		}
	}
	return noAgents{}
}

// noAgents is nobody.
type noAgents struct{}

func (noAgents) Delegate(context.Context, tool.Task) (tool.Delegated, error) {
	return tool.Delegated{}, cutroom.Errorf(cutroom.Precondition, "only a run of an agent can delegate").WithHint("start one with `cutroom agent run`")
}
