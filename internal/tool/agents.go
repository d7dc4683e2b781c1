package tool

import (
	"context"

	"cutroom"
)

// Agents starts runs on behalf of the agent's run that makes a call. Outside of one it
// refuses.
type Agents interface {
	// Delegate has another run do a task, under no more authority than the run that makes
	// the call and out of its budget, and answers when that run stops. Where a person has
	// to decide first, the error is needs_approval; the same call then goes on.
	Delegate(ctx context.Context, t Task) (Delegated, error)
}

// Task is what another run shall do.
type Task struct {
	Goal   string
	Tools  []string       // globs over those of the run that delegates; none is all of them
	Kinds  []cutroom.Kind // kinds of call; none is all that the run may make
	Steps  int64          // requests to a model, at most; 0 is the rest of the budget
	Tokens int64          // likewise
}

// Delegated is what became of a task.
type Delegated struct {
	Run    string // id of the run that did it
	State  string // completed or failed
	Reason string // of one that failed: budget, aborted or error
	Text   string // its last word
	Steps  int64  // what it spent
	Tokens int64
	Calls  int
}
