//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"cutroom"
	"cutroom/internal/sandbox/child"
)

// starter starts children from one thread that never ends: the parent-death signal
// goes out when the thread that started a child ends, and the Go runtime ends
// threads as it likes.
type starter struct {
	once sync.Once
	jobs chan startJob
}

type startJob struct {
	attr *os.ProcAttr
	args []string
	done chan<- started
}

type started struct {
	proc *os.Process
	err  error
}

func (s *starter) start(args []string, attr *os.ProcAttr) (*os.Process, error) {
	s.once.Do(func() {
		s.jobs = make(chan startJob)
		go func() {
			runtime.LockOSThread() // never unlocked
			for j := range s.jobs {
				p, err := os.StartProcess("/proc/self/exe", j.args, j.attr)
				j.done <- started{p, err}
			}
		}()
	})
	done := make(chan started, 1)
	s.jobs <- startJob{attr, args, done}
	r := <-done
	return r.proc, r.err
}

// spawn is what one child gets.
type spawn struct {
	files []*os.File // descriptors 0 and up, handed on to the program
	exe   *os.File   // nil: lock in and exit, to see whether it works
	rules *os.File
	dir   string
	order child.Order // descriptors are filled in here
	// readAll keeps the one capability to read files of other users, for root.
	readAll bool
	// between starts the helper by way of a parent of its own; the process is the
	// parent. For the self-test.
	between bool
}

// spaces is a set of namespaces to start a child in.
type spaces struct {
	flags  uintptr
	layers []Layer
}

const sharedSpaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC

// choices lists the namespaces worth trying, best first. The first start is the
// probe: what the kernel refuses once is not tried again.
func (s *Sandbox) choices(readAll bool) []spaces {
	none := spaces{}
	if s.opts.NoNamespaces {
		return []spaces{none}
	}
	all := spaces{syscall.CLONE_NEWUSER | sharedSpaces, []Layer{UserNS, NetNS, PidNS, IpcNS}}
	byRoot := spaces{sharedSpaces, []Layer{NetNS, PidNS, IpcNS}}
	switch {
	case os.Geteuid() != 0:
		return []spaces{all, none}
	case readAll: // a user namespace would take the capability away
		return []spaces{byRoot, none}
	}
	return []spaces{all, byRoot, none}
}

// child is a started helper that has become its program.
type running struct {
	proc   *os.Process
	layers []Layer
}

// spawn starts a child in the best namespaces there are, and returns when the program
// has taken the helper's place.
func (s *Sandbox) spawn(sp spawn) (*running, error) {
	var refused error
	for _, c := range s.choices(sp.readAll) {
		if s.isRefused(c.flags) {
			continue
		}
		if err := s.enough(c.layers); err != nil {
			return nil, err
		}
		proc, err := s.startIn(sp, c)
		if err == nil {
			return &running{proc, append([]Layer{Landlock, Seccomp, Rlimits}, c.layers...)}, nil
		}
		if c.flags == 0 || !noNamespace(err) {
			return nil, err
		}
		refused = err
		s.refuseSpaces(c.flags)
	}
	return nil, fmt.Errorf("start: %w", refused)
}

// noNamespace reports whether err is how a kernel, a container or its security module
// says that namespaces are not to be had.
func noNamespace(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSPC, syscall.EUSERS, syscall.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// enough answers missing_dependency when a required layer is not among those given.
func (s *Sandbox) enough(namespaces []Layer) error {
	var missing []string
	for _, want := range s.opts.Require {
		switch want {
		case Landlock, Seccomp, Rlimits:
			continue // the floor; a child without it does not start
		}
		if !hasLayer(namespaces, want) {
			missing = append(missing, string(want)+" namespace: not permitted here")
		}
	}
	if len(missing) > 0 {
		return missingLayers(missing)
	}
	return nil
}

func hasLayer(list []Layer, l Layer) bool {
	for _, x := range list {
		if x == l {
			return true
		}
	}
	return false
}

func missingLayers(reasons []string) error {
	return cutroom.Errorf(cutroom.MissingDependency, "the sandbox lacks a layer that is required (%s); nothing was run", strings.Join(reasons, "; ")).
		WithHint("run `cutroom doctor`")
}

// startIn starts the helper and waits until it has become the program.
func (s *Sandbox) startIn(sp spawn, c spaces) (*os.Process, error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	defer orderW.Close() // open until then: the helper watches it for our death
	statusR, statusW, err := os.Pipe()
	if err != nil {
		orderR.Close()
		return nil, fmt.Errorf("start: %w", err)
	}
	defer statusR.Close()

	files := append([]*os.File{}, sp.files...)
	hand := func(f *os.File) int {
		files = append(files, f)
		return len(files) - 1
	}
	o := sp.order
	o.Keep, o.Exe = len(sp.files), -1
	if sp.exe != nil {
		o.Exe = hand(sp.exe)
	}
	o.Ruleset, o.Status = hand(sp.rules), hand(statusW)
	o.PidMark, o.Filters = pidMark, filters(o.Exe)
	if sp.readAll {
		o.KeepCaps = 1 << unix.CAP_DAC_READ_SEARCH
	}
	args := []string{child.HelperName, strconv.Itoa(hand(orderR))}
	if sp.between {
		args = []string{child.AttemptName, "parent", args[1]}
	}
	proc, err := s.starter.start(args, &os.ProcAttr{Dir: sp.dir, Env: []string{}, Files: files, Sys: attributes(c, sp.readAll)})
	orderR.Close()
	statusW.Close()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	_, werr := orderW.Write(o.Encode())
	status, rerr := io.ReadAll(io.LimitReader(statusR, 256))
	if werr == nil && rerr == nil && len(status) == 0 {
		return proc, nil
	}
	_ = proc.Kill()
	state, _ := proc.Wait()
	return nil, helperFault(string(status), state, errors.Join(werr, rerr))
}

func attributes(c spaces, readAll bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: c.flags, Pdeathsig: syscall.SIGKILL, Setsid: true}
	if c.flags&syscall.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		// With it the helper empties the bounding set, too.
		a.AmbientCaps = []uintptr{unix.CAP_SETPCAP}
	}
	return a
}

// helperFault says what the helper could not do: "step: errno".
func helperFault(status string, state *os.ProcessState, cause error) error {
	step, number, ok := strings.Cut(status, ": ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return fmt.Errorf("sandbox helper ended early (%v): %w", state, errors.Join(cause, errors.New("no status")))
	}
	errno := syscall.Errno(n)
	if step == "landlock" || step == "seccomp" {
		return missingLayers([]string{step + ": " + errno.Error()})
	}
	return fmt.Errorf("sandbox helper: %s: %w", step, errno)
}
