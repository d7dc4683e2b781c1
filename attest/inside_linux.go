package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"syscall"
)

// insideMode is the hidden mode that the first process of a jail runs in.
const insideMode = "attest-inside"

// talkFD is the descriptor of the socket to the process outside.
const talkFD = 3

// inside is the first process of a jail: it makes the place ready, sends its socket
// out, runs the program that it is told, and buries what that leaves. Its end is the
// end of everything in the jail.
func inside() int {
	syscall.CloseOnExec(talkFD)
	f, err := ready()
	if err != nil {
		_, _ = syscall.Write(talkFD, []byte(err.Error()))
		return 70
	}
	if err := syscall.Sendmsg(talkFD, []byte("listener"), syscall.UnixRights(int(f.Fd())), nil, 0); err != nil {
		return 70
	}
	f.Close()
	order := make([]byte, 1<<20)
	n, err := syscall.Read(talkFD, order)
	if err != nil || n == 0 {
		return 70 // the one outside is gone
	}
	var p program
	if err := json.Unmarshal(order[:n], &p); err != nil {
		fmt.Fprintln(os.Stderr, "jail:", err)
		return 70
	}
	go func() { // the one outside dies first: nothing may outlive it
		_, _ = syscall.Read(talkFD, order)
		os.Exit(70)
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 70
	}
	child, err := os.StartProcess(p.Path, append([]string{p.Path}, p.Args...), &os.ProcAttr{
		Dir: p.Dir, Env: p.Env, Files: []*os.File{null, os.Stdout, os.Stderr},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "jail:", err)
		return 127
	}
	for { // as the first process here, this one is everybody's last parent
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 70
		case pid == child.Pid && status.Exited():
			return status.ExitStatus()
		case pid == child.Pid:
			return 128 + int(status.Signal())
		}
	}
}

// ready makes processes and loopback of the jail its own and opens a port.
func ready() (*os.File, error) {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("mounts: %w", err)
	}
	// Where a container masks parts of /proc this is refused; the old one serves.
	_ = syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	if err := loopbackUp(); err != nil {
		return nil, fmt.Errorf("loopback: %w", err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.(*net.TCPListener).File()
}

// loopbackUp switches the interface lo on: RTM_NEWLINK (rtnetlink(7)) for the first
// interface of the namespace, which is always lo.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	const size = syscall.SizeofNlMsghdr + syscall.SizeofIfInfomsg
	e, msg := binary.NativeEndian, make([]byte, size)
	e.PutUint32(msg[0:], size)
	e.PutUint16(msg[4:], syscall.RTM_NEWLINK)
	e.PutUint16(msg[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_ACK)
	e.PutUint32(msg[8:], 1)
	body := msg[syscall.SizeofNlMsghdr:]
	e.PutUint32(body[4:], 1)               // index of lo
	e.PutUint32(body[8:], syscall.IFF_UP)  // flags
	e.PutUint32(body[12:], syscall.IFF_UP) // which of them change
	to := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(fd, msg, 0, to); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n >= syscall.SizeofNlMsghdr+4 {
		if code := int32(e.Uint32(answer[syscall.SizeofNlMsghdr:])); code < 0 {
			return syscall.Errno(-code)
		}
	}
	return nil
}
