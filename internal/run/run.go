// Package run keeps the runs of agents and what happens in them: the table run, and one row
// of agent_run_event for each event.
//
// It promises that a run has one writer at a time, whatever becomes of processes; that the
// events of a run are numbered from 1 without gaps; that an event is stored before anybody
// sees it; that a follower, in whatever process, sees each event once and in order, and
// never holds the writer up; and that what runs spend together stays within every bound.
//
// It must never know a model, a tool by more than its name, or a door.
package run

import (
	"context"
	"crypto/rand"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"time"

	"cutroom"
)

// State says how far a run is.
type State string

// The states. Only one that is created or running goes on by itself.
const (
	Created   State = "created"   // nobody has begun it
	Running   State = "running"   // a process is at it, or was when it ended
	Waiting   State = "waiting"   // a person has to decide about a call; resume goes on
	Planned   State = "planned"   // it gave its plan; a prompt has it carried out
	Completed State = "completed" // the model said its last word
	Failed    State = "failed"    // Reason says why
)

// States lists every state.
var States = []State{Created, Running, Waiting, Planned, Completed, Failed}

// Reason says why a run failed.
type Reason string

// The reasons.
const (
	Budget  Reason = "budget"  // a call would have exceeded it: a person should look
	Aborted Reason = "aborted" // somebody stopped it
	Error   Reason = "error"   // no model answered, or something broke
)

// Actor is on whose authority a run acts.
type Actor struct {
	cutroom.Principal
	TaskID string         `json:"task_id,omitzero"`       // what it was started for; the caller's own name
	Scopes []string       `json:"scope_ids,omitempty"`    // what its token holds; none is no bound
	Kinds  []cutroom.Kind `json:"allowed_kinds,omitzero"` // kinds of call it may make
}

// Amounts are what a run may spend, or has spent. As a bound 0 is none.
type Amounts struct {
	Steps  int64          `json:"steps,omitzero"`       // requests to a model that were answered or tried
	Tokens int64          `json:"tokens,omitzero"`      // of requests and answers
	Cost   int64          `json:"cost_micros,omitzero"` // millionths of a currency unit
	Bytes  int64          `json:"bytes,omitzero"`       // of requests' bodies
	Time   cutroom.Micros `json:"seconds,omitzero"`     // while it was at work
}

// Settings are what a run was started with besides its goal.
type Settings struct {
	SubagentsEnabled bool    `json:"subagents_enabled,omitzero"` // agent.delegate is offered
	Width            int     `json:"width,omitzero"`             // runs that one run may delegate to in all
	Budget           Amounts `json:"budget,omitzero"`
	OnApproval       string  `json:"on_approval,omitzero"` // "wait" (default) or "tell": the model is told and goes on
	MaxTokens        int     `json:"max_tokens,omitzero"`  // of one answer; 0 is the model's own bound
}

// Spec is what a run was created with. It never changes.
type Spec struct {
	Goal         string   `json:"goal"`
	SystemPrompt string   `json:"system_prompt"`
	Tools        []string `json:"tools"` // ids; globs were expanded when the run was created
	Actor        Actor    `json:"actor"`
	Models       []string `json:"models"` // in the order in which they are tried
	Settings     Settings `json:"settings,omitzero"`
	PlanFirst    bool     `json:"plan_first,omitzero"` // the first round may read, preview and propose
	SessionDir   string   `json:"session_dir"`         // absolute; holds the transcript
	Parent       string   `json:"parent,omitzero"`     // the run that delegated to it
	Call         string   `json:"call,omitzero"`       // by which of its calls
	Depth        int      `json:"depth,omitzero"`      // 0 for a run that nobody delegated
}

// Info is a run as it stands.
type Info struct {
	ID       string    `json:"run_id"`
	State    State     `json:"state"`
	Reason   Reason    `json:"reason,omitzero"`
	Spec     Spec      `json:"spec"`
	Spent    Amounts   `json:"spent"`
	Held     bool      `json:"held"` // a process writes its events, or did when it ended
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
}

// Pace is how fast leases live.
type Pace struct {
	Look time.Duration // between two looks at what others asked for; 0: 250 ms
	Beat time.Duration // between two beats of a writer's heart; 0: 1 s
	Dead time.Duration // a writer that missed beats for so long is dead; 0: 4 s
}

// Options are the parts a log works with.
type Options struct {
	// Open opens the database when it is first needed.
	Open  func(context.Context) (*sql.DB, error)
	Space string // whose runs these are
	Key   []byte // of the installation; what a row says a run may do is believed under its seal alone
	Pace  Pace
	Log   *slog.Logger     // nil drops it
	Now   func() time.Time // nil is time.Now
}

// Log is the runs of one workspace. It may be used by many goroutines.
type Log struct {
	Options
	id string // of this process as a writer

	mu    sync.Mutex
	wakes map[string]chan struct{} // closed when a run has more events
}

// New returns a log that has done nothing yet.
func New(o Options) *Log {
	o.Pace.Look, o.Pace.Beat, o.Pace.Dead = or(o.Pace.Look, 250*time.Millisecond), or(o.Pace.Beat, time.Second), or(o.Pace.Dead, 4*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{Options: o, id: NewID(), wakes: map[string]chan struct{}{}}
}

func or(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

// NewID is a name for a run: unguessable, fit for an address and for a file.
func NewID() string { return strings.ToLower(rand.Text()[:20]) }

// wake is closed when the run has more events, in this process.
func (l *Log) wake(id string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wakes[id] == nil {
		l.wakes[id] = make(chan struct{})
	}
	return l.wakes[id]
}

// woken tells the followers of this process.
func (l *Log) woken(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.wakes[id]; c != nil {
		close(c)
		delete(l.wakes, id)
	}
}

func (l *Log) ms() int64 { return l.Now().UnixMilli() }

// missing is the answer to an id that does not exist for whoever asks.
func missing(id string) error {
	if r := []rune(id); len(r) > 32 {
		id = string(r[:32]) + "…"
	}
	return cutroom.Errorf(cutroom.NotFound, "there is no run %q", id).WithHint("`cutroom agent list` shows the runs")
}
