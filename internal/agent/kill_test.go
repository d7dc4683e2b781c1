package agent_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/agent/script"
	"cutroom/internal/provider"
	"cutroom/internal/run"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// In the environment these make the test binary a process that works a run: over the
// database at that place, in that folder, of that id.
const (
	asWorker = "CUTROOM_TEST_AGENT"
	itsDir   = "CUTROOM_TEST_DIR"
	itsRun   = "CUTROOM_TEST_RUN"
)

func TestMain(m *testing.M) {
	if place := os.Getenv(asWorker); place != "" {
		if err := goOnWith(place, os.Getenv(itsDir), os.Getenv(itsRun)); err != nil {
			fmt.Fprintln(os.Stderr, err, cutroom.AsError(err).Err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// scripted is a model that plays entries in this process.
func scripted(t testing.TB, entries ...script.Entry) agent.Model {
	s, err := script.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return played(s)
}

func played(s *script.Script) agent.Model {
	m := &script.Model{Script: s, Name: "play"}
	return agent.Model{Name: "script/play", Endpoint: provider.Endpoint{Name: "script", Model: "play"}, Ask: m.Reply, Local: true, Context: 9000}
}

// calls is a step that makes calls.
func calls(list ...string) script.Step {
	var st script.Step
	for i := 0; i < len(list); i += 2 {
		st.Calls = append(st.Calls, script.Call{Tool: list[i], Input: []byte(list[i+1])})
	}
	return st
}

// journey is what the killed runs do: they look, several at once, do what must not be done
// twice, and have another run do so, too. Each has deeds of its own.
func journey(number int) []script.Entry {
	e := script.Entry{Goal: "journey", Final: script.Step{Say: "Seen ${steps[0].calls[0].output.seen} at ${steps[0].calls[0].output.second} s; done."}}
	for i := range 6 {
		e.Steps = append(e.Steps,
			script.Step{Say: fmt.Sprintf("Part %d.", i), Calls: calls(
				"agent.look_test", fmt.Sprintf(`{"at":%d,"says":"door %d","size":100}`, 3*i, i), "agent.look_test", fmt.Sprintf(`{"at":%d}`, 3*i+1), "agent.look_test", fmt.Sprintf(`{"at":%d}`, 3*i+2),
			).Calls},
			calls("agent.deed_test", fmt.Sprintf(`{"number":%d,"pause":3}`, 10*number+i+1), "agent.look_test", fmt.Sprintf(`{"at":%d}`, 100+i)),
		)
	}
	e.Steps = append(e.Steps, calls("agent.delegate", `{"goal":"side trip"}`))
	return []script.Entry{e, {Goal: "side trip", Steps: []script.Step{
		calls("agent.look_test", `{"at":200}`, "agent.look_test", `{"at":201}`), calls("agent.deed_test", fmt.Sprintf(`{"number":%d,"pause":3}`, 10*number+7)), calls("agent.look_test", `{"at":202}`),
	}, Final: script.Step{Say: "back"}}}
}

// lands is what the journey says last.
var lands = "Seen door 0" + strings.Repeat("x", 100) + " at 0 s; done."

// goOnWith works a run until it ends, and says when it begins.
func goOnWith(place, dir, id string) error {
	ctx := context.Background()
	number, err := strconv.Atoi(strings.TrimPrefix(id, "journey-"))
	if err != nil {
		return err
	}
	s, err := script.New(journey(number)...)
	if err != nil {
		return err
	}
	h, err := build(ctx, place, dir, played(s))
	if err != nil {
		return err
	}
	x, err := h.Open(ctx, cutroom.Agent, id)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	n, err := x.PendingOperations(ctx)
	if err != nil {
		return err
	}
	info, err := x.Info(ctx)
	if err != nil {
		return err
	}
	var o agent.Outcome
	switch {
	case info.State == run.Completed:
		return nil
	case n > 0:
		o, err = x.Resume(ctx)
	default:
		o, err = x.Prompt(ctx, "")
	}
	if err != nil {
		return err
	}
	if o.Error != nil {
		fmt.Fprintln(os.Stderr, o.Error.Message, o.Usage)
	}
	fmt.Printf("ended %s %s\n", o.State, o.Text)
	return x.Close(ctx)
}

// worker starts a process that works a run, and returns once it began.
func worker(t *testing.T, place, dir, id string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), asWorker+"="+place, itsDir+"="+dir, itsRun+"="+id)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	r := bufio.NewReader(out)
	if l, err := r.ReadString('\n'); err != nil || l != "ready\n" {
		t.Fatalf("%q, %v", l, err)
	}
	return c, r
}

// TestKilled: whenever its process is killed, a run goes on in another one: what must not
// be done twice was done at most once, its events have no gap and no repeat, and it ends as
// it would have.
func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		kills, dir := 8, t.TempDir()
		if testenv.Soak() {
			kills = 100 // on each kind of database
		}
		h, err := build(t.Context(), place, dir, scripted(t, journey(0)...))
		if err != nil {
			t.Fatal(err)
		}
		defer h.db.Close()
		most := h.travel(t, place, 0, func() time.Duration { return 0 }, func() { t.Error("it was killed") }) // undisturbed: how long it takes
		for n := 1; kills > 0; n++ {
			h.travel(t, place, n, func() time.Duration {
				if kills == 0 {
					return 0
				}
				return 1 + time.Duration(rand.Int64N(int64(most)))
			}, func() { kills-- })
		}
	})
}

