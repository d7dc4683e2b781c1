package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"cutroom"
)

// progress shows how far a call is: a bar on a terminal, a line per stage
// elsewhere, nothing under --quiet.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: say nothing
	bars  *mpb.Progress
	bar   *mpb.Bar
	last  string // what was shown last
	label string
	total int64
	start time.Time
}

func (a *App) newProgress() *progress {
	p := &progress{out: a.Stderr}
	if a.flags.quiet {
		p.out = nil
		return p
	}
	if f, ok := a.Stderr.(*os.File); ok && drawable(f) && a.getenv("TERM") != "dumb" {
		p.bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(32), mpb.WithRefreshRate(120*time.Millisecond))
	}
	return p
}

// drawable reports whether f is a terminal on which a bar has room.
func drawable(f *os.File) bool {
	if !term.IsTerminal(int(f.Fd())) {
		return false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && width >= 40
}

// update takes one step; engine calls it from any goroutine.
func (p *progress) update(s cutroom.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || s.Stage == "" && s.Total == 0 {
		return
	}
	label := clean(s.Tool)
	if s.Stage != "" {
		label += ": " + clean(s.Stage)
	}
	if p.bars != nil {
		p.draw(label, s)
		return
	}
	if label != p.last {
		p.last = label
		fmt.Fprintln(p.out, label)
	}
}

// draw moves the bar of the present stage, or starts the next one.
func (p *progress) draw(label string, s cutroom.Progress) {
	if p.bar == nil || label != p.label || s.Total != p.total {
		p.drop()
		p.label, p.total, p.start = label, s.Total, time.Now()
		p.bar = p.newBar(label, s.Total)
	}
	if s.Total > 0 {
		p.bar.SetCurrent(min(s.Done, s.Total))
	}
}

func (p *progress) newBar(label string, total int64) *mpb.Bar {
	name := mpb.PrependDecorators(decor.Name(label+" ", decor.WCSyncWidthR))
	if total > 0 {
		return p.bars.New(total, mpb.BarStyle(), name, mpb.BarRemoveOnComplete(),
			mpb.AppendDecorators(decor.Percentage(), decor.Elapsed(decor.ET_STYLE_MMSS, decor.WC{W: 8}), decor.Name(" left "), decor.AverageETA(decor.ET_STYLE_MMSS)))
	}
	return p.bars.New(0, mpb.SpinnerStyle(), name, mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_MMSS)))
}

// drop ends the present bar and takes it off the screen.
func (p *progress) drop() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bar = nil
	}
}

// finish clears what is on the screen.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
	if p.bars != nil {
		p.bars.Wait()
	}
	p.out = nil
}
