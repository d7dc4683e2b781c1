package setup

import (
	"context"
	"testing"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/policy"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// Long calls wait for room, short ones do not, and a wait ends with its caller.
func TestLongCallsWaitForRoom(t *testing.T) {
	t.Parallel()
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(engine.New(engine.Options{Registry: r, Workspace: t.TempDir(), Policy: policy.Shipped()}))
	for range cap(g.slots) {
		g.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		_, err := g.Invoke(ctx, engine.Call{Tool: "media.watch", Input: []byte(`{}`), Principal: cutroom.Agent, Progress: func(p cutroom.Progress) { told <- p.Stage }})
		ended <- err
	}()
	if stage := <-told; stage == "" {
		t.Error("a call that waits is not told why")
	}
	if _, err := g.Invoke(t.Context(), engine.Call{Tool: "tool.search", Input: []byte(`{"query":"frames"}`), Principal: cutroom.Agent}); err != nil {
		t.Errorf("a quick call beside: %v", err)
	}
	// A run that waits for the calls of another one holds no room: those may need it.
	if _, err := g.Invoke(t.Context(), engine.Call{Tool: "agent.delegate", Input: []byte(`{"goal":"look"}`), Principal: cutroom.Agent}); err == nil || cutroom.AsError(err).Code == cutroom.Canceled {
		t.Errorf("delegating beside: %v", err)
	}
	cancel()
	if err := <-ended; cutroom.AsError(err).Code != cutroom.Canceled {
		t.Errorf("the wait ended with %v", err)
	}
	<-g.slots
	if _, err := g.Invoke(t.Context(), engine.Call{Tool: "media.watch", Input: []byte(`{}`), Principal: cutroom.Agent}); cutroom.AsError(err).Code != cutroom.Invalid {
		t.Errorf("with room: %v", err)
	}
	if len(g.slots) != cap(g.slots)-1 {
		t.Error("the room was not given back")
	}
}
