//go:build unix && !linux

package stage

import (
	"os"
)

func (d *dir) walk(p string, flags int) (int, error) { return d.steps(p, flags) }

func adviseSequential(*os.File) {}

func startWriting(*os.File) {}

func copyRange(*os.File, *os.File, int64, int64) (int64, error) { return 0, errUnsupported }

// madeUp is for Linux, where regular files may not be stored.
func madeUp(*os.File) bool { return false }
