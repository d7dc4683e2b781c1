package job

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Get says how a job is.
var Get = tool.Add(Family, tool.Spec[GetInput, Output]{
	Name:        "job.get",
	Summary:     "Say how a job is, with its result once it is done",
	Description: "See at once how far a job is: a call that took long answers with a job_id and goes on. Over MCP the result of a completed job follows in the same answer. To wait for it, call job_wait.",
	Kind:        cutroom.Read,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Pictures:    true,
	Timeout:     30 * time.Second,
	Examples:    []GetInput{{ID: "k3v5q7x2m4n6p8r0s1t9"}},
	Run: func(ctx context.Context, env tool.Env, in GetInput) (Output, error) {
		j, err := env.Jobs().Get(ctx, in.ID)
		return output(j), err
	},
})

// GetInput is the request.
type GetInput struct {
	ID string `json:"id" min:"1" max:"64" doc:"The job: its job_id."`
}
