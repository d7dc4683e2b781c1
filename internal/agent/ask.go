package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/run"
)

// ask has the model answer, with one step charged for it, and stores what it says.
func (s *session) ask() error {
	if err := s.mayGoOn(); err != nil {
		return err
	}
	if over, err := s.Log.Charge(s.ctx, s.purses, run.Amounts{Steps: 1}); err != nil || over != "" {
		return overOr(over, err)
	}
	s.turn++
	began := s.Now()
	flow := s.newFlow()
	out, err := s.chain(s.requests(), flow.take)
	for err != nil {
		again, fault := s.tighter(err)
		if fault = errors.Join(fault, flow.drop()); !again || fault != nil {
			return errors.Join(fault, err)
		}
		out, err = s.chain(s.requests(), flow.take)
	}
	if err := flow.end(); err != nil {
		return err
	}
	return s.answered(out, began)
}

// mayGoOn says why nothing more may be begun.
func (s *session) mayGoOn() error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if most := time.Duration(s.info.Spec.Settings.Budget.Time) * time.Microsecond; most > 0 && s.worked() >= most {
		return &overBudget{"time"}
	}
	return nil
}

func overOr(over string, err error) error {
	if err == nil && over != "" {
		err = &overBudget{over}
	}
	return err
}

// chain asks the models in order until one answers.
func (s *session) chain(hops []provider.Hop, on func(provider.Delta)) (provider.Outcome, error) {
	c := s.Models.Chain()
	book := &ledger{s: s}
	c.Ledger, c.Redact = book, s.Redact.Text
	for i, h := range hops {
		if h.Local != nil {
			hops[i].Local = book.local(h)
		}
	}
	out, err := c.Run(s.ctx, hops, on)
	if over := book.refused(); err != nil && over != "" && s.ctx.Err() == nil {
		err = &overBudget{over}
	}
	return out, err
}

// requests are the hops of a turn: the same conversation for each model, as that one takes
// it.
func (s *session) requests() []provider.Hop {
	var hops []provider.Hop
	for _, m := range s.models {
		hops = append(hops, s.hop(m, func(ctx context.Context) (provider.Request, error) { return s.request(ctx, m) }))
	}
	return hops
}

// hop is a step of the chain that asks a model.
func (s *session) hop(m Model, request func(context.Context) (provider.Request, error)) provider.Hop {
	h := provider.Hop{Route: "agent", Endpoint: m.Endpoint, Timeout: m.Timeout, Request: request}
	if h.Endpoint.Name == "" {
		h.Endpoint.Name, h.Endpoint.Model, _ = strings.Cut(m.Name, "/")
	}
	switch {
	case m.Fault != nil:
		fault := &provider.Fault{Class: provider.Auth, Message: cutroom.AsError(m.Fault).Msg, Err: m.Fault}
		h.Request = func(context.Context) (provider.Request, error) { return provider.Request{}, fault }
	case m.Ask != nil:
		h.Local = func(ctx context.Context) (provider.Reply, error) {
			q, err := request(ctx)
			if err != nil {
				return provider.Reply{}, err
			}
			return m.Ask(ctx, q)
		}
	}
	return h
}

// request is the conversation as a model takes it.
func (s *session) request(ctx context.Context, m Model) (provider.Request, error) {
	q := provider.Request{Messages: s.messages(), Tools: s.toolList(), MaxTokens: s.answerTokens(m)}
	if m.Pictures {
		in, out := q.Tokens()
		if err := s.show(ctx, m, q.Messages, max(m.context()-in-out, 0)/tokensOfPicture); err != nil {
			return q, err
		}
	}
	if in, out := q.Tokens(); in+out > m.context() {
		return q, &provider.Fault{Class: provider.ContextOverflow, Message: fmt.Sprintf("the conversation has about %d tokens, and the model reads %d", in+out, m.context())}
	}
	return q, nil
}

// usualContext is what a model reads at once whose limit nobody says.
const usualContext = 128_000

func (m Model) context() int64 {
	if m.Context > 0 {
		return m.Context
	}
	return usualContext
}

// usualAnswer bounds an answer where nobody does.
const usualAnswer = 4096

// answerTokens bounds an answer: by the run, by the model, and by what it reads at once.
func (s *session) answerTokens(m Model) int {
	n := usualAnswer
	if s.info.Spec.Settings.MaxTokens > 0 {
		n = s.info.Spec.Settings.MaxTokens
	}
	if m.Output > 0 {
		n = min(n, m.Output)
	}
	return max(min(n, int(m.context()/4)), 16)
}

