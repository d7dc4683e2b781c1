package agent_test

import (
	"testing"

	"cutroom"
	"cutroom/internal/agent/script"
	"cutroom/internal/run"
	"cutroom/internal/store/storetest"
)

// TestTakenOver: a process whose lease another one took, with a call at work, does nothing
// more; the call is not made twice, and the run ends as it would have.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		dir := t.TempDir()
		e := script.Entry{Goal: "work", Steps: []script.Step{
			calls("agent.look_test", `{"at":1,"says":"a hat"}`), calls("agent.deed_test", `{"number":1,"pause":60000}`), calls("agent.look_test", `{"at":2}`),
		}, Final: script.Step{Say: "${steps[0].calls[0].output.seen}"}}
		a, err := build(t.Context(), place, dir, scripted(t, e))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.db.Close() })
		b, err := build(t.Context(), place, dir, scripted(t, e))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.db.Close() })
		x := a.create(t, spec("work"))
		ended := make(chan error)
		go func() {
			_, err := x.Prompt(t.Context(), "")
			ended <- err
		}()
		for e, err := range b.log.Follow(t.Context(), x.ID(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := e.Body(); e.Type == run.CallStart && body.(run.Start).Tool == "agent.deed_test" {
				break
			}
		}
		for b.done("deeds") == "" { // it is at work
			if t.Context().Err() != nil {
				t.Fatal("it was not begun")
			}
		}
		if _, err := b.db.ExecContext(t.Context(), `update run set worker = '' where id = $1`, x.ID()); err != nil { // as after a long standstill
			t.Fatal(err)
		}
		y, err := b.Open(t.Context(), cutroom.Agent, x.ID())
		if err != nil {
			t.Fatal(err)
		}
		defer y.Close(t.Context())
		if o := resume(t, y); o.State != run.Completed || o.Text != "a hat" {
			t.Errorf("%+v", o)
		}
		if err := <-ended; cutroom.AsError(err).Code != cutroom.Conflict {
			t.Errorf("the first one: %v", err)
		}
		if b.done("deeds") != "1" {
			t.Errorf("done: %q", b.done("deeds"))
		}
		seen := map[[2]int]int{}
		for _, end := range of[run.End](b.events(t, x.ID())) {
			if seen[[2]int{end.Turn, end.Index}]++; end.Tool == "agent.deed_test" && end.Recovery != run.Unknown {
				t.Errorf("%+v", end)
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("call %v ended %d times", at, n)
			}
		}
		if len(of[run.Done](b.events(t, x.ID()))) != 1 {
			t.Error("it ended more than once")
		}
	})
}
