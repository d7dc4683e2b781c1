package script

import (
	"context"
	"strconv"
	"sync"
	"time"

	"cutroom/internal/provider"
)

// Model is a script that is played, with what went wrong so far. Its methods may be
// called at any time.
type Model struct {
	Script *Script
	// Name is the model's, for faults that are for one model only.
	Name string

	faults Faults
}

// Reply answers a request in the place of a service: what [provider.Hop].Local does, once
// it is given the request. What the script wants to go wrong is a *provider.Fault.
func (m *Model) Reply(ctx context.Context, r provider.Request) (provider.Reply, error) {
	t, err := m.Script.Turn(r)
	if err != nil {
		return provider.Reply{}, err
	}
	if f := m.faults.Due(m.Name, t); f != nil {
		if err := f.happen(ctx); err != nil {
			return provider.Reply{}, err
		}
	}
	reply := provider.Reply{Message: provider.Message{Role: provider.RoleAssistant, Calls: t.Calls}, Stop: provider.StopEnd, Usage: t.Usage, Model: m.Name}
	if t.Say != "" {
		reply.Message.Parts = []provider.Part{provider.TextPart(t.Say)}
	}
	if len(t.Calls) > 0 {
		reply.Stop = provider.StopTools
	}
	return reply, nil
}

// Faults counts what went wrong in this process. The zero value is ready.
type Faults struct {
	mu   sync.Mutex
	seen map[seen]int
}

type seen struct {
	model       string
	entry, step int
}

// Due is the fault that has to happen before a turn is answered, nil when none is left.
func (f *Faults) Due(model string, t Turn) *Fault {
	if t.Fault == nil || t.Fault.Model != "" && t.Fault.Model != model {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[seen]int{}
	}
	key := seen{model, t.Entry, t.Step}
	if times := max(t.Fault.Times, 1); t.Fault.Times >= 0 && f.seen[key] >= times {
		return nil
	}
	f.seen[key]++
	return t.Fault
}

// happen is the fault without a wire.
func (f *Fault) happen(ctx context.Context) error {
	if f.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := f.Wait(ctx); err != nil {
		return err
	}
	switch {
	case f.Cut:
		return &provider.Fault{Class: provider.Unavailable, Message: "the stream was cut off before its end"}
	case f.Status != 0:
		return &provider.Fault{Class: classOf(f.Status), Status: f.Status, RetryAfter: f.RetryAfter, Message: f.Text()}
	}
	return nil
}

// Wait waits as long as the fault is slow.
func (f *Fault) Wait(ctx context.Context) error {
	if f.Slow == 0 {
		return nil
	}
	clock := time.NewTimer(f.Slow)
	defer clock.Stop()
	select {
	case <-clock.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Text is what the service says of the fault.
func (f *Fault) Text() string {
	if f.Message != "" {
		return f.Message
	}
	return "the script answers with status " + strconv.Itoa(f.Status)
}

// classOf is the class that a chain sees in a status.
func classOf(status int) provider.Class {
	switch {
	case status == 401 || status == 403:
		return provider.Auth
	case status == 402:
		return provider.Quota
	case status == 429:
		return provider.RateLimited
	case status == 408 || status == 504:
		return provider.TimedOut
	case status >= 500:
		return provider.Unavailable
	}
	return provider.BadRequest
}

// Local is Reply for one request, as [provider.Hop].Local has it.
func (m *Model) Local(r provider.Request) func(context.Context) (provider.Reply, error) {
	return func(ctx context.Context) (provider.Reply, error) { return m.Reply(ctx, r) }
}
