//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"cutroom"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// settled is how much older than its hashing a change must be for an identity to be
// believed: file systems count time in ticks, so that a change right after the
// hashing could leave the identity as it was.
const settled = 2 * time.Second

// verifier remembers which files of the pins this process has found to be what was
// recorded.
type verifier struct {
	mu   sync.Mutex
	good map[string]Identity // by path; the content at this identity is the pinned one
}

// check makes sure that the file at o.Path has the pinned content. It reads the file
// only when its identity is not one that was read before.
func (v *verifier) check(program string, o Object) error {
	var st syscall.Stat_t
	if err := syscall.Stat(o.Path, &st); err != nil {
		return mismatch(program, o.Path).WithCause(err)
	}
	now := identityOfStat(&st)
	v.mu.Lock()
	known, ok := v.good[o.Path]
	v.mu.Unlock()
	if ok && known == now {
		return nil
	}
	if !ok && now == o.Identity && o.Hashed-now.Ctime >= int64(settled) {
		v.remember(o.Path, now)
		return nil
	}
	f, err := os.Open(o.Path)
	if err != nil {
		return mismatch(program, o.Path).WithCause(err)
	}
	defer f.Close()
	before, err := identityOf(f)
	if err != nil {
		return err
	}
	digest, err := hashFile(f)
	if err != nil {
		return err
	}
	after, err := identityOf(f)
	if err != nil {
		return err
	}
	if digest != o.SHA256 || before != after {
		return mismatch(program, o.Path)
	}
	v.remember(o.Path, after)
	return nil
}

func (v *verifier) remember(path string, id Identity) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.good == nil {
		v.good = map[string]Identity{}
	}
	v.good[path] = id
}

// identity returns what check has remembered.
func (v *verifier) identity(path string) Identity {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.good[path]
}

func mismatch(program, path string) *cutroom.Error {
	return cutroom.Errorf(cutroom.MissingDependency, "%s is not the program that was set up: it, or a library of it, has changed", program).
		WithCause(fmt.Errorf("%s is not what was pinned", path)).WithHint("run `cutroom setup`, which records it as it is now")
}
