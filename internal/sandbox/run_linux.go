//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sandbox/child"
)

// run is one run while it lasts.
type run struct {
	box    *Sandbox
	cmd    argv.Command
	limits argv.Limits
	prog   *program
	exe    *os.File
	dir    *os.File
	path   string     // of dir, without links
	inputs []*os.File // opened anew, for reading
	args   []string
	env    []string

	readers []*os.File // our ends of the pipes: standard output, then Pipe(1) and up
	stderr  *os.File
	theirs  []*os.File // the program's ends, closed once it runs
}

// Run runs cmd with what g grants and waits for all of it to end. The result holds
// what is known also when there is an error. Errors are of these codes: denied (the
// arguments, or a program that is not the pinned one), missing_dependency (a program
// or a layer is not there), limit, timeout, canceled, unavailable (the disk is full),
// tool_failed; an error of a Consumer is returned as it is.
func (s *Sandbox) Run(ctx context.Context, cmd argv.Command, g Grant) (argv.Result, error) {
	if err := ctx.Err(); err != nil {
		return argv.Result{}, cutroom.AsError(err)
	}
	r := &run{box: s, cmd: cmd, limits: s.limits(cmd.Limits)}
	defer r.close()
	if err := r.prepare(g); err != nil {
		return argv.Result{}, err
	}
	rules, err := r.ruleset()
	if err != nil {
		return argv.Result{}, err
	}
	defer rules.Close()
	files, err := r.pipes()
	if err != nil {
		return argv.Result{}, err
	}
	began := time.Now()
	kid, err := s.spawn(r.spawnOf(rules, files))
	if err != nil {
		return argv.Result{}, err
	}
	closeAll(r.theirs)
	return r.attend(ctx, kid, began)
}

// spawnOf is what the child of this run gets.
func (r *run) spawnOf(rules *os.File, files []*os.File) spawn {
	return spawn{
		files: files, exe: r.exe, rules: rules, dir: fdName(r.dir), readAll: r.needsReadAll(),
		order: child.Order{Limits: r.rlimits(), Args: append([]string{r.cmd.Program}, r.args...), Env: r.env},
	}
}

// prepare checks everything that can be checked before a process exists.
func (r *run) prepare(g Grant) error {
	var err error
	if r.prog, r.exe, err = r.box.verified(r.cmd.Program); err != nil {
		return err
	}
	data := r.prog.pin.dataPaths()
	grants := argv.GrantsOf(r.cmd, data)
	if r.args, err = argv.Render(r.cmd, r.prog.table, grants); err != nil {
		return err
	}
	if err := argv.Check(r.prog.table, r.args, grants); err != nil {
		return err
	}
	if err := argv.CheckEnv(r.prog.table, r.cmd.Env); err != nil {
		return err
	}
	if err := kernelFloor(); err != nil {
		return err
	}
	if err := r.openFolder(g.Dir); err != nil {
		return err
	}
	r.env = []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TMPDIR=" + r.path}
	for _, name := range sortedKeys(r.cmd.Env) {
		r.env = append(r.env, name+"="+r.cmd.Env[name])
	}
	return r.openInputs(g.Inputs)
}

// openFolder opens the private folder, whose last part must not be a link.
func (r *run) openFolder(dir string) error {
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("private folder: %w", err)
	}
	r.dir = os.NewFile(uintptr(fd), dir)
	if r.path, err = os.Readlink(fdName(r.dir)); err != nil {
		return cutroom.Errorf(cutroom.MissingDependency, "the sandbox needs /proc, which is not there").WithCause(err).
			WithHint("mount it: `mount -t proc proc /proc`")
	}
	return nil
}

// openInputs opens the granted inputs anew: for reading only, whatever the caller's
// descriptor allows, and with an offset of their own.
func (r *run) openInputs(inputs []*os.File) error {
	for _, i := range r.cmd.Inputs {
		if i < 0 || i >= len(inputs) {
			return cutroom.Errorf(cutroom.Internal, "%s is granted input %d of %d", r.cmd.Program, i, len(inputs))
		}
		f, err := os.Open(fdName(inputs[i]))
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		r.inputs = append(r.inputs, f)
		if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
			return cutroom.Errorf(cutroom.Invalid, "an input is not a regular file").WithCause(err)
		}
	}
	return nil
}

// needsReadAll reports whether root was granted a file of another user, which root
// without any capability cannot open.
func (r *run) needsReadAll() bool {
	if os.Geteuid() != 0 {
		return false
	}
	for _, f := range r.inputs {
		var st syscall.Stat_t
		if syscall.Fstat(int(f.Fd()), &st) == nil && st.Uid != 0 && st.Mode&0o004 == 0 {
			return true
		}
	}
	return false
}

