package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/run"
)

// loop works the round: the model is asked, its calls are made, until it wants none.
func (s *session) loop() (Outcome, error) {
	for {
		calls, done, err := s.next()
		if err != nil {
			return s.stopped(err)
		}
		if done != nil {
			return s.complete(*done)
		}
		waits, err := s.act(calls)
		if err != nil {
			return s.stopped(err)
		}
		if len(waits) > 0 {
			return s.wait(waits)
		}
		if err := s.fruits(); err != nil {
			return s.stopped(err)
		}
	}
}

// mostFruitless is how many answers in a row may ask for nothing that comes about.
const mostFruitless = 30

// fruits stops a run whose model asks again and again for what there is not, or fails.
func (s *session) fruits() error {
	for i := len(s.talk) - 1; i >= 0 && s.talk[i].Role == provider.RoleTool; i-- {
		if !s.talk[i].Failed {
			s.fruitless = 0
			return nil
		}
	}
	if s.fruitless++; s.fruitless < mostFruitless {
		return nil
	}
	return cutroom.Errorf(cutroom.Limit, "no call of the last %d answers of the model was made and succeeded", mostFruitless).
		WithHint("see what it asked for (`cutroom agent show %s`), and start a run with other tools, another model or a clearer goal", s.info.ID)
}

// next are the calls that have to be made now: those which an earlier process left, or of
// the model's next answer. done is its last word.
func (s *session) next() (calls []call, done *string, err error) {
	last := s.lastAnswer()
	if last < 0 || s.answeredAll(last) {
		if err := s.compact(); err != nil {
			return nil, nil, err
		}
		if err := s.ask(); err != nil {
			return nil, nil, err
		}
		last = len(s.talk) - 1
	}
	m := s.talk[last]
	if len(m.Calls) > 0 {
		return s.calls(m), nil, nil
	}
	text := m.Text()
	return nil, &text, nil
}

// lastAnswer is where the model's last answer stands, -1 when something was said since that
// it has to answer.
func (s *session) lastAnswer() int {
	for i := len(s.talk) - 1; i >= 0; i-- {
		switch s.talk[i].Role {
		case provider.RoleAssistant:
			return i
		case provider.RoleTool:
			continue
		}
		return -1
	}
	return -1
}

// answeredAll says that every call of an answer was made, and that there were some.
func (s *session) answeredAll(at int) bool {
	for i := range s.talk[at].Calls {
		if !s.heard(s.talk[at].turn, i) {
			return false
		}
	}
	return len(s.talk[at].Calls) > 0
}

// complete ends the round with the model's last word.
func (s *session) complete(text string) (Outcome, error) {
	planned := s.info.Spec.PlanFirst && s.round == 1
	state := run.Completed
	if planned {
		state = run.Planned
	}
	spent := s.spent()
	text = s.Redact.Text(text)
	if err := s.w.Turn(s.ctx, state, "", run.Done{Text: text, Usage: s.usage, Spent: spent, Planned: planned}); err != nil {
		return s.stopped(err)
	}
	return Outcome{State: state, Text: text, Usage: s.usage, Spent: spent}, nil
}

// wait leaves the run until a person decided.
func (s *session) wait(approvals []string) (Outcome, error) {
	if err := s.w.Turn(s.ctx, run.Waiting, ""); err != nil {
		return s.stopped(err)
	}
	return Outcome{State: run.Waiting, Usage: s.usage, Spent: s.spent(), Approvals: approvals}, nil
}

// overBudget is a call that a budget did not allow.
type overBudget struct{ what string }

func (o *overBudget) Error() string { return "over the budget of " + o.what }

