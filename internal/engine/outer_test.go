package engine

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// addOuter adds a tool that calls engine.record_test.
func addOuter(family *tool.Family) {
	tool.Add(family, tool.Spec[request, answer]{
		Name: "engine.outer_test", Summary: "Test", Description: "Tests.", Kind: cutroom.Read, Exact: tool.BitExact, Revision: 1,
		Timeout: time.Minute, Examples: []request{{Input: "a"}}, Calls: []string{"engine.record_test"},
		Compose: func(ctx context.Context, env tool.Env, in request) (answer, error) {
			_, err := env.Call(ctx, "engine.record_test", request{Input: in.Input, Most: 1000})
			return answer{Text: "outer"}, err
		},
	})
}
