package engine

import (
	"context"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Tools lists the tools that a principal may see, in order of name. What is not
// listed does not exist for it.
func (e *Engine) Tools(who cutroom.Principal) []*tool.Tool {
	return slices.DeleteFunc(slices.Clone(e.Registry.Tools()), func(t *tool.Tool) bool {
		return !e.Policy.Lists(who, t.Name)
	})
}

// noJobs is the queue of a process that has none.
type noJobs struct{}

func (noJobs) none() error {
	return cutroom.Errorf(cutroom.Unavailable, "this process keeps no jobs").WithHint("use `cutroom jobs`, or an MCP host that started `cutroom mcp`")
}

func (n noJobs) Get(context.Context, string) (cutroom.Job, error) { return cutroom.Job{}, n.none() }

func (n noJobs) Wait(context.Context, string, time.Duration) (cutroom.Job, error) {
	return cutroom.Job{}, n.none()
}

func (n noJobs) Cancel(context.Context, string) (cutroom.Job, error) { return cutroom.Job{}, n.none() }

func (n noJobs) List(context.Context, int, ...cutroom.JobState) ([]cutroom.Job, error) {
	return nil, n.none()
}
