package agent_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

type meetInput struct {
	Number int64 `json:"number" min:"1" doc:"Which one."`
}

type meetOutput struct {
	cutroom.Unrecorded
	Met int64 `json:"met" doc:"How many were there."`
}

// addMeet adds a tool whose calls end when three are at work at once.
func addMeet(f *tool.Family) {
	var mu sync.Mutex
	n, all := 0, make(chan struct{})
	tool.Add(f, tool.Spec[meetInput, meetOutput]{
		Name: "agent.meet_test", Summary: "Meet", Description: "Meets others.", Kind: cutroom.Read, Exact: tool.EnvironmentDependent, Revision: 1,
		Live: true, Timeout: time.Minute, Examples: []meetInput{{Number: 1}},
		Run: func(ctx context.Context, _ tool.Env, _ meetInput) (meetOutput, error) {
			mu.Lock()
			if n++; n == 3 {
				close(all)
			}
			mu.Unlock()
			select {
			case <-all:
				return meetOutput{Met: 3}, nil
			case <-time.After(10 * time.Second):
				return meetOutput{}, errors.New("nobody came")
			case <-ctx.Done():
				return meetOutput{}, ctx.Err()
			}
		},
	})
}
