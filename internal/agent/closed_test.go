package agent_test

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

type closedInput struct {
	Why string `json:"why,omitempty" max:"1000" doc:"Why it should be opened."`
}

type closedOutput struct{ cutroom.Output }

// addClosed adds a tool that the policy denies.
func addClosed(f *tool.Family) {
	tool.Add(f, tool.Spec[closedInput, closedOutput]{
		Name: "agent.closed_test", Summary: "Open", Description: "Is closed.", Kind: cutroom.Execute, Exact: tool.BitExact, Revision: 1,
		Timeout: time.Minute, Examples: []closedInput{{}},
		Run: func(context.Context, tool.Env, closedInput) (closedOutput, error) { panic("it ran") },
	})
}
