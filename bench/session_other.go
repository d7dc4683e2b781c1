//go:build !unix

package main

import (
	"os/exec"
	"time"
)

// apart does nothing: there are no sessions here.
func apart(*exec.Cmd) {}

// started stands in for processor time, which is not known here.
var started = time.Now()

func processorTime() time.Duration { return time.Since(started) }
