//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sandbox/child"
)

// Sandbox runs the programs of one toolchain. It is for the whole process and may be
// used by many goroutines at once.
type Sandbox struct {
	opts     Options
	starter  starter
	verifier verifier
	programs map[string]*program

	mu      sync.Mutex
	refused map[uintptr]bool // namespaces that the kernel does not give
	debugMu sync.Mutex
}

// program is a pinned program with its table.
type program struct {
	pin   Pin
	table argv.Table

	rulesOnce sync.Once
	ruleList  []landlock.Rule
}

// New makes a sandbox. It starts nothing; what the kernel allows is found out by the
// first run. A table for a program that the product knows is refused.
func New(o Options) (*Sandbox, error) {
	s := &Sandbox{opts: o, programs: map[string]*program{}, refused: map[uintptr]bool{}}
	tables := argv.Programs()
	for _, t := range o.Tables {
		if _, known := tables[t.Program]; known || t.Self {
			return nil, cutroom.Errorf(cutroom.Invalid, "program %q is one of the product's own", t.Program)
		}
		tables[t.Program] = t
	}
	for _, want := range o.Require {
		if !slices.Contains([]Layer{Landlock, Seccomp, Rlimits, UserNS, NetNS, PidNS, IpcNS}, want) {
			return nil, cutroom.Errorf(cutroom.Invalid, "sandbox.require: no layer is called %q", want)
		}
	}
	if o.Toolchain == nil {
		return s, nil
	}
	for name, pin := range o.Toolchain.Pins {
		t, ok := tables[name]
		if !ok || t.Self != (pin.Path == "") {
			return nil, cutroom.Errorf(cutroom.Invalid, "program %q has a pin but no table of arguments", name)
		}
		s.programs[name] = &program{pin: pin, table: t}
	}
	return s, nil
}

// Layers starts a child that only locks itself in, and returns the layers that it
// got. The error says what is missing.
func (s *Sandbox) Layers() ([]Layer, error) {
	if err := kernelFloor(); err != nil {
		return nil, err
	}
	rules, err := emptyRuleset()
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	defer null.Close()
	r, err := s.spawn(spawn{files: []*os.File{null, null, null}, rules: rules, dir: "/", order: child.Order{}})
	if err != nil {
		return nil, err
	}
	if _, err := r.proc.Wait(); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	return r.layers, nil
}

func emptyRuleset() (*os.File, error) {
	fd, _, err := landlock.V7.BestEffort().NewRulesetFD()
	if err != nil || fd < 0 {
		return nil, missingLayers([]string{"landlock: the kernel has none"})
	}
	return os.NewFile(uintptr(fd), "landlock ruleset"), nil
}

// kernelFloor asks the kernel for the layers that are always needed.
func kernelFloor() error {
	var reasons []string
	if landlockABI() < 1 {
		reasons = append(reasons, "landlock: not in this kernel, or not enabled at boot (lsm=landlock)")
	}
	if _, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err != nil {
		reasons = append(reasons, "seccomp: not in this kernel")
	}
	if len(reasons) > 0 {
		return missingLayers(reasons)
	}
	return nil
}

// landlockABI returns the version of Landlock in the kernel, 0 for none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

func (s *Sandbox) isRefused(flags uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused[flags]
}

func (s *Sandbox) refuseSpaces(flags uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[flags] = true
}

// verified returns the program with its files checked against the pin, and the
// program itself opened.
func (s *Sandbox) verified(name string) (*program, *os.File, error) {
	p, ok := s.programs[name]
	if !ok {
		return nil, nil, cutroom.Errorf(cutroom.MissingDependency, "%s is not set up on this machine", name).WithHint("install %s, then run `cutroom setup`", name)
	}
	for _, o := range p.pin.Objects {
		if err := s.verifier.check(name, o); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range p.pin.Data {
		if err := s.verifier.check(name, o); err != nil {
			return nil, nil, err
		}
	}
	if p.table.Self {
		exe, err := os.Open("/proc/self/exe")
		return p, exe, err
	}
	exe, err := os.Open(p.pin.Path)
	if err != nil {
		return nil, nil, mismatch(name, p.pin.Path).WithCause(err)
	}
	// What is executed is this descriptor, so it is this that has to be the one.
	if id, err := identityOf(exe); err != nil || id != s.verifier.identity(p.pin.Path) {
		exe.Close()
		return nil, nil, mismatch(name, p.pin.Path).WithCause(err)
	}
	return p, exe, nil
}
