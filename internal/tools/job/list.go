package job

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// List lists jobs.
var List = tool.Add(Family, tool.Spec[ListInput, ListOutput]{
	Name:        "job.list",
	Summary:     "List the jobs of this workspace, the newest first",
	Description: "List the jobs of this workspace, the newest first: those that run or wait, and those that ended in the last seven days.",
	Kind:        cutroom.Read,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Timeout:     30 * time.Second,
	Examples:    []ListInput{{Max: 20}, {States: []cutroom.JobState{cutroom.JobRunning}}},
	Run: func(ctx context.Context, env tool.Env, in ListInput) (ListOutput, error) {
		out := ListOutput{Jobs: []Entry{}}
		jobs, err := env.Jobs().List(ctx, in.Max, in.States...)
		for _, j := range jobs {
			out.Jobs = append(out.Jobs, entry(j))
		}
		return out, err
	},
})

// ListInput is the request.
type ListInput struct {
	States []cutroom.JobState `json:"states,omitempty" enum:"queued,running,completed,failed,canceled" doc:"Only jobs in these states."`
	Max    int                `json:"max,omitzero" min:"1" max:"200" default:"20" doc:"Most jobs."`
}

// ListOutput is the answer.
type ListOutput struct {
	cutroom.Unrecorded
	Jobs []Entry `json:"jobs" doc:"The jobs."`
}
