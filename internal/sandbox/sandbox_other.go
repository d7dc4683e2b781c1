//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"runtime"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Sandbox runs nothing on this system: what would hold a program in (Seatbelt on
// macOS, AppContainer and job objects on Windows) is not proven here, and nothing runs
// outside a sandbox.
type Sandbox struct{}

// New always works; running does not.
func New(Options) (*Sandbox, error) { return &Sandbox{}, nil }

func unproven() error {
	return cutroom.Errorf(cutroom.MissingDependency, "the sandbox is unproven on %s/%s, so no program is run", runtime.GOOS, runtime.GOARCH).
		WithHint("use Linux with glibc on x86-64 or arm64")
}

// Run answers missing_dependency.
func (s *Sandbox) Run(context.Context, argv.Command, Grant) (argv.Result, error) {
	return argv.Result{}, unproven()
}

// Layers answers missing_dependency.
func (s *Sandbox) Layers() ([]Layer, error) { return nil, unproven() }

// SelfTest answers missing_dependency.
func (s *Sandbox) SelfTest(context.Context) ([]Attempt, error) { return nil, unproven() }

// PinOptions are what PinProgram is told besides the program.
type PinOptions struct {
	Data map[string]string
	Also []string
}

// PinProgram answers missing_dependency.
func PinProgram(string, string, PinOptions) (Pin, error) { return Pin{}, unproven() }

// Find finds nothing, as nothing could be run.
func Find(string) []string { return nil }
