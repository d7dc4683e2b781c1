package engine

import (
	"context"
	"slices"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// Tools lists the tools that a principal may call, in order of name. What is not
// listed does not exist for it; what is above its ceiling is not offered.
func (e *Engine) Tools(who cutroom.Principal) []*tool.Tool {
	return slices.DeleteFunc(slices.Clone(e.Registry.Tools()), func(t *tool.Tool) bool {
		_, err := e.Offered(who, t.Name)
		return err != nil
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
