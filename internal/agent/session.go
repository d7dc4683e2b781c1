package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// session is one process's work at one round of a run.
type session struct {
	*Runtime
	ctx     context.Context // ends when the work has to: its cause says why
	cancel  context.CancelCauseFunc
	timers  []*time.Timer // of the time budgets
	w       *run.Writer
	by      *session // that delegated the run
	info    run.Info
	file    *transcript
	lines   []line // of the transcript, until the round has begun
	history *history

	talk       []entry
	round      int
	turn       int
	kinds      []cutroom.Kind // of this round
	tools      []*tool.Tool   // offered in this round
	models     []Model
	purses     []run.Purse
	usage      run.Usage
	since      time.Time       // this work began
	before     time.Duration   // work of earlier processes and rounds
	model      string          // who answered last: provider/model
	proofs     []found         // results so far
	listed     []provider.Tool // what is offered, as requests name it
	delegating sync.Mutex      // held while a child is created
	telling    sync.Mutex      // held while a result is put into the conversation
	reads      int64           // what a model turned out to read at once, less than it says; 0: nothing is known
	cut        int             // answers in a row that were cut off by their length
	fruitless  int             // answers in a row of whose calls none succeeded
}

// Why work ends, besides what run says.
var errTime = errors.New("the time of the run is spent")

func (r *Runtime) session(ctx context.Context, w *run.Writer, by *session) (*session, error) {
	id := w.Info.ID
	info, err := r.Log.Believed(ctx, cutroom.Operator, id)
	if err != nil {
		return nil, err
	}
	s := &session{Runtime: r, w: w, by: by, info: info, since: r.Now()}
	if s.history, err = r.history(ctx, id); err != nil {
		return nil, err
	}
	if s.file, s.lines, err = openTranscript(info.Spec.SessionDir, id, r.Log.Derived("transcript 1")); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = w.Context(ctx)
	s.round, s.turn, s.usage, s.model = s.history.rounds, s.history.turn, s.history.usage, s.history.model
	s.before, s.proofs = s.history.active, s.history.evidence()
	s.purses = []run.Purse{{RunID: id, Most: info.Spec.Settings.Budget}}
	if by != nil {
		s.purses = append(s.purses, by.purses...)
	} else if err := s.inherit(ctx); err != nil {
		s.end()
		return nil, err
	}
	s.bound(info.Spec.Settings.Budget, s.before)
	return s, nil
}

// inherit finds the budgets of the runs that delegated this one, when it is opened by
// itself.
func (s *session) inherit(ctx context.Context) error {
	for parent := s.info.Spec.Parent; parent != ""; {
		up, err := s.Log.Believed(ctx, cutroom.Operator, parent)
		if err != nil {
			return err
		}
		s.purses = append(s.purses, run.Purse{RunID: up.ID, Most: up.Spec.Settings.Budget})
		h, err := s.Runtime.history(ctx, parent)
		if err != nil {
			return err
		}
		s.bound(up.Spec.Settings.Budget, h.active)
		parent = up.Spec.Parent
	}
	return nil
}

// bound stops the work when the time of a budget is spent, of which some was before.
func (s *session) bound(most run.Amounts, before time.Duration) {
	if most.Time > 0 {
		left := time.Duration(most.Time)*time.Microsecond - before
		s.timers = append(s.timers, time.AfterFunc(max(left, 0), func() { s.cancel(errTime) }))
	}
}

func (s *session) end() {
	for _, t := range s.timers {
		t.Stop()
	}
	s.cancel(nil)
	s.file.close()
}