// pipes makes the program's descriptors: nothing to read, one pipe for standard
// output, one for standard error, the extra pipes, the inputs (argv.PipeFD,
// argv.Grants.InputFD).
func (r *run) pipes() ([]*os.File, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("pipes: %w", err)
	}
	r.theirs = append(r.theirs, null)
	var outs []*os.File
	for range max(len(r.cmd.Consume), 1) + 1 {
		ours, its, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("pipes: %w", err)
		}
		r.readers, outs, r.theirs = append(r.readers, ours), append(outs, its), append(r.theirs, its)
		// More room means fewer switches between us and the program; the kernel may
		// refuse it.
		_, _ = unix.FcntlInt(its.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	}
	last := len(outs) - 1
	r.stderr, r.readers = r.readers[last], r.readers[:last]
	files := append([]*os.File{null, outs[0], outs[last]}, outs[1:last]...)
	return append(files, r.inputs...), nil
}

func (r *run) close() {
	closeAll(r.theirs)
	closeAll(r.readers)
	closeAll(r.inputs)
	closeAll([]*os.File{r.stderr, r.exe, r.dir})
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// stop is why a run was ended from outside.
type stop struct {
	once sync.Once
	err  error
	kill func()
}

func (s *stop) now(err error) {
	s.once.Do(func() {
		s.err = err
		s.kill()
	})
}

// attend reads what the program writes, watches over it, and waits for its end.
func (r *run) attend(ctx context.Context, kid *running, began time.Time) (argv.Result, error) {
	halt := &stop{kill: func() { _ = kid.proc.Kill() }}
	var res argv.Result
	res.Values = make([]any, len(r.cmd.Consume))
	var readers, watchers sync.WaitGroup
	for k, pipe := range r.readers {
		readers.Go(func() { r.consume(k, pipe, &res, halt) })
	}
	readers.Go(func() { res.Complaints = complaints(r.stderr, r.box.debug()) })
	over := make(chan struct{})
	watchers.Go(func() { r.watch(ctx, kid.proc.Pid, halt, over) })

	state, err := kid.proc.Wait()
	close(over)
	watchers.Wait()
	readers.Wait() // no other process holds the pipes, so they end with the program
	if err != nil {
		return res, fmt.Errorf("wait for %s: %w", r.cmd.Program, err)
	}
	res.Wall = cutroom.Micros(time.Since(began).Microseconds())
	r.account(&res, state)
	halt.once.Do(func() {}) // from here on halt.err does not change
	return res, r.verdict(&res, state, halt.err)
}

// consume reads one pipe to its end.
func (r *run) consume(k int, pipe *os.File, res *argv.Result, halt *stop) {
	if k < len(r.cmd.Consume) && r.cmd.Consume[k] != nil {
		v, err := r.cmd.Consume[k](pipe)
		res.Values[k] = v
		if err != nil {
			halt.now(unusable{err})
		}
	} else if k == 0 {
		var buf limitedBuffer
		buf.left = r.limits.StdoutCap
		_, _ = io.Copy(&buf, pipe)
		res.Stdout, res.Cut = buf.kept, buf.cut
	}
	_, _ = io.Copy(io.Discard, pipe)
}

// unusable is what a consumer says of a program's output.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// fault is the failure that callers see. A consumer may have named it already.
func (u unusable) fault(program string) error {
	if _, ok := errors.AsType[*cutroom.Error](u.error); ok || errors.Is(u.error, context.Canceled) || errors.Is(u.error, context.DeadlineExceeded) {
		return u.error
	}
	return cutroom.Errorf(cutroom.ToolFailed, "%s gave an answer that cannot be used", program).WithCause(u.error)
}

// limitedBuffer keeps the first bytes and counts on.
type limitedBuffer struct {
	kept []byte
	left int64
	cut  bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	b.kept = append(b.kept, p[:n]...)
	b.left -= n
	b.cut = b.cut || n < int64(len(p))
	return len(p), nil
}

// quotaPeriod is how often the written bytes are counted. In between a program can
// exceed the quota by what a disk takes in that time.
const quotaPeriod = 50 * time.Millisecond

// watch ends the run at its deadline, when the caller cancels, and when it has written
// too much.
func (r *run) watch(ctx context.Context, pid int, halt *stop, over <-chan struct{}) {
	deadline := time.NewTimer(r.limits.Wall)
	defer deadline.Stop()
	quota := time.NewTicker(quotaPeriod)
	defer quota.Stop()
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			halt.now(cutroom.AsError(context.Cause(ctx)))
		case <-deadline.C:
			halt.now(cutroom.Errorf(cutroom.Timeout, "%s did not finish within %s", r.cmd.Program, r.limits.Wall).
				WithHint("raise --timeout, or narrow the range with --start and --end"))
		case <-quota.C:
			bytes, files := written(r.path)
			if bytes+unlinked(pid) > r.limits.Written || files > maxFiles {
				halt.now(r.tooMuch())
			}
			continue
		}
		<-over
		return
	}
}

