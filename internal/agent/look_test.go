package agent_test

import (
	"context"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

type lookInput struct {
	At   int64          `json:"at" min:"0" max:"1000000" doc:"Second to look at."`
	Size int            `json:"size,omitempty" min:"0" max:"100000" doc:"Letters of what is seen."`
	File cutroom.InPath `json:"file,omitempty" doc:"File to look at."`
	Says string         `json:"says,omitempty" max:"100000" doc:"What is seen."`
}

type lookOutput struct {
	cutroom.Output
	Second int64  `json:"second" doc:"Where it was seen."`
	Seen   string `json:"seen" doc:"What was seen."`
}

// addLook adds a tool that reads: what it answers is recorded.
func addLook(f *tool.Family) {
	tool.Add(f, tool.Spec[lookInput, lookOutput]{
		Name: "agent.look_test", Summary: "Look", Description: "Looks at a second.", Kind: cutroom.Read, Exact: tool.BitExact, Revision: 1,
		Timeout: time.Minute, Examples: []lookInput{{At: 1}},
		Run: func(_ context.Context, _ tool.Env, in lookInput) (lookOutput, error) {
			return lookOutput{Second: in.At, Seen: in.Says + strings.Repeat("x", in.Size)}, nil
		},
	})
}
