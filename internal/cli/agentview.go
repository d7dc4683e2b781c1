package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"cutroom"
	"cutroom/internal/agent"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// runView shows a run: lines for what happened, and on a terminal below them a line that
// says what goes on. Under --json every event is a line of JSON on standard output.
type runView struct {
	a     *App
	lines runLines

	mu      sync.Mutex
	out     io.Writer // nil: say nothing
	live    bool      // there is a line that changes
	width   int
	drawn   bool // it is on the screen
	busy    string
	started time.Time
	stop    chan struct{}
	stopped chan struct{}
}

func (a *App) newRunView() *runView {
	v := &runView{a: a, out: a.Stderr, stop: make(chan struct{}), stopped: make(chan struct{})}
	if a.flags.quiet || a.flags.json {
		v.out = nil
	}
	if f, ok := a.Stderr.(*os.File); ok && v.out != nil && drawable(f) && a.getenv("TERM") != "dumb" {
		v.live = true
		v.width, _, _ = term.GetSize(int(f.Fd()))
	}
	go v.tick()
	return v
}

// viewPace is how often the line below is drawn anew by itself: the time goes on.
const viewPace = 500 * time.Millisecond

func (v *runView) tick() {
	defer close(v.stopped)
	if !v.live {
		return
	}
	t := time.NewTicker(viewPace)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			v.mu.Lock()
			v.draw()
			v.mu.Unlock()
		case <-v.stop:
			return
		}
	}
}

// again is how soon a run is looked at again that is not yet worked.
const again = 20 * time.Millisecond

// follow shows the events of a run from a seq on, until it was worked. The events of a run
// that stood still end at once: it may not have been taken yet.
func (v *runView) follow(ctx context.Context, x *agent.Run, from int64, worked <-chan struct{}) error {
	for last := false; ; {
		for e, err := range x.Events(ctx, from) {
			if err != nil {
				return err
			}
			if err := v.event(e); err != nil {
				return err
			}
			from = e.Seq + 1
		}
		if last {
			return nil
		}
		select {
		case <-worked:
			last = true
		case <-time.After(again):
		}
	}
}

func (v *runView) event(e run.Event) error {
	if v.a.flags.json {
		return v.a.printEvent(e)
	}
	b, err := e.Body()
	if err != nil {
		return err
	}
	lines := v.lines.of(b)
	if _, begins := b.(run.Started); begins {
		lines = append([]string{row("id", "%s", e.RunID)}, lines...)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch b := b.(type) {
	case run.Started:
		v.started, v.busy = e.At, "the model thinks"
	case run.Start:
		v.busy = b.Tool
	case run.End, run.Rejected:
		v.busy = "the model thinks"
	case run.Done, run.Broken:
		v.busy = ""
	}
	v.print(lines)
	return nil
}

// progress is told what calls do.
func (v *runView) progress(_ string, p cutroom.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.live || p.Stage == "" {
		return
	}
	v.busy = p.Tool + ": " + p.Stage
	if p.Total > 0 {
		v.busy += fmt.Sprintf(" %d%%", 100*min(p.Done, p.Total)/p.Total)
	}
	v.draw()
}

// print writes lines above the one that changes.
func (v *runView) print(lines []string) {
	if v.out == nil || len(lines) == 0 {
		return
	}
	v.wipe()
	for _, l := range lines {
		fmt.Fprintln(v.out, v.a.Redact.Text(clean(l)))
	}
	v.draw()
}

func (v *runView) wipe() {
	if v.drawn {
		fmt.Fprint(v.out, "\r\x1b[K")
		v.drawn = false
	}
}

func (v *runView) draw() {
	if !v.live || v.out == nil || v.busy == "" {
		return
	}
	text := strings.Join(v.lines.spent.words(v.lines.budget, time.Since(v.started)), ", ") + "  " + clean(v.busy)
	if r := []rune(text); len(r) > v.width-1 {
		text = string(r[:max(v.width-2, 0)]) + "…"
	}
	fmt.Fprint(v.out, "\r\x1b[K"+v.a.Redact.Text(text))
	v.drawn = true
}

// end takes the line off the screen.
func (v *runView) end() {
	close(v.stop)
	<-v.stopped
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wipe()
	v.out, v.live = nil, false
}

// printEvent writes an event as one line of JSON.
func (a *App) printEvent(e run.Event) error {
	doc, err := tool.Encode(e)
	if err != nil {
		return err
	}
	return a.printRaw(doc)
}
