package setup

import (
	"context"
	"runtime"
	"time"

	"cutroom"
	"cutroom/internal/engine"
)

// gate bounds how many long calls are at work at once, however they came: ten
// recordings heard at a time take the memory of ten. A call that waits is told so, and
// its caller's patience runs meanwhile.
type gate struct {
	*engine.Engine
	slots chan struct{}
}

// quick is how long a tool may take whose calls need not wait: they look, and start
// no engine of speech or text.
const quick = 2 * time.Minute

func newGate(e *engine.Engine) gate {
	return gate{e, make(chan struct{}, max(4, runtime.NumCPU()))}
}

// Invoke makes a call once there is room for it.
func (g gate) Invoke(ctx context.Context, c engine.Call) (*engine.Reply, error) {
	if t, ok := g.Registry.Find(c.Tool); !ok || t.Timeout <= quick || t.Inner { // a run that waits for another's calls holds no room
		return g.Engine.Invoke(ctx, c)
	}
	select {
	case g.slots <- struct{}{}:
	default:
		if c.Progress != nil {
			c.Progress(cutroom.Progress{Tool: c.Tool, Stage: "waiting for other calls of this server"})
		}
		select {
		case g.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, cutroom.AsError(context.Cause(ctx))
		}
	}
	defer func() { <-g.slots }()
	return g.Engine.Invoke(ctx, c)
}
