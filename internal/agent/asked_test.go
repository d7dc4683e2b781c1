package agent_test

import (
	"context"
	"fmt"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

type askedInput struct {
	Number int64 `json:"number" min:"1" doc:"Which one."`
}

type askedOutput struct {
	cutroom.Output
	Done int64 `json:"done" doc:"Which one was done."`
}

// addAsked adds a tool that a person has to allow.
func addAsked(f *tool.Family, dir string) {
	tool.Add(f, tool.Spec[askedInput, askedOutput]{
		Name: "agent.asked_test", Summary: "Ask", Description: "Asks a person.", Kind: cutroom.Execute, Exact: tool.BitExact, Revision: 1,
		Timeout: time.Minute, Examples: []askedInput{{Number: 1}},
		Run: func(_ context.Context, _ tool.Env, in askedInput) (askedOutput, error) {
			return askedOutput{Done: in.Number}, witness(dir, "asked", fmt.Sprint(in.Number))
		},
	})
}
