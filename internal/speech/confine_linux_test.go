package speech

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confineEnv makes [confine] act: the number of bytes that may be addressed.
const confineEnv = "SPEECH_TEST_CONFINE"

// confine starts this program anew with sockets and new processes forbidden and
// its address space bounded, like the sandbox does. The filter is set for one
// thread, which then becomes the new program.
func confine() {
	limit, ok := os.LookupEnv(confineEnv)
	if !ok {
		return
	}
	runtime.LockOSThread()
	must(os.Unsetenv(confineEnv))
	must(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	filter := denyFilter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	must(unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0))
	if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
		panic(fmt.Sprint("a socket was opened: ", fd))
	}
	if pid, err := syscall.ForkExec("/bin/true", nil, nil); err == nil {
		panic(fmt.Sprint("a process was started: ", pid))
	}
	var bytes uint64
	_, err := fmt.Sscan(limit, &bytes)
	must(err)
	must(unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: bytes}))
	must(unix.Exec("/proc/self/exe", os.Args, os.Environ()))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// denyFilter refuses sockets, clone without CLONE_THREAD and the calls that could
// replace it; clone3 does not exist, so that libraries fall back to clone.
func denyFilter() []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		set    = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K

		number, firstArgument = 0, 16 // offsets in struct seccomp_data
	)
	return []unix.SockFilter{
		{Code: load, K: number},
		{Code: equal, K: unix.SYS_SOCKET, Jt: 6},
		{Code: equal, K: unix.SYS_SOCKETPAIR, Jt: 5},
		{Code: equal, K: unix.SYS_CLONE3, Jt: 5},
		{Code: equal, K: unix.SYS_CLONE, Jf: 2},
		{Code: load, K: firstArgument},
		{Code: set, K: unix.CLONE_THREAD, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
}

// maxResident returns the largest resident memory of a process that ended.
func maxResident(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// processorTime returns what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
