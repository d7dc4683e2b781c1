//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"cutroom"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/sandbox/child"
)

// SelfTest starts our own binary inside the sandbox and lets it try to get out, in
// every way of package child and by using up what is limited. Each attempt says
// whether it was held and by which layer. It takes about two seconds, most of it the
// attempt to use up processor time.
func (s *Sandbox) SelfTest(ctx context.Context) ([]Attempt, error) {
	if err := kernelFloor(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cutroom-selftest-")
	if err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	defer os.RemoveAll(dir)
	t, err := newTrial(s, dir)
	if err != nil {
		return nil, err
	}
	defer t.input.Close()
	parts := []func(context.Context) ([]Attempt, error){t.survivable, t.exhausting, t.orphan}
	results, errs := make([][]Attempt, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() { results[i], errs[i] = part(ctx) })
	}
	wg.Wait()
	var all []Attempt
	for _, r := range results {
		all = append(all, r...)
	}
	return all, errors.Join(errs...)
}

// trial is one self-test: a sandbox that knows only our own binary, and something to
// damage.
type trial struct {
	box    *Sandbox
	dir    string
	victim string
	input  *os.File
}

func newTrial(s *Sandbox, dir string) (*trial, error) {
	pin, err := PinProgram(child.AttemptName, "", PinOptions{})
	if err != nil {
		return nil, err
	}
	table := argv.Own(child.AttemptName, map[string]argv.Option{child.EnvVictim: {Kind: argv.Text}, child.EnvParent: {Kind: argv.Number}})
	box := &Sandbox{opts: s.opts, refused: map[uintptr]bool{}, programs: map[string]*program{child.AttemptName: {pin: pin, table: table}}}
	t := &trial{box: box, dir: dir, victim: filepath.Join(dir, "victim")}
	for _, name := range []string{"victim", "input"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			return nil, fmt.Errorf("self-test: %w", err)
		}
	}
	if t.input, err = os.Open(filepath.Join(dir, "input")); err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	return t, nil
}

// run makes one attempt in a private folder of its own.
func (t *trial) run(ctx context.Context, name string, l argv.Limits) (argv.Result, error) {
	private := filepath.Join(t.dir, "private-"+name)
	if err := os.Mkdir(private, 0o700); err != nil {
		return argv.Result{}, fmt.Errorf("self-test: %w", err)
	}
	if l.Wall == 0 {
		l.Wall = time.Minute
	}
	cmd := argv.Command{
		Step: name, Program: child.AttemptName, Args: argv.Words(name), Inputs: []int{0}, Limits: l,
		Env: map[string]string{child.EnvVictim: t.victim, child.EnvParent: strconv.Itoa(os.Getpid())},
	}
	return t.box.Run(ctx, cmd, Grant{Dir: private, Inputs: []*os.File{t.input}})
}

// survivable makes all attempts that the program survives, and looks at the victim
// afterwards.
func (t *trial) survivable(ctx context.Context) ([]Attempt, error) {
	before, err := fingerprintOf(t.victim)
	if err != nil {
		return nil, err
	}
	res, err := t.run(ctx, "all", argv.Limits{})
	if err != nil {
		return nil, err
	}
	said := map[string]syscall.Errno{}
	for scan := bufio.NewScanner(bytes.NewReader(res.Stdout)); scan.Scan(); {
		name, number, _ := strings.Cut(scan.Text(), " ")
		if n, err := strconv.Atoi(number); err == nil {
			said[name] = syscall.Errno(n)
		}
	}
	var list []Attempt
	for _, name := range child.Tries() {
		errno, ok := said[name]
		if !ok {
			list = append(list, Attempt{Name: name, Note: "gave no answer"})
			continue
		}
		list = append(list, judge(name, errno))
	}
	after, err := fingerprintOf(t.victim)
	a := Attempt{Name: "other_file_is_untouched", Held: err == nil && before == after, By: string(Landlock)}
	if !a.Held {
		a.Note = "content, mode, owner or times changed"
	}
	return append(list, a), nil
}

