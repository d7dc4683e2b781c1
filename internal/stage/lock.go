package stage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Lock is the right to build one result. The kernel drops it with the process.
type Lock struct {
	stage *Stage
	name  Name
	held  *held
}

// Acquire waits until no other call, in this process or another, holds the lock
// of name's invocation, or until ctx ends. The caller then asks [Stage.Lookup]
// again: what it waited for may be there.
func (s *Stage) Acquire(ctx context.Context, name Name) (*Lock, error) {
	if err := name.check(); err != nil {
		return nil, err
	}
	root, err := s.madeRoot()
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	h, err := hold(ctx, root, name.Invocation.Short(), true)
	if err != nil {
		return nil, s.fault("lock", lockFolder, err)
	}
	return &Lock{stage: s, name: name, held: h}, nil
}

// Name returns what the lock is for.
func (l *Lock) Name() Name { return l.name }

// Release gives the lock back. It may be called twice.
func (l *Lock) Release() { l.held.release() }

// held is one locked file in .lock. The file goes away with the lock, so a holder
// checks that the name still means its file: a lock on an unlinked file is none.
type held struct {
	folder *dir
	name   string
	f      *os.File
	id     Identity
	once   sync.Once
}

// The waits between two tries for a lock.
const (
	firstWait = 500 * time.Microsecond
	lastWait  = 20 * time.Millisecond
)

// hold locks the file name in root's lock folder; errBusy when it is taken and
// wait is false.
func hold(ctx context.Context, root *dir, name string, wait bool) (*held, error) {
	folder, err := root.makeDirs(lockFolder)
	if err != nil {
		return nil, err
	}
	for pause := firstWait; ; pause = min(2*pause, lastWait) {
		h, err := tryHold(folder, name)
		if err == nil {
			return h, nil
		}
		if err == errBusy && wait {
			err = sleep(ctx, pause)
		}
		if err != nil {
			folder.close()
			return nil, err
		}
	}
}

// tryHold makes one try. Losing a race for the name counts as busy only when
// another holder has it.
func tryHold(folder *dir, name string) (*held, error) {
	for {
		f, err := folder.openLock(name)
		if err != nil {
			return nil, err
		}
		if err := tryLock(f); err != nil {
			f.Close()
			return nil, err
		}
		id, err := IdentityOf(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		if folder.same(name, id) {
			return &held{folder: folder, name: name, f: f, id: id}, nil
		}
		f.Close()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// valid reports whether the lock still is ours: nobody removed or replaced it.
func (h *held) valid() bool { return h.folder.same(h.name, h.id) }

func (h *held) release() {
	h.once.Do(func() {
		if h.valid() {
			_ = h.folder.unlink(h.name)
		}
		_ = h.f.Close()
		_ = h.folder.close()
	})
}

// tidyLocks removes lock files that a crash left: empty, and held by nobody.
func tidyLocks(root *dir) {
	folder, err := root.openDir(lockFolder)
	if err != nil {
		return
	}
	defer folder.close()
	names, err := folder.names()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, name := range names {
		if st, err := folder.lstat(name); err != nil || !st.mode.IsRegular() || st.Size != 0 {
			continue
		}
		if h, err := hold(context.Background(), root, name, false); err == nil {
			h.release()
		}
	}
}

// Hold waits for the right to a name in a folder that every process asks for in this way,
// or until ctx ends. The kernel drops it with the process.
func Hold(ctx context.Context, folder, name string) (release func(), err error) {
	root, err := openRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.close()
	h, err := hold(ctx, root, name, true)
	if err != nil {
		return nil, err
	}
	return h.release, nil
}
