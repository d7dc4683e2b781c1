package cutroom

import "time"

// JobState says how far a job is.
type JobState string

// The states of a job. A job is in exactly one; the last three are final.
const (
	JobQueued    JobState = "queued"    // waits for a worker
	JobRunning   JobState = "running"   // a worker is at it
	JobCompleted JobState = "completed" // its result can be read; the result's own status may be partial
	JobFailed    JobState = "failed"    // Error says why
	JobCanceled  JobState = "canceled"  // somebody stopped it
)

// JobStates lists every state in order of life.
var JobStates = []JobState{JobQueued, JobRunning, JobCompleted, JobFailed, JobCanceled}

// Final says that the state never changes again.
func (s JobState) Final() bool { return s == JobCompleted || s == JobFailed || s == JobCanceled }

// Job is a call that goes on after its caller stopped waiting.
type Job struct {
	ID        string
	Tool      string
	Principal Principal
	State     JobState
	Attempt   int // 1 for the first worker, more after one died at it
	Created   time.Time
	Started   time.Time // zero while it is queued
	Finished  time.Time // zero until the state is final
	Progress  *Progress // the latest, while it runs; nil when none is known
	Run       Digest    // of the recorded result; empty when none was recorded
	Error     *FailureDetail
}
