package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/run"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// weighed is a model that notes what its requests are taken for, and what it answered.
type weighed struct {
	mu    sync.Mutex
	took  []int64 // estimates of requests with their answers
	said  []int64 // what was counted
	texts []string
}

func (w *weighed) model(m agent.Model) agent.Model {
	ask := m.Ask
	m.Ask = func(ctx context.Context, q provider.Request) (provider.Reply, error) {
		r, err := ask(ctx, q)
		in, out := q.Tokens()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.took, w.said = append(w.took, in+out), append(w.said, r.Usage.Input+r.Usage.Output)
		var all strings.Builder
		for _, m := range q.Messages {
			all.WriteString(m.Text() + "\n")
		}
		w.texts = append(w.texts, all.String())
		return r, err
	}
	return m
}

// walk is an entry of so many steps that look.
func walk(goal string, steps, size int) script.Entry {
	e := script.Entry{Goal: goal, Final: script.Step{Say: "First ${steps[0].calls[0].output.seen}"}}
	for i := range steps {
		e.Steps = append(e.Steps, calls("agent.look_test", fmt.Sprintf(`{"at":%d,"says":"thing %d ","size":%d}`, i, i, size)))
	}
	return e
}

// TestBudgetStops: a run stops exactly at the call that would exceed a budget, and says
// which.
func TestBudgetStops(t *testing.T) {
	t.Parallel()
	free := &weighed{}
	h := small(t, free.model(scripted(t, walk("walk", 8, 10))))
	if o := prompt(t, h.create(t, spec("walk"))); o.State != run.Completed || len(free.took) != 9 {
		t.Fatalf("%+v after %d requests", o, len(free.took))
	}
	// What two answers took, and what the third request is taken for.
	third := free.said[0] + free.said[1] + free.took[2]
	for _, c := range []struct {
		over string
		most run.Amounts
		want int
	}{
		{"steps", run.Amounts{Steps: 4}, 4},
		{"steps", run.Amounts{Steps: 1}, 1},
		{"tokens", run.Amounts{Tokens: third}, 3},
		{"tokens", run.Amounts{Tokens: third - 1}, 2},
		{"tokens", run.Amounts{Tokens: 1}, 0},
	} {
		w := &weighed{}
		h := small(t, w.model(scripted(t, walk("walk", 8, 10))))
		s := spec("walk")
		s.Settings.Budget = c.most
		x := h.create(t, s)
		o := prompt(t, x)
		if o.State != run.Failed || o.Reason != run.Budget || o.Error.Code != cutroom.Budget || len(w.took) != c.want {
			t.Errorf("%+v: %+v after %d requests, want %d", c.most, o, len(w.took), c.want)
		}
		list := h.events(t, x.ID())
		last, ok := list[len(list)-1].(run.Broken)
		if !ok || last.Over != c.over || !last.Attention || last.Reason != run.Budget {
			t.Errorf("%+v: the last event is %+v", c.most, list[len(list)-1])
		}
		if c.most.Tokens > 0 && o.Spent.Tokens > c.most.Tokens || c.most.Steps > 0 && o.Spent.Steps != c.most.Steps {
			t.Errorf("%+v: spent %+v", c.most, o.Spent)
		}
		if n := len(of[run.End](list)); n != c.want {
			t.Errorf("%+v: %d calls ended", c.most, n)
		}
	}
}

// TestBudgetOfBytesAndCost: what leaves is charged before it leaves, retries included.
func TestBudgetOfBytesAndCost(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, most run.Amounts, price provider.Price) (*providertest.Server, agent.Outcome) {
		s := providertest.New(t)
		n := 0
		s.Answer(func(providertest.Request) providertest.Step {
			n++
			return providertest.Call(fmt.Sprint("c", n), "agent_look_test", fmt.Sprintf(`{"at":%d}`, n))
		})
		m := model(s, "eye", provider.Chat, "m")
		m.Endpoint.Price = price
		h := small(t, m)
		p := spec("look")
		p.Settings.Budget = most
		p.Settings.MaxTokens = 100
		return s, prompt(t, h.create(t, p))
	}
	free, _ := ask(t, run.Amounts{Steps: 3}, provider.Price{})
	var two int64
	for _, r := range free.Requests()[:2] {
		two += int64(len(r.Body))
	}
	for most, want := range map[int64]int{two: 2, two - 1: 1} {
		s, o := ask(t, run.Amounts{Bytes: most}, provider.Price{})
		if n := len(s.Requests()); n != want || o.Reason != run.Budget || o.Spent.Bytes > most {
			t.Errorf("%d bytes: %d requests, %+v", most, n, o)
		}
	}
	s, o := ask(t, run.Amounts{Cost: 3000}, provider.Price{Input: 1_000_000, Output: 2_000_000})
	if n := len(s.Requests()); n == 0 || n > 200 || o.Reason != run.Budget || o.Spent.Cost > 3000 || o.Usage.Cost != int64(n)*20 {
		t.Errorf("%d requests, %+v", n, o)
	}
	m := model(free, "eye", provider.Chat, "m")
	p := spec("look")
	p.Settings.Budget.Cost = 1
	if _, err := small(t, m).CreateRun(t.Context(), p); cutroom.AsError(err).Code != cutroom.Invalid {
		t.Errorf("a bound on a cost that is not known: %v", err)
	}
}

