package agent

import (
	"context"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/run"
)

// place is a call by its turn and its index there. Ids of services may repeat.
type place struct{ turn, index int }

// standing is how far a call is, by its last event.
type standing struct {
	start    *run.Start
	end      *run.End
	rejected *run.Rejected
	open     bool // begun, and neither ended nor refused since
}

// waits says that a person has to decide about the call.
func (c standing) waits() bool { return !c.open && c.rejected != nil && c.rejected.Waits }

// saying is what began a round, after which turn.
type saying struct {
	after int
	text  string
}

// history is what the stored events of a run say.
type history struct {
	rounds     int
	unfinished bool // the last round has no end
	last       run.Body
	turn       int // the last one that there is a word of
	answers    map[int]run.Answer
	texts      map[int]string
	calls      map[place]*standing
	order      []place // of calls, as they were begun or refused
	said       []saying
	usage      run.Usage
	active     time.Duration
	model      string // who answered last: provider/model
	compacted  int    // turn of the last compaction
	keptFrom   int    // the first turn that stayed as it was
	summary    string // of that
}

// history reads all events of a run.
func (r *Runtime) history(ctx context.Context, id string) (*history, error) {
	h := &history{answers: map[int]run.Answer{}, texts: map[int]string{}, calls: map[place]*standing{}}
	var last time.Time
	for e, err := range r.Log.All(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		b, err := e.Body()
		if err != nil {
			return nil, err
		}
		if _, begins := b.(run.Started); !begins && h.rounds > 0 {
			h.active += max(e.At.Sub(last), 0) // a clock that was set back takes no work away
		}
		last = e.At
		h.take(b)
	}
	return h, nil
}

func (h *history) take(b run.Body) {
	switch b := b.(type) {
	case run.Started:
		h.unfinished = true
		if !b.Resumed {
			h.rounds, h.said = b.Round, append(h.said, saying{h.turn, b.Prompt})
		}
	case run.Text:
		h.turn = max(h.turn, b.Turn)
		if b.Again {
			h.texts[b.Turn] = ""
		}
		h.texts[b.Turn] += b.Text
		if b.Answer != nil {
			h.answers[b.Turn], h.model = *b.Answer, b.Answer.Provider+"/"+b.Answer.Model
			h.usage.Add(b.Answer.Usage)
		}
	case run.Thinking:
		h.turn = max(h.turn, b.Turn)
	case run.Start:
		*h.call(b.Turn, b.Index) = standing{start: &b, open: true}
	case run.End:
		c := h.call(b.Turn, b.Index)
		c.end, c.open = &b, false
		h.usage.Calls++
	case run.Rejected:
		c := h.call(b.Turn, b.Index)
		c.rejected, c.open = &b, false
	case run.Compacted:
		if b.Phase == run.CompactionEnd {
			h.compacted, h.summary, h.keptFrom = b.Turn, b.Summary, b.From
		}
	case run.Done:
		h.unfinished, h.active = false, lasted(b.Spent)
	case run.Broken:
		h.unfinished, h.active = false, lasted(b.Spent)
	}
	h.last = b
}

// lasted is how long a run was at work by what it spent.
func lasted(a run.Amounts) time.Duration { return time.Duration(max(a.Time, 0)) * time.Microsecond }

func (h *history) call(turn, index int) *standing {
	p := place{turn, index}
	if h.calls[p] == nil {
		h.calls[p] = &standing{}
		h.order = append(h.order, p)
	}
	h.turn = max(h.turn, turn)
	return h.calls[p]
}

// pending is how many operations were begun and not finished.
func (h *history) pending() int {
	if !h.unfinished {
		return 0
	}
	n := 0
	for _, c := range h.calls {
		if c.open || c.waits() {
			n++
		}
	}
	return max(n, 1) // a turn of the model at least
}

// canceled are the ends of the calls that are still open.
func (h *history) canceled() []run.Body {
	var list []run.Body
	for _, p := range h.order {
		if c := h.calls[p]; c.open {
			list = append(list, run.End{
				Turn: p.turn, Index: p.index, CallID: c.start.CallID, Tool: c.start.Tool, Status: run.CallFailed, Code: cutroom.Canceled,
				Output: "the run was stopped before the call ended", Recovery: run.Unknown,
			})
		}
	}
	return list
}

// found is one result that can be read again by its id.
type found struct {
	turn  int
	tool  string
	input string
	run   cutroom.Digest
	files []string
}

// evidence lists the results of the run in order, each once.
func (h *history) evidence() []found {
	var list []found
	for _, p := range h.order {
		c := h.calls[p]
		if c.end == nil || c.end.Run == "" || c.start == nil || slices.ContainsFunc(list, func(f found) bool { return f.run == c.end.Run }) {
			continue
		}
		list = append(list, found{p.turn, c.end.Tool, c.start.Input, c.end.Run, c.end.Files})
	}
	return list
}