func (r *run) tooMuch() error {
	return cutroom.Errorf(cutroom.Limit, "%s wrote more than %d bytes", r.cmd.Program, r.limits.Written).WithHint("narrow the range, or raise the limit of written bytes")
}

// account fills in what the kernel says of the ended process.
func (r *run) account(res *argv.Result, state *os.ProcessState) {
	res.CPU = cutroom.Micros((state.UserTime() + state.SystemTime()).Microseconds())
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		res.MaxRSS = ru.Maxrss << 10
	}
	res.Exit = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Exit = 128 + int(ws.Signal())
	}
}

// verdict says whether the run was good.
func (r *run) verdict(res *argv.Result, state *os.ProcessState, halted error) error {
	refused, isRefused := errors.AsType[unusable](halted)
	ws, _ := state.Sys().(syscall.WaitStatus)
	if isRefused && res.Exit != 0 && !r.cmd.MayFail && ws.Signal() != syscall.SIGKILL {
		halted = nil // it ended by itself, and that is why its output is short
	}
	switch {
	case isRefused && halted != nil:
		return refused.fault(r.cmd.Program)
	case halted != nil:
		return halted
	}
	if err := r.exceeded(res, state); err != nil {
		return err
	}
	if bytes, files := written(r.path); bytes > r.limits.Written || files > maxFiles {
		return r.tooMuch()
	}
	if res.Exit != 0 {
		if r.cmd.MayFail {
			return nil
		}
		return r.failure(res, state)
	}
	for _, name := range r.cmd.Outputs {
		st, err := os.Lstat(filepath.Join(r.path, name))
		if err != nil || !st.Mode().IsRegular() {
			return cutroom.Errorf(cutroom.ToolFailed, "%s left no %s", r.cmd.Program, name).WithCause(err)
		}
	}
	return nil
}

// exceeded tells the limits that end a program by themselves.
func (r *run) exceeded(res *argv.Result, state *os.ProcessState) error {
	name := r.cmd.Program
	ws, _ := state.Sys().(syscall.WaitStatus)
	said := res.Complaints.Kinds
	failed := res.Exit != 0
	switch {
	case said["disk_full"] > 0 && (failed || r.diskFull()):
		return cutroom.Errorf(cutroom.Unavailable, "the disk is full: %s could not write its result", name).
			WithHint("free space where the workspace lies, or choose another place with --stage")
	case ws.Signaled() && (ws.Signal() == syscall.SIGXCPU || ws.Signal() == syscall.SIGKILL && res.CPU.Seconds() >= 0.75*r.limits.CPU.Seconds()):
		return cutroom.Errorf(cutroom.Limit, "%s used more than %s of processor time", name, r.limits.CPU).WithHint("narrow the range, or raise the limit of processor time")
	case ws.Signaled() && ws.Signal() == syscall.SIGXFSZ, failed && said["file_too_large"] > 0:
		return cutroom.Errorf(cutroom.Limit, "%s wrote a file of more than %d bytes", name, r.limits.FileSize).WithHint("narrow the range, or raise the limit of file size")
	case failed && said["out_of_memory"] > 0:
		return cutroom.Errorf(cutroom.Limit, "%s needs more than %d bytes of memory", name, r.limits.Memory).WithHint("use a smaller picture size, or raise the memory limit")
	}
	return nil
}

// diskFull reports whether the private folder's file system has no room.
func (r *run) diskFull() bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(r.dir.Fd()), &st) == nil && st.Bavail*uint64(st.Bsize) < 1<<20
}

// failure is the error of a program that ended badly.
func (r *run) failure(res *argv.Result, state *os.ProcessState) error {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		if ws.Signal() == syscall.SIGSYS {
			return cutroom.Errorf(cutroom.Denied, "%s made a system call that the sandbox forbids and was stopped", r.cmd.Program)
		}
		return cutroom.Errorf(cutroom.ToolFailed, "%s crashed (signal %d)", r.cmd.Program, int(ws.Signal()))
	}
	e := cutroom.Errorf(cutroom.ToolFailed, "%s failed with exit code %d", r.cmd.Program, res.Exit)
	if k := mainComplaint(res.Complaints); k != "" {
		e = cutroom.Errorf(cutroom.ToolFailed, "%s failed with exit code %d (%s)", r.cmd.Program, res.Exit, k)
	}
	return e.WithCause(errors.New(r.cmd.Step)).WithHint("`cutroom probe` says what the input is; with --debug the call shows what %s said", r.cmd.Program)
}

// mainComplaint is the class that a program named most.
func mainComplaint(c argv.Complaints) string {
	best := ""
	for _, k := range sortedKeys(c.Kinds) {
		if k != "other" && c.Kinds[k] > c.Kinds[best] {
			best = k
		}
	}
	return best
}

// debug returns where standard error goes to, nil for nowhere.
func (s *Sandbox) debug() io.Writer {
	if s.opts.Debug == nil {
		return nil
	}
	return lockedWriter{&s.debugMu, s.opts.Debug}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
