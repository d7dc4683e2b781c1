package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/provider"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// Bounds of what a model may ask for.
const (
	maxCalls    = 64      // of one answer
	maxInput    = 1 << 20 // bytes of the arguments of one call
	longestName = 64      // of a tool, as it is kept
	maxSummary  = 4000    // bytes of an input or output in an event
)

// call is one call that a model wants to be made.
type call struct {
	provider.ToolCall
	turn, index int
	beside      int        // how many calls the answer holds in all
	tool        *tool.Tool // nil: it is not offered
	refusal     error      // why it is not made
	past        standing   // what became of it before this process
}

// calls are those of an answer that have no result yet.
func (s *session) calls(m entry) []call {
	var list []call
	for i, c := range m.Calls {
		if s.heard(m.turn, i) {
			continue
		}
		k := call{ToolCall: c, turn: m.turn, index: i, beside: len(m.Calls)}
		if past := s.history.calls[place{m.turn, i}]; past != nil {
			k.past = *past
		}
		k.tool, k.refusal = s.guard(c)
		list = append(list, k)
	}
	return list
}

// heard says that the answer of a call is in the conversation.
func (s *session) heard(turn, index int) bool {
	return slices.ContainsFunc(s.talk, func(e entry) bool {
		return e.Role == provider.RoleTool && e.turn == turn && e.index == index
	})
}

// guard is the check before a call: only what is offered in this round is called, with
// arguments of a size that one can look at.
func (s *session) guard(c provider.ToolCall) (*tool.Tool, error) {
	i := slices.IndexFunc(s.tools, func(t *tool.Tool) bool { return t.MCPName() == c.Name || t.Name == c.Name })
	if i < 0 {
		return nil, cutroom.Errorf(cutroom.NotFound, "unavailable: there is no tool %q in this run", clip(c.Name, longestName)).
			WithHint("call one of those that are offered, or answer without a call")
	}
	if len(c.Input) > maxInput || strings.HasPrefix(c.Input, leftOut) {
		return nil, cutroom.Errorf(cutroom.Limit, "the arguments of %s have more than %d bytes", c.Name, maxInput).WithHint("name a file instead of writing it out")
	}
	return s.tools[i], nil
}

// act makes calls: those that only read together, all others one after the other. waits
// are the approvals that the run has to wait for.
func (s *session) act(calls []call) (waits []string, err error) {
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n-1].alongside() && calls[n].alongside() {
			n++
		}
		some, err := s.together(calls[:n])
		waits = append(waits, some...)
		if err != nil {
			return waits, err
		}
		calls = calls[n:]
	}
	return waits, nil
}

// alongside says that a call may be made while others are.
func (c call) alongside() bool {
	if c.tool == nil || c.tool.Kind != cutroom.Read && c.tool.Kind != cutroom.Preview {
		return false
	}
	if !c.tool.Writes() {
		return true
	}
	var in map[string]jsontext.Value
	if json.Unmarshal([]byte(c.Input), &in) != nil {
		return true // it is refused anyway
	}
	_, writes := in["output"]
	return !writes
}

// together makes calls at once, as many as the runtime allows.
func (s *session) together(calls []call) (waits []string, err error) {
	slots := make(chan struct{}, s.Parallel)
	var mu sync.Mutex
	var all sync.WaitGroup
	var errs []error
	for _, c := range calls {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			wait, err := s.make(c)
			mu.Lock()
			defer mu.Unlock()
			if wait != "" {
				waits = append(waits, wait)
			}
			errs = append(errs, err)
		})
	}
	all.Wait()
	slices.Sort(waits)
	return waits, errors.Join(errs...)
}

// make makes one call, or says why not. wait is the approval that it waits for.
func (s *session) make(c call) (wait string, err error) {
	if done, err := s.recovered(c); done || err != nil {
		return "", err
	}
	if err := s.mayGoOn(); err != nil {
		return "", err
	}
	request := s.callOf(c)
	if c.refusal != nil {
		s.Engine.Reject(s.ctx, request, c.refusal)
		return "", s.reject(c, c.refusal, false)
	}
	if !c.past.open { // else that was said before
		start := run.Start{
			Turn: c.turn, Index: c.index, CallID: c.ID, Tool: c.tool.Name, Kind: c.tool.Kind, Replay: string(c.tool.Replay),
			SHA256: cutroom.DigestOf([]byte(c.Input)), Recovery: c.recovery(),
		}
		start.Input, start.Cut = cutTo(c.Input, maxSummary)
		if err := s.w.Append(s.ctx, start); err != nil {
			return "", err
		}
	}
	began := s.Now()
	reply, err := s.Engine.Invoke(s.ctx, request)
	if cause := context.Cause(s.ctx); cause != nil && (err != nil || c.tool.Inner) {
		return "", cause // what was cut off has no outcome
	}
	return s.outcome(c, reply, err, began)
}

