//go:build linux && (amd64 || arm64)

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxFiles bounds the files and folders in a private folder.
const maxFiles = 100_000

// written returns how many bytes lie in the folder, and how many files.
func written(dir string) (bytes int64, files int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		files++
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			bytes += size(st)
		}
		if files > maxFiles {
			return fs.SkipAll
		}
		return nil
	})
	return bytes, files
}

// size is what a file takes: its length or its blocks, whichever is more, so that
// neither a sparse file nor preallocation goes uncounted.
func size(st fs.FileInfo) int64 {
	n := st.Size()
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		n = max(n, s.Blocks*512)
	}
	return n
}

// unlinked returns the bytes of files that process pid holds open although they have
// no name any more.
func unlinked(pid int) int64 {
	folder := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0
	}
	var bytes int64
	for _, e := range entries {
		link := filepath.Join(folder, e.Name())
		if to, err := os.Readlink(link); err != nil || !strings.HasSuffix(to, " (deleted)") {
			continue
		}
		if st, err := os.Stat(link); err == nil && st.Mode().IsRegular() {
			bytes += size(st)
		}
	}
	return bytes
}