// begin begins a round, or goes on with one.
func (s *session) begin(text string, resume bool) error {
	if err := s.may(resume); err != nil {
		return err
	}
	resume = resume && s.history.rounds > 0 // one that was stopped before its first round begins with it
	behind, err := s.catchUp()
	if err != nil {
		return err
	}
	if s.talk = s.recall(); s.behind() {
		if err := s.file.rewrite(s.talk); err != nil {
			return err
		}
	}
	if !resume {
		s.round++
	}
	s.kinds, s.tools = s.allowed()
	if s.models, err = s.Models.Resolve(s.ctx, s.info.Spec.Models); err != nil {
		return err
	}
	for _, p := range s.purses { // prices may have gone from the config since
		if err := bounded(s.models, p.Most); err != nil {
			return err
		}
	}
	said := ""
	if !resume {
		if said, err = s.speak(text); err != nil {
			return err
		}
	}
	e := run.Started{
		Round: s.round, Goal: clip(s.info.Spec.Goal, maxSummary), Models: s.info.Spec.Models, Kinds: s.kinds, Tools: []string{},
		Budget: s.info.Spec.Settings.Budget, Spent: s.spent(), Resumed: resume, PlanFirst: s.info.Spec.PlanFirst,
		Parent: s.info.Spec.Parent, Depth: s.info.Spec.Depth, Prompt: clip(said, maxSummary),
	}
	for _, t := range s.tools {
		e.Tools = append(e.Tools, t.Name)
	}
	if resume {
		e.Pending = s.history.pending()
	}
	return s.w.Turn(s.ctx, run.Running, "", append([]run.Body{e}, behind...)...)
}

// may refuses to begin a round while another is not finished, and to resume one that is.
func (s *session) may(resume bool) error {
	h := s.history
	_, failed := h.last.(run.Broken)
	switch {
	case !resume && (h.unfinished || failed):
		return cutroom.Errorf(cutroom.Precondition, "the last round of the run is not finished").WithHint("resume it: `cutroom agent resume %s`", s.info.ID)
	case resume && !h.unfinished && !failed:
		return cutroom.Errorf(cutroom.Precondition, "there is nothing to resume: the run has not begun, or its last round is finished").
			WithHint("prompt it: a run goes on with what you say next")
	}
	return nil
}

// speak adds what begins the round to the conversation. It returns what was said beside
// the goal.
func (s *session) speak(text string) (string, error) {
	text = s.Redact.Text(text)
	said := text
	switch {
	case s.round == 1 && len(s.talk) > 0: // its process ended before the round was stored
		return said, nil
	case s.round == 1:
		if text = s.info.Spec.Goal; said != "" {
			text += "\n\n" + said
		}
	case text == "" && s.info.State == run.Planned:
		text, said = carryOut, carryOut
	case text == "":
		text, said = goOn, goOn
	}
	if n := len(s.talk); n > 0 && s.talk[n-1].Role == provider.RoleUser && s.talk[n-1].Text() == text {
		return said, nil // likewise
	}
	m := textMessage(provider.RoleUser, text)
	s.talk = append(s.talk, entry{Message: m, turn: s.turn})
	return said, s.file.add(line{Kind: lineUser, Turn: s.turn, Message: m})
}

// allowed are the kinds of call of this round, and the tools that are offered in it.
func (s *session) allowed() ([]cutroom.Kind, []*tool.Tool) {
	spec := s.info.Spec
	kinds := slices.Clone(spec.Actor.Kinds)
	if spec.PlanFirst && s.round == 1 {
		kinds = slices.DeleteFunc(kinds, func(k cutroom.Kind) bool { return k != cutroom.Read && k != cutroom.Preview && k != cutroom.Propose })
	}
	if s.by != nil {
		kinds = slices.DeleteFunc(kinds, func(k cutroom.Kind) bool { return !slices.Contains(s.by.kinds, k) })
	}
	known := slices.Concat(s.Engine.Tools(spec.Actor.Principal), s.Engine.Inner(spec.Actor.Principal))
	var tools []*tool.Tool
	for _, t := range known {
		if slices.Contains(spec.Tools, t.Name) && slices.Contains(kinds, t.Kind) {
			tools = append(tools, t)
		}
	}
	return kinds, tools
}

// spent is what this run spent by now with those that it delegated to.
func (s *session) spent() run.Amounts {
	a, err := s.Log.Spent(context.WithoutCancel(s.ctx), s.info.ID)
	if err != nil {
		s.Logger.Warn("what a run spent", "run", s.info.ID, "cause", err)
	}
	a.Time = cutroom.Micros(s.worked().Microseconds())
	return a
}

// worked is how long the run was at work.
func (s *session) worked() time.Duration { return s.before + s.Now().Sub(s.since) }
