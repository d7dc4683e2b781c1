package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/stage"
)

// remember says what the policy answers to who reading a result of these sources: the
// question of the tool that made it, asked again as one of kind read. What was found out
// about a medium is as much as the medium.
func (e *Engine) remember(ctx context.Context, who cutroom.Principal, m *stage.Manifest, sources []stage.Source) (policy.Decision, error) {
	if d := e.Policy.Ceiling(who, cutroom.Read); d.Effect != policy.Allow && who != m.Principal {
		return d, nil
	}
	q := policy.Request{Principal: who, Tool: m.Tool, Kind: cutroom.Read, Arguments: m.Request}
	if t, ok := e.Registry.Find(m.Tool); ok {
		q.Risk = string(t.Risk)
		if shown, err := t.Recall(m.Request); err == nil {
			q.Arguments = shown
		}
	}
	var size int64
	var length cutroom.Micros
	q.Bytes, q.Length = &size, &length
	for _, s := range sources {
		size += s.Size
		switch {
		case s.Duration == nil:
			q.Length = nil
		case q.Length != nil:
			length += *s.Duration
		}
		if s.Kind == cutroom.LocalFile {
			// The recorded request names a file by its content, the policy by where it lies.
			if path, err := json.Marshal(e.located(s.Locator)); err == nil {
				q.Arguments = bytes.ReplaceAll(q.Arguments, []byte(`"`+string(s.SHA256)+`"`), path)
			}
			q.Inputs = append(q.Inputs, e.lies(s.Locator))
		}
	}
	if keys := e.Policy.Counters(q); len(keys) > 0 && e.Meter != nil {
		var err error
		if q.Used, err = e.Meter.Used(ctx, keys, e.Now()); err != nil {
			return policy.Decision{}, err
		}
	}
	return e.Policy.Decide(q), nil
}

// lies is where the file of a recorded locator lies, "" when it is not there or its name
// is not known.
func (e *Engine) lies(locator string) string {
	p := e.path("", locator)
	if _, err := os.Lstat(p); err != nil {
		return ""
	}
	return p
}

// mayRecall refuses a result that the policy lets who not read. What asks is open to
// those only whose own call made it: that call was allowed.
func (e *Engine) mayRecall(ctx context.Context, who cutroom.Principal, m *stage.Manifest) (policy.Decision, error) {
	if !e.lists(who, m.Tool) {
		return policy.Decision{}, cutroom.Errorf(cutroom.NotFound, "there is no recorded result %q", m.Invocation.Short())
	}
	d, err := e.remember(ctx, who, m, m.Sources)
	if err != nil || d.Effect == policy.Allow || d.Effect == policy.Ask && who == m.Principal {
		return d, err
	}
	return d, closed(m, d)
}

func closed(m *stage.Manifest, d policy.Decision) error {
	return cutroom.Errorf(cutroom.Denied, "the recorded result %s of %s: %s", m.Invocation.Short(), m.Tool, d.Reason).
		WithHint("a person can read it; `cutroom policy explain %s` says which rule decides", m.Tool)
}

// MayRecall says whether who may read a recorded result, and be told what it came from.
func (e *Engine) MayRecall(ctx context.Context, who cutroom.Principal, r *stage.Result) error {
	_, err := e.mayRecall(ctx, who, &r.Manifest)
	return e.Redact.Error(err)
}

// noteRead writes down that a record was read, or that it was refused.
func (e *Engine) noteRead(ctx context.Context, who cutroom.Principal, run string, r *Recorded, d policy.Decision, fault error) {
	if e.Audit == nil {
		return
	}
	event := cutroom.AuditEvent{
		Type: cutroom.AuditInvoke, Call: newID(), Principal: who, Kind: cutroom.Read, Input: cutroom.DigestOf([]byte(run)),
		Decision: string(d.Effect), Reason: d.Reason, Outcome: cutroom.OutcomeOK, Detail: "a record was read",
	}
	if fault != nil {
		event.Outcome, event.Detail = string(cutroom.AsError(fault).Code), "a record was asked for"
	}
	if r != nil {
		event.Tool, event.Run, event.Output = r.Tool, r.Run, cutroom.DigestOf(r.JSON)
		event.Revision = r.result.Manifest.Revision
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	if err := e.Audit.Record(ctx, event, nil); err != nil {
		e.Log.Warn("a read could not be written down", "run", run, "cause", err)
	}
}
