//go:build unix

package host

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file to the owner of the one that it replaces, so that a call
// by root leaves a user's file theirs. Anyone else owns both.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