// fingerprintOf is everything that an attempt could have changed in a file.
func fingerprintOf(path string) (string, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return "", fmt.Errorf("self-test: %w", err)
	}
	b, err := os.ReadFile(path)
	return fmt.Sprint(st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim, st.Ctim, string(b)), err
}

// judge tells the layer by how the call failed. A call that failed for another
// reason than a refusal got as far as the kernel's own checks: it was not held.
func judge(name string, errno syscall.Errno) Attempt {
	a := Attempt{Name: name, Held: true}
	switch errno {
	case syscall.EACCES, syscall.EXDEV:
		a.By = string(Landlock)
	case syscall.EPERM, syscall.ENOSYS, syscall.ENOTTY:
		a.By = string(Seccomp)
	case syscall.EMFILE, syscall.ENOMEM, syscall.EAGAIN:
		a.By = string(Rlimits)
	case 0:
		a.Held, a.Note = false, "succeeded"
	default:
		a.Held, a.Note = false, "reached the kernel: "+errno.Error()
	}
	if a.Held {
		a.By += " (" + errno.Error() + ")"
	}
	return a
}

// exhausting makes the attempts that a limit or a signal ends.
func (t *trial) exhausting(ctx context.Context) ([]Attempt, error) {
	const mib = 1 << 20
	tries := []struct {
		name, prog string
		limits     argv.Limits
		want       cutroom.Code
		by         string
	}{
		{"processor_time", "spin", argv.Limits{CPU: time.Second}, cutroom.Limit, "rlimits (RLIMIT_CPU)"},
		{"wall_time", "linger", argv.Limits{Wall: 100 * time.Millisecond}, cutroom.Timeout, "supervision (deadline)"},
		{"written_bytes", "fill", argv.Limits{Written: 8 * mib}, cutroom.Limit, "supervision (quota)"},
		{"file_size", "grow", argv.Limits{FileSize: mib}, cutroom.Limit, "rlimits (RLIMIT_FSIZE)"},
		{"foreign_abi", "int80", argv.Limits{}, cutroom.Denied, "seccomp (killed: int 0x80)"},
	}
	var list []Attempt
	for _, x := range tries {
		if x.prog == "int80" && !child.ForeignABI {
			continue
		}
		res, err := t.run(ctx, x.prog, x.limits)
		if ctx.Err() != nil {
			return list, err
		}
		a := Attempt{Name: x.name, By: x.by}
		if a.Held = err != nil && cutroom.AsError(err).Code == x.want; !a.Held {
			a.Note = fmt.Sprintf("exit %d: %v", res.Exit, err)
		}
		if st, err := os.Stat(filepath.Join(t.dir, "private-grow", "grow")); err == nil && x.prog == "grow" && st.Size() > mib {
			a.Held, a.Note = false, "the file grew beyond its limit"
		}
		list = append(list, a)
	}
	return list, nil
}

// orphan starts a program under a parent of its own, kills the parent, and waits for
// the program's end, which shows in the pipe that it alone holds.
func (t *trial) orphan(ctx context.Context) ([]Attempt, error) {
	r := &run{box: t.box, limits: t.box.limits(argv.Limits{}), cmd: argv.Command{Program: child.AttemptName, Args: argv.Words("linger")}}
	defer r.close()
	private := filepath.Join(t.dir, "private-orphan")
	if err := os.Mkdir(private, 0o700); err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	if err := r.prepare(Grant{Dir: private}); err != nil {
		return nil, err
	}
	rules, err := r.ruleset()
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	files, err := r.pipes()
	if err != nil {
		return nil, err
	}
	sp := r.spawnOf(rules, files)
	sp.between = true
	proc, err := t.box.startIn(sp, spaces{})
	if err != nil {
		return nil, err
	}
	closeAll(r.theirs)
	_ = proc.Kill()
	_, _ = proc.Wait()
	a := Attempt{Name: "outlive_the_parent", Held: true, By: "supervision (parent-death signal)"}
	_ = r.readers[0].SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := r.readers[0].Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		a.Held, a.Note = false, "still runs five seconds later"
	}
	return []Attempt{a}, ctx.Err()
}
