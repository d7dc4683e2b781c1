package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/tool"
)

// Progress is told at most this often, and at least that often while a call runs,
// give or take the former.
const (
	tellMost  = 500 * time.Millisecond
	tellLeast = 3 * time.Second
)

// progress tells a host how far a call is, when it asked to know. The number is
// seconds of work: stages count different things, and a host wants a number that only
// grows.
type progress struct {
	ctx     context.Context
	session *mcp.ServerSession
	token   any
	started time.Time

	mu     sync.Mutex
	last   time.Time // of the latest notification
	told   float64
	latest string
	done   chan struct{}
	ended  sync.WaitGroup
}

func (s *server) newProgress(ctx context.Context, req *mcp.CallToolRequest, t *tool.Tool) *progress {
	p := &progress{ctx: ctx, session: req.Session, token: req.Params.GetProgressToken(), started: time.Now(), latest: t.Name, done: make(chan struct{})}
	if p.token == nil {
		return p
	}
	p.ended.Go(func() {
		tick := time.NewTicker(tellMost)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				p.tell(tellLeast)
			}
		}
	})
	return p
}

// update takes what the engine reports.
func (p *progress) update(u cutroom.Progress) {
	if p.token == nil {
		return
	}
	p.mu.Lock()
	p.latest = words(u)
	p.mu.Unlock()
	p.tell(tellMost)
}

// tell notifies, unless it did less than so long ago.
func (p *progress) tell(gap time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return
	default:
	}
	now := time.Now()
	if now.Sub(p.last) < gap {
		return
	}
	p.last, p.told = now, max(p.told+0.001, now.Sub(p.started).Seconds())
	// A host that is gone is noticed by its transport.
	_ = p.session.NotifyProgress(p.ctx, &mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: p.told, Message: p.latest})
}

// stop ends the notifications; none follows the answer.
func (p *progress) stop() {
	p.mu.Lock()
	close(p.done)
	p.mu.Unlock()
	p.ended.Wait()
}

// words say what is going on.
func words(u cutroom.Progress) string {
	text := u.Tool
	if u.Stage != "" {
		text += ": " + u.Stage
	}
	switch {
	case u.Done > 0 && u.Total > 0 && (u.Unit == "B" || u.Unit == "us"):
		return fmt.Sprintf("%s (%d %%)", text, 100*u.Done/u.Total)
	case u.Done > 0 && u.Total > 0:
		return fmt.Sprintf("%s (%d of %d %s)", text, u.Done, u.Total, u.Unit)
	}
	return text
}
