//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// apart gives a process a session of its own. The sandbox does so for its programs,
// and a kernel that shares the processor by session would otherwise favour them on
// a busy machine.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// processorTime is what this process has used so far, all its threads together.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