func (c call) recovery() run.Recovery {
	switch {
	case c.past.open:
		return run.Repeated
	case c.past.waits():
		return run.Approved
	}
	return ""
}

// callOf is a call as the engine takes it.
func (s *session) callOf(c call) engine.Call {
	name := c.Name
	if c.tool != nil {
		name = c.tool.Name
	}
	input := c.Input
	if input == "" {
		input = "{}"
	}
	spec := s.info.Spec
	k := engine.Call{
		Tool: name, Input: []byte(input), Principal: spec.Actor.Principal,
		Within: &engine.Within{Tools: spec.Tools, Kinds: s.kinds, Scopes: spec.Actor.Scopes}, Agents: &delegation{s, c},
	}
	if s.Progress != nil {
		k.Progress = func(p cutroom.Progress) { s.Progress(s.info.ID, p) }
	}
	return k
}

// outcome stores what became of a call and tells the model.
func (s *session) outcome(c call, reply *engine.Reply, err error, began time.Time) (wait string, fault error) {
	if e := cutroom.AsError(err); e != nil {
		if e.Code == cutroom.NeedsApproval && e.Approval != "" && s.info.Spec.Settings.OnApproval != Tell {
			return e.Approval, s.reject(c, err, true)
		}
		if e.Code == cutroom.Denied || e.Code == cutroom.NeedsApproval || e.Code == cutroom.NotFound && reply == nil && c.tool.Name == "" {
			return "", s.reject(c, err, false)
		}
	}
	end := run.End{
		Turn: c.turn, Index: c.index, CallID: c.ID, Tool: c.tool.Name, Status: run.Succeeded, MS: s.Now().Sub(began).Milliseconds(), Recovery: c.recovery(),
	}
	m := provider.Message{Role: provider.RoleTool, CallID: c.ID}
	var shown []picture
	var text string
	if err != nil {
		end.Status, end.Code = run.CallFailed, cutroom.AsError(err).Code
		text, m.Failed = s.failure(err), true
	} else {
		text, shown = s.told(reply, s.room(c))
		end.Reused, end.Approval, end.Pictures = reply.Reused, reply.Approval, len(shown)
		if !reply.Transient { // what is not recorded cannot be read again
			end.Run = reply.Run
		}
		describe(&end, reply, c.tool.Inner)
	}
	m.Parts = []provider.Part{provider.TextPart(text)}
	end.Output, end.Cut = cutTo(text, maxSummary)
	if err := s.tell(c, line{Kind: lineResult, Turn: c.turn, Index: c.index, Message: m, Pictures: shown, End: &end}); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), lastTime) // what was done is written down, whoever stops the run now
	defer cancel()
	return "", s.w.Append(ctx, end)
}

// tell puts a result into the conversation and the evidence.
func (s *session) tell(c call, l line) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	if l.End != nil {
		s.usage.Calls++
		if l.End.Run != "" && !slices.ContainsFunc(s.proofs, func(f found) bool { return f.run == l.End.Run }) {
			s.proofs = append(s.proofs, found{c.turn, c.tool.Name, c.Input, l.End.Run, l.End.Files})
		}
	}
	return s.hear(l)
}

// reject stores that a call was not made. One that waits has no answer yet.
func (s *session) reject(c call, why error, waits bool) error {
	e := cutroom.AsError(s.Redact.Error(why))
	name := c.Name
	if c.tool != nil {
		name = c.tool.Name
	}
	r := run.Rejected{
		Turn: c.turn, Index: c.index, CallID: c.ID, Tool: clip(name, longestName), Code: e.Code,
		Message: e.Msg, Approval: cutroom.AsError(why).Approval, Waits: waits,
	}
	r.Input, _ = cutTo(c.Input, maxSummary)
	if !waits {
		m := provider.Message{Role: provider.RoleTool, CallID: c.ID, Failed: true, Parts: []provider.Part{provider.TextPart(s.failure(why))}}
		if err := s.tell(c, line{Kind: lineResult, Turn: c.turn, Index: c.index, Message: m, Rejected: &r}); err != nil {
			return err
		}
	}
	return s.w.Append(s.ctx, r)
}

// failure is a failed call as the model is told: the document that every door answers with.
func (s *session) failure(err error) string {
	f := cutroom.AsError(s.Redact.Error(err)).Failure()
	f.Error.ApprovalID = cutroom.AsError(err).Approval
	f.Error.Message, f.Error.Hint = s.scrub(f.Error.Message), s.scrub(f.Error.Hint)
	text, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return fmt.Sprintf(`{"status":"failed","error":{"code":%q}}`, f.Error.Code)
	}
	return string(text)
}
