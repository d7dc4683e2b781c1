package run_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/run"
	"cutroom/internal/store/storetest"
)

// TestOneWriter: of many that want a run one has it; a writer that lives is a conflict, one
// that was killed is followed by the next, and what the dead one may still say is refused.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		l, other := logOf(storetest.At(t, place)), logOf(storetest.At(t, place))
		id := created(t, l)
		w := taken(t, l, id)
		if _, err := other.Take(t.Context(), id); cutroom.AsError(err).Code != cutroom.Conflict {
			t.Fatalf("%v", err)
		}
		if err := w.Append(t.Context(), run.Text{Turn: 1, Text: "a"}, run.Text{Turn: 1, Text: "b"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(t.Context(), run.Text{}); !errors.Is(err, run.ErrLost) {
			t.Errorf("after it was closed: %v", err)
		}

		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(self)
		c.Env = append(os.Environ(), asWriter+"="+place, itsRun+"="+id, itsEvents+"=1000000")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if l, err := bufio.NewReader(out).ReadString('\n'); err != nil || l != "ready\n" {
			t.Fatalf("%q, %v", l, err)
		}
		for e, err := range l.Follow(t.Context(), id, 20) { // it writes
			if err != nil || e.Seq != 20 {
				t.Fatal(e, err)
			}
			break
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		var mu sync.Mutex
		var all sync.WaitGroup
		var won []*run.Writer
		for range 6 {
			for _, one := range []*run.Log{l, other} {
				all.Go(func() {
					w, err := one.Take(t.Context(), id)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						won = append(won, w)
					} else if cutroom.AsError(err).Code != cutroom.Conflict {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d have it", len(won))
		}
		if err := won[0].Turn(t.Context(), run.Completed, "", run.Done{}); err != nil {
			t.Error(err)
		}
		if err := won[0].Close(t.Context()); err != nil {
			t.Error(err)
		}
		seq := int64(0)
		for e, err := range l.All(t.Context(), id, 1) {
			if seq++; err != nil || e.Seq != seq {
				t.Fatalf("event %d is %d: %v", seq, e.Seq, err)
			}
		}
	})
}

// TestAppendAtOnce: what goroutines of the writer append at once has numbers without gaps,
// and a batch stands together.
func TestAppendAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l := logOf(open())
		id := created(t, l)
		w := taken(t, l, id)
		var all sync.WaitGroup
		for g := range 6 {
			all.Go(func() {
				for range 10 {
					if err := w.Append(t.Context(), run.Start{Turn: g, Index: 0}, run.Start{Turn: g, Index: 1}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		page, err := l.Read(t.Context(), id, 1, 1000)
		if err != nil || len(page) != 120 {
			t.Fatalf("%d, %v", len(page), err)
		}
		for i := 0; i < len(page); i += 2 {
			a, err1 := page[i].Body()
			b, err2 := page[i+1].Body()
			if err1 != nil || err2 != nil || page[i].Seq != int64(i)+1 || a.(run.Start).Turn != b.(run.Start).Turn || b.(run.Start).Index != 1 {
				t.Fatalf("%d: %+v %+v", i, a, b)
			}
		}
	})
}

// TestUnbelieved: a run whose row was changed in the database is not worked, and one of
// another workspace or principal does not exist.
func TestUnbelieved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		db := open()
		l := logOf(db)
		for _, change := range []string{
			`update run set spec = replace(spec, 'a.b', 'e.f') where id = $1`, `update run set principal_name = 'x' where id = $1`,
			`update run set parent = 'x' where id = $1`, `update run set mac = '' where id = $1`,
		} {
			id := created(t, l)
			if _, err := db.ExecContext(t.Context(), change, id); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Take(t.Context(), id); cutroom.AsError(err).Code != cutroom.Denied {
				t.Errorf("%s: %v", change, err)
			}
		}
		id := created(t, l)
		if _, err := l.Get(t.Context(), cutroom.Principal{Name: "other", Role: cutroom.RoleAgent}, id); cutroom.AsError(err).Code != cutroom.NotFound {
			t.Errorf("%v", err)
		}
		if i, err := l.Get(t.Context(), cutroom.Operator, id); err != nil || i.Spec.Goal != "goal" || i.State != run.Created {
			t.Errorf("%+v, %v", i, err)
		}
		if list, err := l.List(t.Context(), cutroom.Agent, 100, run.Created); err != nil || len(list) == 0 || list[0].Spec.Actor.Principal != cutroom.Agent {
			t.Errorf("%d, %v", len(list), err)
		}
		elsewhere := run.New(run.Options{Open: l.Open, Space: "other", Key: l.Key})
		if _, err := elsewhere.Get(t.Context(), cutroom.Operator, id); cutroom.AsError(err).Code != cutroom.NotFound {
			t.Errorf("%v", err)
		}
	})
}

// TestCancelReachesTheWriter: whoever asks, the writer's context ends, and soon.
func TestCancelReachesTheWriter(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		l, other := logOf(storetest.At(t, place)), logOf(storetest.At(t, place))
		id := created(t, l)
		w := taken(t, l, id)
		ctx, cancel := w.Context(t.Context())
		defer cancel(nil)
		if running, err := other.Cancel(t.Context(), cutroom.Operator, id); running || err != nil {
			t.Fatalf("of a run that does nothing: %v, %v", running, err)
		}
		if err := w.Turn(t.Context(), run.Running, "", run.Started{}); err != nil {
			t.Fatal(err)
		}
		if running, err := other.Cancel(t.Context(), cutroom.Operator, id); !running || err != nil {
			t.Fatalf("%v, %v", running, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
			t.Fatal("it goes on")
		}
		if cause := context.Cause(ctx); !errors.Is(cause, run.ErrAborted) {
			t.Errorf("%v", cause)
		}
	})
}

// TestCharge: whoever charges, and at once, no bound is passed, and a charge is taken from
// all purses or from none.
func TestCharge(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		logs := []*run.Log{logOf(storetest.At(t, place)), logOf(storetest.At(t, place))}
		root, a, b := created(t, logs[0]), created(t, logs[0]), created(t, logs[0])
		most := run.Amounts{Tokens: 100, Steps: 1000}
		purses := func(child string) []run.Purse {
			return []run.Purse{{RunID: child, Most: run.Amounts{Tokens: 60}}, {RunID: root, Most: most}}
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		taken := map[string]int64{}
		for g := range 8 {
			all.Go(func() {
				child := []string{a, b}[g%2]
				for range 10 {
					over, err := logs[g%2].Charge(t.Context(), purses(child), run.Amounts{Tokens: 7, Steps: 1})
					if err != nil || over != "" && over != "tokens" {
						t.Error(over, err)
					}
					mu.Lock()
					if over == "" {
						taken[child] += 7
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		spent := func(id string) run.Amounts {
			s, err := logs[0].Spent(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		if spent(a).Tokens != taken[a] || spent(b).Tokens != taken[b] || spent(root).Tokens != taken[a]+taken[b] || spent(root).Tokens != 98 || spent(a).Tokens > 60 || spent(b).Tokens > 60 {
			t.Errorf("%+v, %+v, %+v; %v", spent(root), spent(a), spent(b), taken)
		}
		if err := logs[1].Settle(t.Context(), purses(a), run.Amounts{Tokens: -1000}); err != nil || spent(a).Tokens != 0 || spent(root).Tokens != 0 {
			t.Errorf("%v, %+v", err, spent(root))
		}
	})
}

// TestEvents: every event comes back as it was, whole as JSON, and the bus gets those that
// it carries.
func TestEvents(t *testing.T) {
	t.Parallel()
	bodies := []run.Body{
		run.Started{Round: 1, Goal: "g", Models: []string{"m"}, Tools: []string{"t"}, Kinds: []cutroom.Kind{cutroom.Read}},
		run.Text{Turn: 1, Text: "hello \u2028 \"x\""},
		run.Text{Turn: 1, Answer: &run.Answer{Provider: "p", Model: "m"}},
		run.Text{Turn: 2, Again: true},
		run.Thinking{Turn: 1, Text: "hm"},
		run.Start{Turn: 1, CallID: "c", Tool: "a.b"},
		run.End{Turn: 1, CallID: "c", Tool: "a.b", Status: run.Succeeded},
		run.End{Turn: 1, CallID: "c", Tool: "a.b", Status: run.CallFailed, Code: cutroom.Invalid},
		run.Rejected{Turn: 1, CallID: "c", Tool: "bash", Code: cutroom.NotFound, Approval: "apv"},
		run.Compacted{Phase: run.CompactionStart},
		run.Done{Text: "t"},
		run.Done{Text: "p", Planned: true},
		run.Broken{Reason: run.Budget, Code: cutroom.Budget, Attention: true},
	}
	want := []string{
		"agent.run_status running", "agent.text_delta", "", "agent.text_delta again", "", "agent.tool_call started", "agent.tool_call succeeded", "agent.tool_call failed invalid",
		"agent.tool_call denied not_found", "", "agent.run_status completed", "agent.run_status planned", "agent.run_status failed budget budget",
	}
	for i, b := range bodies {
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		e := run.Event{RunID: "r", Seq: 7, At: time.UnixMilli(1_700_000_000_123), Type: b.Type(), Payload: text}
		back, err := e.Body()
		if diff := cmp.Diff(b, back); err != nil || diff != "" {
			t.Errorf("%s: %v %s", b.Type(), err, diff)
		}
		var whole struct {
			RunID string    `json:"runId"`
			Seq   int64     `json:"seq"`
			At    time.Time `json:"at"`
			Type  run.Type  `json:"type"`
		}
		if text, err = json.Marshal(e); err == nil {
			err = json.Unmarshal(text, &whole)
		}
		if err != nil || whole.RunID != "r" || whole.Seq != 7 || !whole.At.Equal(e.At) || whole.Type != e.Type {
			t.Errorf("%s: %v", text, err)
		}
		got := ""
		if m, ok := run.Publish(e); ok {
			got = string(m.Topic)
			for _, w := range []string{string(m.Phase), string(m.Status), string(m.Reason), string(m.Code)} {
				if w != "" {
					got += " " + w
				}
			}
			if m.Again {
				got += " again"
			}
			if m.RunID != "r" || m.Seq != 7 {
				t.Errorf("%+v", m)
			}
		}
		if got != want[i] {
			t.Errorf("%s: %q, want %q", b.Type(), got, want[i])
		}
	}
	rapid.Check(t, func(rt *rapid.T) { // what is no event is none
		e := run.Event{Type: run.Type(rapid.String().Draw(rt, "type")), Payload: []byte(rapid.String().Draw(rt, "payload"))}
		if _, ok := run.Publish(e); ok {
			rt.Errorf("%+v", e)
		}
	})
}
