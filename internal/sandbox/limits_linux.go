//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sandbox/child"
)

// maxThreads bounds the threads of a program where a user namespace counts them for
// it alone; elsewhere the user's other processes count too, so it is wider.
const maxThreads = 4096

// limits fills in what a command leaves open: from the options, then the defaults.
func (s *Sandbox) limits(l argv.Limits) argv.Limits {
	o := s.opts.Limits
	return argv.Limits{
		Wall: cmp.Or(l.Wall, o.Wall, 30*time.Minute),
		CPU:  cmp.Or(l.CPU, o.CPU, 2*time.Hour),
		// glibc gives every thread an arena of its own, so more processors need more
		// addresses.
		Memory:    cmp.Or(l.Memory, o.Memory, 4<<30+int64(runtime.NumCPU())*128<<20),
		FileSize:  cmp.Or(l.FileSize, o.FileSize, 16<<30),
		Written:   cmp.Or(l.Written, o.Written, 32<<30),
		OpenFiles: cmp.Or(l.OpenFiles, o.OpenFiles, 1024),
		StdoutCap: cmp.Or(l.StdoutCap, o.StdoutCap, 16<<20),
	}
}

// rlimits are the limits as the kernel takes them.
func (r *run) rlimits() []child.Limit {
	l := r.limits
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	return []child.Limit{
		{Resource: unix.RLIMIT_CORE, Value: 0},
		{Resource: unix.RLIMIT_CPU, Value: max(seconds, 1)},
		{Resource: unix.RLIMIT_FSIZE, Value: uint64(min(l.FileSize, l.Written))},
		{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.OpenFiles)},
		{Resource: unix.RLIMIT_MSGQUEUE, Value: 0},
		{Resource: unix.RLIMIT_NICE, Value: 0},
		{Resource: unix.RLIMIT_RTPRIO, Value: 0},
		{Resource: unix.RLIMIT_SIGPENDING, Value: 1024},
		{Resource: unix.RLIMIT_MEMLOCK, Value: 64 << 10},
		{Resource: unix.RLIMIT_NPROC, Value: maxThreads},
		{Resource: unix.RLIMIT_AS, Value: uint64(l.Memory)},
	}
}
