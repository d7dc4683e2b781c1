package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"time"
)

// program is what runs in a jail: nothing of our own environment gets in.
type program struct {
	Path string
	Args []string // without the name
	Env  []string
	Dir  string
}

// jail is a place to run one host in: a network of its own that holds loopback alone,
// and processes of its own, all of which end with it. Where the kernel grants none of
// that the program runs plainly, and confined is false.
type jail struct {
	confined bool
	listener net.Listener // on the jail's loopback: what the model is heard at
	cmd      *exec.Cmd    // the first process inside; of a plain run, nil before run
	talk     *os.File     // to the first process inside

	out, complaints io.Writer
}

// endTime bounds how long a killed program's output is waited for.
const endTime = 5 * time.Second

var errNoNamespace = errors.New("the kernel grants no namespaces")

// openJail makes a jail. The outputs take what the program prints.
func openJail(out, complaints io.Writer) (*jail, error) {
	j, err := confine(out, complaints)
	if !errors.Is(err, errNoNamespace) {
		return j, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &jail{listener: l, out: out, complaints: complaints}, err
}

// run runs p until it ends, or kills it with all it started when ctx ends, and returns
// its exit code, -1 when it was killed. started is called with the process that all
// others descend from.
func (j *jail) run(ctx context.Context, p program, started func(pid int)) (int, error) {
	if j.confined {
		return j.runInside(ctx, p, started)
	}
	j.cmd = exec.CommandContext(ctx, p.Path, p.Args...)
	j.cmd.Env, j.cmd.Dir, j.cmd.Stdout, j.cmd.Stderr, j.cmd.WaitDelay = p.Env, p.Dir, j.out, j.complaints, endTime
	ownGroup(j.cmd)
	if err := j.cmd.Start(); err != nil {
		return -1, err
	}
	started(j.cmd.Process.Pid)
	code, err := exitCode(j.cmd.Wait())
	killGroup(j.cmd)
	return code, err
}

// exitCode turns what Wait says into a code; a program that failed is no error.
func exitCode(err error) (int, error) {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode(), nil
	}
	if errors.Is(err, exec.ErrWaitDelay) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return -1, nil
	}
	return 0, err
}

// close gives a jail up that nothing ran in.
func (j *jail) close() {
	_ = j.listener.Close()
	if j.confined {
		j.end()
	}
}
