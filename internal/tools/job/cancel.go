package job

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Cancel stops a job.
var Cancel = tool.Add(Family, tool.Spec[CancelInput, Output]{
	Name:        "job.cancel",
	Summary:     "Stop a job",
	Description: "Stop a job that is not needed any more, with every program it runs. What other calls recorded stays; a job that ended stays as it is.",
	Kind:        cutroom.Execute,
	Risk:        tool.LowRisk,
	Replay:      tool.ReplaySafe, // a job that ended stays ended
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Pictures:    true,
	Timeout:     30 * time.Second,
	Examples:    []CancelInput{{ID: "k3v5q7x2m4n6p8r0s1t9"}},
	Run: func(ctx context.Context, env tool.Env, in CancelInput) (Output, error) {
		j, err := env.Jobs().Cancel(ctx, in.ID)
		return output(j), err
	},
})

// CancelInput is the request.
type CancelInput struct {
	ID string `json:"id" min:"1" max:"64" doc:"The job: its job_id."`
}
