package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// confine starts a process in new namespaces and takes over the socket that it opens
// there: the model is played out here and heard in there.
func confine(out, complaints io.Writer) (*jail, error) {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC}
	if os.Geteuid() == 0 {
		if j, err := enter(attr, out, complaints); !errors.Is(err, errNoNamespace) {
			return j, err
		}
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	return enter(attr, out, complaints)
}

func enter(attr *syscall.SysProcAttr, out, complaints io.Writer) (*jail, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	talk, theirs := os.NewFile(uintptr(pair[0]), "jail"), os.NewFile(uintptr(pair[1]), "jail")
	defer theirs.Close()
	j := &jail{confined: true, talk: talk, cmd: exec.Command(self, insideMode)}
	j.cmd.Env, j.cmd.SysProcAttr, j.cmd.ExtraFiles = []string{}, attr, []*os.File{theirs}
	j.cmd.Stdout, j.cmd.Stderr, j.cmd.WaitDelay = out, complaints, endTime
	if err := j.cmd.Start(); err != nil {
		talk.Close()
		return nil, fmt.Errorf("%w: %w", errNoNamespace, err)
	}
	if err := j.listen(); err != nil {
		j.end()
		return nil, err
	}
	return j, nil
}

// listen takes the socket that the process inside sends.
func (j *jail) listen() error {
	text, control := make([]byte, 256), make([]byte, syscall.CmsgSpace(4))
	n, cn, _, _, err := syscall.Recvmsg(int(j.talk.Fd()), text, control, syscall.MSG_CMSG_CLOEXEC)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:cn])
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("%w: %s", errNoNamespace, text[:n])
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return errors.New("the jail sent no socket")
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	j.listener, err = net.FileListener(f)
	return err
}

// end kills everything inside.
func (j *jail) end() {
	_ = j.cmd.Process.Kill()
	_ = j.cmd.Wait()
	j.talk.Close()
}

func (j *jail) runInside(ctx context.Context, p program, started func(pid int)) (int, error) {
	order, err := json.Marshal(p)
	if err != nil {
		return -1, err
	}
	if _, err := j.talk.Write(order); err != nil {
		j.end()
		return -1, err
	}
	started(j.cmd.Process.Pid)
	// Killing the first process of a PID namespace kills all others in it.
	stop := context.AfterFunc(ctx, func() { _ = j.cmd.Process.Kill() })
	defer stop()
	defer j.talk.Close()
	return exitCode(j.cmd.Wait())
}

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup ends what a plain run left behind.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
