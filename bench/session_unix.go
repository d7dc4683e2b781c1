//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a process a session of its own. The sandbox does so for its programs,
// and a kernel that shares the processor by session would otherwise favour them on
// a busy machine.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
