// Package job holds the tools that follow calls which go on as jobs.
package job

import (
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Family is the job.* tools.
var Family = tool.NewFamily("job", "Follow calls that take long", cutroom.ContractVersion)

// Output says how a job is.
type Output struct {
	cutroom.Unrecorded
	Entry
	NextStep string `json:"next_step" doc:"What to do now."`
}

// Entry is a job as it is listed.
type Entry struct {
	ID             string           `json:"job_id" doc:"The job."`
	ToolID         string           `json:"tool_id" doc:"The tool that was called."`
	State          cutroom.JobState `json:"state" enum:"queued,running,completed,failed,canceled" doc:"queued: waits for a worker. completed: the result can be read. The last three are final."`
	Stage          string           `json:"stage,omitempty" doc:"What it is doing."`
	Attempt        int              `json:"attempt" min:"0" doc:"How many workers took it; more than 1 when one died."`
	ElapsedSeconds cutroom.Micros   `json:"elapsed_seconds" min:"0" unit:"s" doc:"Since it was started, until it ended."`
	ResultRunID    string           `json:"result_run_id,omitempty" doc:"Id of the recorded result."`
	Error          *Failure         `json:"error,omitempty" doc:"Why it failed."`
}

// Failure is why a job failed.
type Failure struct {
	Kind       string `json:"kind" doc:"Group of the code."`
	Code       string `json:"code" doc:"Code of the failure."`
	Message    string `json:"message" doc:"What went wrong."`
	Hint       string `json:"hint,omitempty" doc:"What helps."`
	ApprovalID string `json:"approval_id,omitempty" doc:"The request that a person has to decide, when one is missing."`
}

// JobID and JobState let a door add the answer of the call itself.
func (o *Output) JobID() string              { return o.ID }
func (o *Output) JobState() cutroom.JobState { return o.State }

func entry(j cutroom.Job) Entry {
	e := Entry{ID: j.ID, ToolID: j.Tool, State: j.State, Attempt: j.Attempt, ResultRunID: string(j.Run)}
	if !j.Started.IsZero() {
		end := j.Finished
		if end.IsZero() {
			end = time.Now()
		}
		e.ElapsedSeconds = max(0, cutroom.Micros(end.Sub(j.Started).Milliseconds())*cutroom.Micros(1000))
	}
	if p := j.Progress; p != nil {
		e.Stage = p.Tool + ": " + p.Stage
		if p.Total > 0 && p.Done > 0 {
			e.Stage += fmt.Sprintf(" (%d of %d %s)", p.Done, p.Total, p.Unit)
		}
	}
	if f := j.Error; f != nil {
		e.Error = &Failure{f.Kind, string(f.Code), f.Message, f.Hint, f.ApprovalID}
	}
	return e
}

// output is a job with the step that follows.
func output(j cutroom.Job) Output {
	o := Output{Entry: entry(j)}
	switch j.State {
	case cutroom.JobQueued:
		o.NextStep = "wait with job_wait; it starts when a worker of this workspace is free (`cutroom jobs work` is one)"
	case cutroom.JobRunning:
		o.NextStep = "wait with job_wait, or stop it with job_cancel"
	case cutroom.JobCompleted:
		o.NextStep = "read the result"
	case cutroom.JobFailed:
		o.NextStep = "mend what the error names, then call the tool again"
	case cutroom.JobCanceled:
		o.NextStep = "call the tool again if you need it after all"
	}
	return o
}