// TestBudgetOfTime: a call that is at work when the time is spent is cut off.
func TestBudgetOfTime(t *testing.T) {
	t.Parallel()
	h := small(t, scripted(t, script.Entry{Goal: "", Steps: []script.Step{calls("agent.deed_test", `{"number":1,"pause":60000}`)}, Final: script.Step{Say: "done"}}))
	s := spec("wait")
	s.Settings.Budget.Time = cutroom.Second * 3 / 10
	x := h.create(t, s)
	began := time.Now()
	o := prompt(t, x)
	if took := time.Since(began); took > 3*time.Second || o.Reason != run.Budget {
		t.Errorf("%+v after %s", o, took)
	}
	list := h.events(t, x.ID())
	if ends := of[run.End](list); len(ends) != 1 || ends[0].Code != cutroom.Canceled {
		t.Errorf("%+v", ends)
	}
	if b := of[run.Broken](list); len(b) != 1 || b[0].Over != "time" {
		t.Errorf("%+v", b)
	}
}

// TestAbort: a run is stopped within a second, by whoever asks, in whatever process it is;
// so is one that nobody is at, and one that another run delegated.
func TestAbort(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		var entries []script.Entry
		for n := range 4 {
			entries = append(
				entries,
				script.Entry{Goal: fmt.Sprint("child ", n), Steps: []script.Step{calls("agent.deed_test", fmt.Sprintf(`{"number":%d,"pause":60000}`, n+1))}, Final: script.Step{Say: "done"}},
				script.Entry{Goal: fmt.Sprint("parent ", n), Steps: []script.Step{calls("agent.delegate", fmt.Sprintf(`{"goal":"child %d"}`, n))}, Final: script.Step{Say: "done"}},
			)
		}
		h, other := at(t, place, scripted(t, entries...)), at(t, place, scripted(t, entries...))
		for n, c := range []struct {
			goal string
			here bool
		}{{"child", true}, {"child", false}, {"parent", true}, {"parent", false}} {
			s := spec(fmt.Sprint(c.goal, " ", n))
			s.Settings.SubagentsEnabled = true
			x := h.create(t, s)
			type end struct {
				o   agent.Outcome
				err error
			}
			ended := make(chan end)
			go func() {
				o, err := x.Prompt(t.Context(), "")
				ended <- end{o, err}
			}()
			h.await(t, x.ID(), run.CallStart)
			if kids, err := h.log.Children(t.Context(), x.ID()); err != nil {
				t.Fatal(err)
			} else if c.goal == "parent" {
				for len(kids) == 0 {
					if kids, err = h.log.Children(t.Context(), x.ID()); err != nil {
						t.Fatal(err)
					}
				}
				h.await(t, kids[0].ID, run.CallStart)
			}
			began := time.Now()
			stop := x
			if !c.here {
				var err error
				if stop, err = other.Open(t.Context(), cutroom.Agent, x.ID()); err != nil {
					t.Fatal(err)
				}
			}
			if err := stop.Abort(t.Context()); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			e := <-ended
			if took := time.Since(began); took > time.Second || e.err != nil || e.o.State != run.Failed || e.o.Reason != run.Aborted {
				t.Errorf("%+v: %+v, %v after %s", c, e.o, e.err, took)
			}
			kids, err := h.log.Children(t.Context(), x.ID())
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range kids {
				if k.State != run.Failed || k.Reason != run.Aborted {
					t.Errorf("%+v: its child is %s %s", c, k.State, k.Reason)
				}
			}
			for _, b := range of[run.End](h.events(t, x.ID())) {
				if b.Status != run.CallFailed {
					t.Errorf("%+v", b)
				}
			}
		}
		idle := h.create(t, spec("child 0"))
		if err := idle.Abort(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i, err := idle.Info(t.Context()); err != nil || i.State != run.Failed || i.Reason != run.Aborted {
			t.Errorf("%+v, %v", i, err)
		}
	})
}

// await waits until a run has an event of a type.
func (h *house) await(t *testing.T, id string, kind run.Type) {
	t.Helper()
	for e, err := range h.log.Follow(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == kind {
			return
		}
	}
	t.Fatalf("the run ended without %s", kind)
}

// TestCompaction: a long run (of 500 steps under CUTROOM_SOAK) stays under what its model reads at once, and still
// cites what it found first.
func TestCompaction(t *testing.T) {
	t.Parallel()
	const context = 16_000
	steps := 120
	if testenv.Soak() {
		steps = 500
	}
	w := &weighed{}
	m := w.model(scripted(t, walk("walk", steps, 1500)))
	m.Context = context
	place := filepath.Join(t.TempDir(), store.Name)
	h := at(t, place, m)
	x := h.create(t, spec("walk far"))
	o := prompt(t, x)
	if o.State != run.Completed || !strings.HasPrefix(o.Text, "First thing 0 ") || o.Usage.Calls != steps {
		t.Fatalf("%+v", o)
	}
	for i, n := range w.took {
		if n > context {
			t.Fatalf("request %d of %d is taken for %d tokens", i, len(w.took), n)
		}
	}
	list := h.events(t, x.ID())
	found := of[run.End](list)
	last := w.texts[len(w.texts)-1]
	if !strings.Contains(last, string(found[0].Run)) || !strings.Contains(last, string(found[steps-1].Run)) {
		t.Error("what was found first, or last, is not named any more")
	}
	var starts, ends int
	for _, c := range of[run.Compacted](list) {
		switch c.Phase {
		case run.CompactionStart:
			starts++
		case run.CompactionEnd:
			if ends++; c.Summary == "" || c.By == "" || c.Tokens >= context || c.Evidence == 0 {
				t.Errorf("%+v", c)
			}
		}
	}
	if starts != ends || starts < steps/50 || len(w.took) != steps+1+ends {
		t.Errorf("%d compactions began, %d ended; %d requests", starts, ends, len(w.took))
	}
	// What can be read again by its id is there.
	r, err := h.engine.Answer(t.Context(), cutroom.Agent, string(found[0].Run))
	if err != nil || !strings.Contains(string(r.JSON), "thing 0 ") {
		t.Errorf("%v", err)
	}
}
