//go:build unix

package testenv

import (
	"os"
	"syscall"
	"testing"
)

// lock waits for the advisory lock on path, which the kernel drops when its holder
// dies, and returns how to give it back.
func lock(t testing.TB, path string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}
