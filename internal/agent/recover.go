package agent

import (
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// recall is the conversation so far: as the transcript has it, or, where that is gone or
// behind, as the stored events tell it.
func (s *session) recall() []entry {
	talk := talkOf(s.lines)
	if s.behind() {
		talk = s.retell()
	}
	for _, e := range talk {
		s.turn = max(s.turn, e.turn)
	}
	return s.filled(talk)
}

// behind says that the store knows more than the transcript does.
func (s *session) behind() bool {
	last := 0
	for _, l := range s.lines {
		last = max(last, l.Turn)
	}
	for turn := range s.history.answers {
		if turn > last {
			return true
		}
	}
	return len(s.lines) == 0 && s.history.rounds > 0
}

// retell makes the conversation of the stored events: texts and calls as they were, answers
// of tools as far as the events hold them.
func (s *session) retell() []entry {
	h := s.history
	talk := []entry{{Message: textMessage(provider.RoleUser, s.info.Spec.Goal)}}
	from := 0
	if h.summary != "" {
		from = h.keptFrom
		talk = append(talk, entry{Message: textMessage(provider.RoleUser, h.summary), turn: h.compacted, summary: true})
	}
	said := slices.Clone(h.said)
	say := func(before int) {
		for len(said) > 0 && said[0].after < before {
			if said[0].after >= from && said[0].text != "" {
				talk = append(talk, entry{Message: textMessage(provider.RoleUser, said[0].text), turn: said[0].after})
			}
			said = said[1:]
		}
	}
	for turn := max(from, 1); turn <= h.turn; turn++ {
		a, ok := h.answers[turn]
		if !ok {
			continue
		}
		say(turn)
		m := provider.Message{Role: provider.RoleAssistant}
		if h.texts[turn] != "" {
			m.Parts = []provider.Part{provider.TextPart(h.texts[turn])}
		}
		for index := 0; index < a.Calls && h.calls[place{turn, index}] != nil; index++ {
			m.Calls = append(m.Calls, h.calls[place{turn, index}].asked())
		}
		if len(m.Parts) == 0 && len(m.Calls) == 0 {
			continue // nothing of it was begun: it is asked for again
		}
		talk = append(talk, entry{Message: m, turn: turn})
		for index, c := range m.Calls {
			if text, failed, ok := h.calls[place{turn, index}].answer(); ok {
				r := textMessage(provider.RoleTool, text)
				r.CallID, r.Failed = c.ID, failed
				talk = append(talk, entry{Message: r, turn: turn, index: index})
			}
		}
	}
	say(h.turn + 1)
	return talk
}

// asked is the call as its events tell it.
func (c *standing) asked() provider.ToolCall {
	if c.start != nil {
		return provider.ToolCall{ID: c.start.CallID, Name: wireName(c.start.Tool), Input: c.start.Input}
	}
	return provider.ToolCall{ID: c.rejected.CallID, Name: wireName(c.rejected.Tool), Input: c.rejected.Input}
}

// answer is what became of the call as its events tell it; not ok where that is open.
func (c *standing) answer() (text string, failed, ok bool) {
	switch {
	case c.open, c.waits():
		return "", false, false
	case c.end != nil:
		text = c.end.Output
		if c.end.Cut {
			text += "\n… cut here"
			if c.end.Run != "" {
				text += "; the whole answer is the result " + string(c.end.Run)
			}
		}
		return text, c.end.Status == run.CallFailed, true
	case c.rejected != nil:
		return c.rejected.Message, true, true
	}
	return "", false, false
}

// filled gives every call but those of the last answer an answer: services refuse a
// conversation without.
func (s *session) filled(talk []entry) []entry {
	last := -1
	for i, e := range talk {
		if e.Role == provider.RoleAssistant {
			last = i
		}
	}
	later := last >= 0 && slices.ContainsFunc(talk[last+1:], func(e entry) bool { return e.Role == provider.RoleUser })
	var out []entry
	for i, e := range talk {
		out = append(out, e)
		if e.Role != provider.RoleAssistant || i == last && !later {
			continue
		}
		for index, c := range e.Calls {
			if slices.ContainsFunc(talk[i+1:], func(r entry) bool { return r.Role == provider.RoleTool && r.turn == e.turn && r.index == index }) {
				continue
			}
			text, failed := "the call was not made, or its outcome is not known", true
			if past := s.history.calls[place{e.turn, index}]; past != nil {
				if t, f, ok := past.answer(); ok {
					text, failed = t, f
				}
			}
			r := textMessage(provider.RoleTool, text)
			r.CallID, r.Failed = c.ID, failed
			out = append(out, entry{Message: r, turn: e.turn, index: index}) // those that the transcript has follow
		}
	}
	return out
}

// wireName is a tool's name as models call it.
func wireName(id string) string { return strings.ReplaceAll(id, ".", "_") }

// catchUp tells the store what the transcript knows alone: the process ended between the
// two.
func (s *session) catchUp() ([]run.Body, error) {
	var list []run.Body
	h := s.history
	for i, l := range s.lines {
		switch {
		case l.Kind == lineCompaction && l.Summary != nil:
			// Only the last one can be ahead.
			later := slices.ContainsFunc(s.lines[i+1:], func(l line) bool { return l.Kind == lineCompaction })
			if !later && l.Summary.Turn >= h.compacted && l.Summary.Summary != h.summary {
				h.compacted, h.summary, h.keptFrom = l.Summary.Turn, l.Summary.Summary, l.Summary.From
				list = append(list, *l.Summary)
			}
		case l.Kind == lineTurn && l.Answer != nil:
			if _, known := h.answers[l.Turn]; known || l.Turn <= h.compacted {
				continue
			}
			a := *l.Answer
			a.Recovered = true
			s.usage.Add(a.Usage)
			s.model = a.Provider + "/" + a.Model
			list = append(list, run.Text{Turn: l.Turn, Answer: &a})
		case l.Kind == lineResult && l.End != nil:
			c := h.calls[place{l.Turn, l.Index}]
			if c == nil || !c.open {
				continue
			}
			e := *l.End
			e.Recovery = run.ReadBack
			s.usage.Calls++
			c.end, c.open = &e, false
			list = append(list, e)
		case l.Kind == lineResult && l.Rejected != nil:
			if c := h.calls[place{l.Turn, l.Index}]; c != nil && !c.open {
				continue
			}
			c := h.call(l.Turn, l.Index)
			c.rejected, c.open = l.Rejected, false
			list = append(list, *l.Rejected)
		}
	}
	s.proofs = h.evidence()
	return list, nil
}

// unknownText is what a model is told of a call that must not be made twice.
const unknownText = `{"status":"failed","error":{"kind":"input","code":"precondition","message":"outcome unknown: the process ended while this call was at work, and it is not made again by itself","hint":"query its state before anything else is built on it; the very same call, made again, is answered with what became of it where that is known, and never done twice"}}`

// recovered ends a call that an earlier process began, where it is not to be made again.
func (s *session) recovered(c call) (done bool, err error) {
	m := provider.Message{Role: provider.RoleTool, CallID: c.ID}
	if text, failed, ok := c.past.answer(); ok && (c.past.end != nil || c.past.rejected != nil) {
		m.Failed, m.Parts = failed, []provider.Part{provider.TextPart(text)}
		return true, s.tell(c, line{Kind: lineResult, Turn: c.turn, Index: c.index, Message: m})
	}
	if !c.past.open || c.past.start.Replay != string(tool.ReplayNever) {
		return false, nil
	}
	m.Failed, m.Parts = true, []provider.Part{provider.TextPart(unknownText)}
	end := run.End{
		Turn: c.turn, Index: c.index, CallID: c.ID, Tool: c.past.start.Tool, Status: run.CallFailed, Code: cutroom.Precondition,
		Output: unknownText, Recovery: run.Unknown,
	}
	if err := s.tell(c, line{Kind: lineResult, Turn: c.turn, Index: c.index, Message: m, End: &end}); err != nil {
		return true, err
	}
	return true, s.w.Append(s.ctx, end)
}