// travel makes a journey in processes that are killed after the times that next says, 0 for
// not at all; killed is told of each that died of it. It returns how long the last one took.
func (h *house) travel(t *testing.T, place string, number int, next func() time.Duration, killed func()) (took time.Duration) {
	t.Helper()
	s := delegating("make the journey")
	s.RunID = fmt.Sprintf("journey-%d", number)
	x, err := h.CreateRun(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for n, ended := 1, false; !ended; n++ {
		c, out := worker(t, place, h.dir, x.ID())
		began, after := time.Now(), next()
		if after > 0 {
			clock := time.AfterFunc(after, func() { _ = c.Process.Kill() })
			defer clock.Stop()
		}
		text, _ := io.ReadAll(out)
		err := c.Wait()
		took = time.Since(began)
		if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			killed()
		}
		if said := string(text); err == nil && said != "" && said != "ended completed "+lands+"\n" {
			t.Fatalf("process %d: %q", n, said)
		}
		info, err2 := x.Info(t.Context())
		if err2 != nil {
			t.Fatal(err2)
		}
		if ended = info.State == run.Completed; !ended && after == 0 {
			t.Fatalf("process %d did not end it: %+v, %q, %v", n, info, text, err)
		}
	}
	h.survived(t, x.ID(), number)
	return took
}

// survived checks what is left of a journey.
func (h *house) survived(t *testing.T, id string, number int) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.dir, "deeds"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	done := map[string]int{}
	for l := range strings.Lines(string(raw)) {
		if deed, err := strconv.Atoi(strings.TrimSpace(l)); err != nil || deed/10 != number {
			continue
		}
		if done[l]++; done[l] > 1 {
			t.Errorf("deed %q was done %d times", l, done[l])
		}
	}
	list, kids := h.events(t, id), h.kids(t, id)
	unknown := once(t, list, 12*2+6+1, 14)
	if len(kids) != 1 {
		t.Fatalf("%d children", len(kids))
	}
	unknown += once(t, h.events(t, kids[0].ID), 4, 4)
	if got := of[run.Done](list); len(got) != 1 || got[0].Text != lands {
		t.Errorf("%+v", got)
	}
	if len(of[run.Compacted](list)) < 2 {
		t.Error("nothing was summarised")
	}
	if len(done)+unknown < 7 {
		t.Errorf("%d deeds, %d of unknown outcome", len(done), unknown)
	}
	if _, ok := list[len(list)-1].(run.Done); !ok {
		t.Errorf("the last event is %T", list[len(list)-1])
	}
}

// once checks that every call of a run began and ended once, and every turn was answered
// once. It returns how many calls have an unknown outcome.
func once(t *testing.T, list []run.Body, calls, turns int) (unknown int) {
	t.Helper()
	type place struct{ turn, index int }
	starts, ends, answers := map[place]int{}, map[place]int{}, map[int]int{}
	for _, b := range list {
		switch b := b.(type) {
		case run.Start:
			starts[place{b.Turn, b.Index}]++
		case run.End:
			p := place{b.Turn, b.Index}
			if ends[p]++; starts[p] == 0 {
				t.Errorf("call %v ended before it began", p)
			}
			if b.Recovery == run.Unknown {
				unknown++
			}
		case run.Text:
			if b.Answer != nil {
				answers[b.Turn]++
			}
		}
	}
	if len(starts) != calls || len(ends) != calls || len(answers) != turns {
		t.Errorf("%d calls began, %d ended, of %d; %d turns of %d", len(starts), len(ends), calls, len(answers), turns)
	}
	for p, n := range starts {
		if n != 1 || ends[p] != 1 {
			t.Errorf("call %v began %d times and ended %d times", p, n, ends[p])
		}
	}
	for turn, n := range answers {
		if n != 1 {
			t.Errorf("turn %d was answered %d times", turn, n)
		}
	}
	return unknown
}