// answered stores an answer: in the transcript first, so that it is not asked for twice,
// then as an event.
func (s *session) answered(out provider.Outcome, began time.Time) error {
	reply := out.Reply
	by := s.models[out.Hop]
	a := run.Answer{
		Provider: out.Provider, Model: s.modelOf(by), Stop: reply.Stop, Calls: len(reply.Message.Calls), Warnings: out.Warnings,
		Usage: run.Usage{
			Turns: 1, Input: reply.Usage.Input, Output: reply.Usage.Output, Cached: reply.Usage.Cached, Thinking: reply.Usage.Thinking,
			Cost: by.Endpoint.Price.Cost(reply.Usage.Input, reply.Usage.Output), Bytes: reply.Sent, MS: s.Now().Sub(began).Milliseconds(),
		},
	}
	if len(out.Attempts) > 1 {
		a.Attempts = out.Attempts
	}
	who := a.Provider + "/" + a.Model
	if s.model != "" && s.model != who {
		a.From, a.Converted = s.model, s.foreign(by)
	}
	s.model = who
	s.usage.Add(a.Usage)
	if n := len(reply.Message.Calls); n > maxCalls {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d calls were asked for in one answer; the first %d are looked at", n, maxCalls))
	}
	m := s.clean(reply.Message)
	if err := s.hear(line{Kind: lineTurn, Turn: s.turn, Message: m, Answer: &a}); err != nil {
		return err
	}
	if err := s.w.Append(s.ctx, run.Text{Turn: s.turn, Answer: &a}); err != nil {
		return err
	}
	return s.more(reply, m)
}

// more has an answer go on that its own length cut off.
func (s *session) more(reply provider.Reply, m provider.Message) error {
	if reply.Stop != provider.StopLength || len(m.Calls) > 0 {
		s.cut = 0
		return nil
	}
	if s.cut++; s.cut > 3 {
		return nil // what there is is the answer
	}
	if err := s.hear(line{Kind: lineUser, Turn: s.turn, Message: textMessage(provider.RoleUser, longer)}); err != nil {
		return err
	}
	if err := s.compact(); err != nil {
		return err
	}
	return s.ask()
}

func (s *session) modelOf(m Model) string {
	if m.Endpoint.Model != "" {
		return m.Endpoint.Model
	}
	_, model, _ := strings.Cut(m.Name, "/")
	return model
}

// foreign counts the messages that another model wrote: they are written anew for this one.
func (s *session) foreign(m Model) int {
	wire := m.Endpoint.Wire
	if wire == "" {
		wire = provider.Chat
	}
	n := 0
	for _, e := range s.talk {
		if e.Role == provider.RoleAssistant && (e.Native == nil || e.Native.Wire != wire || e.Native.By != m.Endpoint.Name+"/"+m.Endpoint.Model) {
			n++
		}
	}
	return n
}

// leftOut begins what is kept of arguments that are too long.
const leftOut = `{"left_out":`

// clean masks secrets in what a model said, and gives each of its calls a name of its own.
// What the service itself wrote is kept only where it says the same.
func (s *session) clean(m provider.Message) provider.Message {
	changed := false
	text := func(before, after string) string {
		changed = changed || before != after
		return after
	}
	m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	for i, p := range m.Parts {
		m.Parts[i].Text = text(p.Text, s.Redact.Text(p.Text))
	}
	if len(m.Calls) > maxCalls {
		m.Calls, changed = m.Calls[:maxCalls], true
	}
	seen := map[string]bool{}
	for i, c := range m.Calls {
		if c.ID == "" || seen[c.ID] || len(c.ID) > 200 || s.Redact.Text(c.ID) != c.ID {
			c.ID, changed = fmt.Sprintf("call_%d_%d", s.turn, i), true
		}
		seen[c.ID] = true
		c.Name = text(c.Name, clip(s.Redact.Text(c.Name), longestName))
		c.Input = text(c.Input, string(s.Redact.JSON([]byte(c.Input))))
		if len(c.Input) > maxInput { // it is refused; what is kept of it says why
			c.Input, changed = fmt.Sprintf(leftOut+`"%d bytes"}`, len(c.Input)), true
		}
		m.Calls[i] = c
	}
	if changed || m.Native != nil && !bytes.Equal(s.Redact.JSON(m.Native.JSON), m.Native.JSON) { // it holds thoughts, too
		m.Native = nil
	}
	return m
}

// flow stores what a model says as it comes, in pieces that are whole lines where it can be,
// so that no secret is cut in two.
type flow struct {
	s    *session
	text *piecer
	mind *piecer
	said bool
	err  error
}

