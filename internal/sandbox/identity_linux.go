//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"syscall"
)

// identityOf reads the identity of an open file.
func identityOf(f *os.File) (Identity, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return Identity{}, fmt.Errorf("stat %s: %w", f.Name(), err)
	}
	return identityOfStat(&st), nil
}

func identityOfStat(st *syscall.Stat_t) Identity {
	return Identity{
		Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
	}
}
