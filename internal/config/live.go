package config

import (
	"bytes"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Settled is what the two config files say together. Own is the workspace's part that is
// kept apart, as [Load] returns it. Change counts how often they were read anew.
type Settled struct {
	Config, Own Config
	Change      int64
}

// Live is the config of a process that lasts. A file that changed is read when the
// config is next asked for, so that nothing has to be restarted; one that is wrong is
// told of once, and what was right before goes on to hold.
type Live struct {
	files [2]watched // the user's file, the workspace's
	warn  func(error)
	now   func() time.Time

	mu     sync.Mutex
	last   Settled
	warned string // of what is wrong now
}

// LiveOptions are the parts of a [Live].
type LiveOptions struct {
	// User and Workspace read the two files; one that does not exist has a path and no text.
	User, Workspace func() (File, error)
	// Warn is told why a changed file is not followed, once for each reason; it must not
	// ask for the config. nil tells nobody.
	Warn func(error)
	Now  func() time.Time // nil is the clock
}

// watched is one file and how it looked when it was last read.
type watched struct {
	read func() (File, error)
	seen File
	look look
	bad  bool // it could not be read
}

// look is what a file shows without being read.
type look struct {
	info fs.FileInfo // nil: there is none
	at   time.Time   // when it was looked at
}

// NewLive reads both files, which have to be right.
func NewLive(o LiveOptions) (*Live, error) {
	l := &Live{files: [2]watched{{read: o.User}, {read: o.Workspace}}, warn: o.Warn, now: o.Now}
	if l.now == nil {
		l.now = time.Now
	}
	for i := range l.files {
		w := &l.files[i]
		at := l.now()
		f, err := w.read()
		if err != nil {
			return nil, err
		}
		w.seen, w.look = f, lookAt(f.Path, at)
	}
	var err error
	l.last.Config, l.last.Own, err = Load(l.files[0].seen, l.files[1].seen)
	return l, err
}

// Get returns the config as the files say it now.
func (l *Live) Get() Settled {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := false
	for i := range l.files {
		changed = l.refresh(&l.files[i]) || changed
	}
	if !changed {
		return l.last
	}
	for _, w := range l.files {
		if w.bad {
			return l.last // the warning was given
		}
	}
	c, own, err := Load(l.files[0].seen, l.files[1].seen)
	if err != nil {
		l.tell(err)
		return l.last
	}
	l.last, l.warned = Settled{c, own, l.last.Change + 1}, ""
	return l.last
}

func (l *Live) tell(err error) {
	text := err.Error()
	if text != l.warned && l.warn != nil {
		l.warn(err)
	}
	l.warned = text
}

// settles is how long after a change a file may change again without showing it: the
// time that file systems write down moves in steps.
const settles = 2 * time.Second

// refresh reads a file that looks different, or that changed so lately that it need not,
// and says whether its text did change.
func (l *Live) refresh(w *watched) bool {
	now := lookAt(w.seen.Path, l.now())
	if now.same(w.look) && w.look.isOld() {
		return false
	}
	f, err := w.read()
	if err != nil {
		l.tell(err)
		w.look, w.bad = look{}, true // tried again
		return false
	}
	if now.info != nil && !now.isOld() && blank(f.Text) && !blank(w.seen.Text) {
		return false // whoever writes a file in place empties it first
	}
	again := w.bad
	w.look, w.bad = now, false
	if bytes.Equal(f.Text, w.seen.Text) {
		return again
	}
	w.seen = f
	return true
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

func lookAt(path string, at time.Time) look {
	info, err := os.Stat(path) // where a link of the user leads
	if err != nil {
		info = nil
	}
	return look{info, at}
}

func (a look) same(b look) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil && !b.at.IsZero()
	}
	return os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// isOld says that the file had been left alone for a while when it was looked at.
func (a look) isOld() bool {
	return a.info == nil || a.at.Sub(a.info.ModTime()) > settles
}