func (s *session) newFlow() *flow {
	f := &flow{s: s}
	f.text = newPiecer(s, func(t string) run.Body { return run.Text{Turn: s.turn, Text: t} })
	f.mind = newPiecer(s, func(t string) run.Body { return run.Thinking{Turn: s.turn, Text: t} })
	return f
}

// take hears a piece of an answer.
func (f *flow) take(d provider.Delta) {
	if f.err != nil {
		return
	}
	if d.Again {
		f.text.forget()
		f.mind.forget()
		if f.said {
			f.err = f.s.w.Append(f.s.ctx, run.Text{Turn: f.s.turn, Again: true})
			f.said = false
		}
		return
	}
	if d.Thinking != "" {
		f.err = f.mind.add(d.Thinking)
	}
	if d.Text != "" && f.err == nil {
		if f.err = f.mind.flush(); f.err == nil {
			f.err = f.text.add(d.Text)
		}
	}
	f.said = f.said || f.text.told || f.mind.told
}

// end stores what was held back.
func (f *flow) end() error {
	if f.err != nil {
		return f.err
	}
	return errors.Join(f.mind.close(), f.text.close())
}

// drop says that the answer never came.
func (f *flow) drop() error {
	if f.err != nil || !f.said || f.s.ctx.Err() != nil {
		return f.err
	}
	return f.s.w.Append(f.s.ctx, run.Text{Turn: f.s.turn, Again: true})
}

// How much of an answer is gathered before it is stored.
const (
	pieceTime = 150 * time.Millisecond
	pieceSize = 1000
)

// piecer gathers masked text and stores it in pieces.
type piecer struct {
	s    *session
	make func(string) run.Body
	mask interface {
		Write([]byte) (int, error)
		Close() error
	}
	held strings.Builder
	last time.Time
	told bool
}

func newPiecer(s *session, make func(string) run.Body) *piecer {
	p := &piecer{s: s, make: make, last: s.Now()}
	p.forget()
	return p
}

func (p *piecer) forget() {
	p.held.Reset()
	p.mask, p.told = p.s.Redact.Writer(&p.held), false
}

func (p *piecer) add(text string) error {
	if _, err := p.mask.Write([]byte(text)); err != nil {
		return err
	}
	if p.held.Len() < pieceSize && p.s.Now().Sub(p.last) < pieceTime {
		return nil
	}
	return p.flush()
}

func (p *piecer) flush() error {
	if p.held.Len() == 0 {
		return nil
	}
	text := p.held.String()
	p.held.Reset()
	p.last, p.told = p.s.Now(), true
	return p.s.w.Append(p.s.ctx, p.make(text))
}

func (p *piecer) close() error { return errors.Join(p.mask.Close(), p.flush()) }

// ledger charges the run, and those that it was delegated by, for what is sent.
type ledger struct {
	s    *session
	mu   sync.Mutex
	over string
}

func (l *ledger) refused() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// Charge takes a charge, or refuses it and all that follow: a run does not go on with
// another model because one is too dear.
func (l *ledger) Charge(ctx context.Context, c provider.Charge) error {
	if l.refused() != "" {
		return provider.OverBudget()
	}
	over, err := l.s.Log.Charge(ctx, l.s.purses, run.Amounts{Tokens: c.Tokens, Cost: c.Cost, Bytes: c.Bytes})
	if err != nil || over == "" {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = over
	return provider.OverBudget()
}

// Settle corrects a charge.
func (l *ledger) Settle(ctx context.Context, c provider.Charge) error {
	return l.s.Log.Settle(ctx, l.s.purses, run.Amounts{Tokens: c.Tokens, Cost: c.Cost, Bytes: c.Bytes})
}

// local charges for an answer that no endpoint gives.
func (l *ledger) local(h provider.Hop) func(context.Context) (provider.Reply, error) {
	answer := h.Local
	return func(ctx context.Context) (provider.Reply, error) {
		q, err := h.Request(ctx)
		if err != nil {
			return provider.Reply{}, err
		}
		in, out := q.Tokens()
		c := provider.Charge{Provider: h.Endpoint.Name, Model: h.Endpoint.Model, Tokens: in + out}
		if err := l.Charge(ctx, c); err != nil {
			return provider.Reply{}, err
		}
		reply, err := answer(ctx)
		reply.Usage = reply.Usage.Counted()
		if err == nil && reply.Usage != (provider.Usage{}) {
			c.Tokens = reply.Usage.Input + reply.Usage.Output - c.Tokens
			err = l.Settle(context.WithoutCancel(ctx), c)
		}
		return reply, err
	}
}
