package job

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Wait waits for a job.
var Wait = tool.Add(Family, tool.Spec[WaitInput, Output]{
	Name:        "job.wait",
	Summary:     "Wait for a job, and get its result",
	Description: "Wait until a job is done and get its result: over MCP, what the call itself would have answered, with pictures. Returns after the given seconds when it is not done yet; call it again then. Waiting costs nothing and does not touch the job.",
	Kind:        cutroom.Read,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Live:        true,
	Pictures:    true,
	Timeout:     2 * time.Minute,
	Examples:    []WaitInput{{ID: "k3v5q7x2m4n6p8r0s1t9", Seconds: 30}},
	Run: func(ctx context.Context, env tool.Env, in WaitInput) (Output, error) {
		j, err := env.Jobs().Wait(ctx, in.ID, time.Duration(in.Seconds)*time.Second)
		return output(j), err
	},
})

// WaitInput is the request.
type WaitInput struct {
	ID      string `json:"id" min:"1" max:"64" doc:"The job: its job_id."`
	Seconds int    `json:"seconds,omitzero" min:"1" max:"50" default:"40" unit:"s" doc:"Longest wait; hosts give up on a call after 60 s or more."`
}