// stopped ends the run for a reason, or leaves it as it is: to its next process, when this
// one's caller is gone; to the other one, when it was lost.
func (s *session) stopped(err error) (Outcome, error) {
	b := run.Broken{Reason: run.Error, Usage: s.usage}
	cause := context.Cause(s.ctx)
	over, isOver := errors.AsType[*overBudget](err)
	switch {
	case errors.Is(err, run.ErrLost), errors.Is(cause, run.ErrLost):
		return Outcome{}, run.ErrLost
	case errors.Is(cause, run.ErrAborted):
		b.Reason, b.Code, b.Message = run.Aborted, cutroom.Canceled, "the run was stopped"
	case errors.Is(cause, errTime):
		over, isOver = &overBudget{"time"}, true
	case cause != nil:
		return Outcome{}, cause
	}
	if isOver {
		b.Reason, b.Code, b.Over, b.Attention = run.Budget, cutroom.Budget, over.what, true
		b.Message, b.Hint = "the next call would exceed the budget of "+over.what, "look at what was done (`cutroom agent show "+s.info.ID+"`), and start a run with a larger budget"
	}
	if b.Message == "" {
		e := cutroom.AsError(s.Redact.Error(err))
		b.Code, b.Message, b.Hint = e.Code, e.Msg, e.Hint
		if f, ok := errors.AsType[*provider.Failed](err); ok {
			b.Attempts, b.Warnings = f.Attempts, f.Warnings
			b.Hint = s.unanswered(f)
		}
		s.Logger.Warn("a run failed", "run", s.info.ID, "code", e.Code, "message", e.Msg, "cause", e.Err)
	}
	return s.fail(b)
}

// unanswered says what helps a run of which no model answered: what a chain says is meant
// for whoever asks for a medium.
func (s *session) unanswered(f *provider.Failed) string {
	again := "`cutroom agent resume " + s.info.ID + "` goes on from here"
	switch f.Class() {
	case provider.Auth, provider.Quota:
		return "check the keys that cutroom.yaml refers to, and what they may spend; " + again
	case provider.BadRequest:
		return "see what each model says, and mend that, or start a run with another --model"
	case provider.ContextOverflow:
		return "start a run with fewer tools, or with a --model that reads more at once"
	}
	return "see what each model says; " + again + " when one answers, or start a run with another --model"
}

// lastTime bounds the last words of a run.
const lastTime = 10 * time.Second

// fail stores the end of a run, with the ends of the calls that it cut off.
func (s *session) fail(b run.Broken) (Outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), lastTime)
	defer cancel()
	h, err := s.Runtime.history(ctx, s.info.ID)
	if err != nil {
		return Outcome{}, err
	}
	b.Spent = s.spent()
	if err := s.w.Turn(ctx, run.Failed, b.Reason, append(h.canceled(), b)...); err != nil {
		return Outcome{}, err
	}
	detail := cutroom.Errorf(b.Code, "%s", b.Message).WithHint("%s", b.Hint).Failure().Error
	return Outcome{State: run.Failed, Reason: b.Reason, Usage: b.Usage, Spent: b.Spent, Error: &detail}, nil
}

// hear adds a message to the conversation, stored.
func (s *session) hear(l line) error {
	if err := s.file.add(l); err != nil {
		return err
	}
	e := entry{Message: l.Message, turn: l.Turn, index: l.Index, pictures: l.Pictures}
	if l.Kind == lineResult {
		s.talk = insertResult(s.talk, e)
	} else {
		s.talk = append(s.talk, e)
	}
	return nil
}

// text is a message of one part.
func textMessage(role provider.Role, text string) provider.Message {
	return provider.Message{Role: role, Parts: []provider.Part{provider.TextPart(text)}}
}

// messages are the conversation as a request holds it.
func (s *session) messages() []provider.Message {
	list := make([]provider.Message, 0, len(s.talk)+1)
	list = append(list, textMessage(provider.RoleSystem, s.system()))
	for _, e := range s.talk {
		list = append(list, e.Message)
	}
	return slices.Clip(list)
}

func (s *session) system() string {
	text := s.info.Spec.SystemPrompt
	if s.info.Spec.PlanFirst && s.round == 1 {
		text += planNote
	}
	return text
}
