//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// pidMark stands in a filter for the process id of the child, which only the
// child knows; see child.Order.
const pidMark = 0x7ffffff1

// rule allows one system call, if every check holds; else the call answers errno
// (EPERM when zero).
type rule struct {
	nr     uint32
	checks []check
	errno  uint32
}

// check compares 32 bits of one argument, after a mask, with the allowed values.
type check struct {
	arg    uint32
	high   bool   // the upper half of the argument
	mask   uint32 // 0 means all bits
	values []uint32
}

func oneOf(arg uint32, values ...uint32) check { return check{arg: arg, values: values} }

// The flags of clone(2) that a new thread has (glibc and Go), and those that it
// must have. Namespace flags are in neither.
const (
	threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM |
		unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED
	threadMust = unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	// firstNewCall: unlisted calls from this number on answer ENOSYS, so that a newer
	// C library falls back to what it did before they existed.
	firstNewCall = 439

	fionbio, fioclex, fionclex = 0x5421, 0x5451, 0x5450 // <asm-generic/ioctls.h>
)

// The commands of the calls that carry many. Not among them: F_SETOWN and F_SETSIG
// (a signal to any process of the user by way of O_ASYNC), FS_IOC_SETFLAGS,
// PR_SET_PDEATHSIG, PR_SET_DUMPABLE.
var (
	fcntlCommands = []uint32{
		unix.F_DUPFD, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW,
		unix.F_DUPFD_CLOEXEC, unix.F_SETPIPE_SZ, unix.F_GETPIPE_SZ, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW,
	}
	ioctlCommands = []uint32{unix.TCGETS, unix.TIOCGWINSZ, unix.TIOCINQ, fionbio, fioclex, fionclex}
	prctlCommands = []uint32{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_CAPBSET_READ, unix.PR_GET_DUMPABLE}
)

// commonCalls are allowed whatever their arguments, on every architecture. What
// they do to files is Landlock's business; measured with ffmpeg, ffprobe,
// tesseract, ONNX Runtime, glibc and the Go runtime.
var commonCalls = []uint32{
	unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_BRK, unix.SYS_MREMAP,
	unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREADV, unix.SYS_PWRITEV,
	unix.SYS_OPENAT, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_FSTATFS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR,
	unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	unix.SYS_SYNC_FILE_RANGE, unix.SYS_FADVISE64, unix.SYS_FLOCK, unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE, unix.SYS_UMASK,
	unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EVENTFD2,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_NANOSLEEP, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES,
	unix.SYS_GETRUSAGE, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_GETRANDOM, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETCPU,
	unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_MINCORE, unix.SYS_MSYNC, unix.SYS_MLOCK, unix.SYS_MUNLOCK,
	unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_MBIND,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_CAPGET,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// checkedCalls are allowed with some arguments only. exe is the descriptor of the
// program in the helper, the one thing that may be executed.
func checkedCalls(exe int) []rule {
	self := []uint32{0, pidMark}
	return []rule{
		{nr: unix.SYS_CLONE, checks: []check{
			{arg: 0, mask: ^uint32(threadFlags), values: []uint32{0}},
			{arg: 0, mask: threadMust, values: []uint32{threadMust}},
		}},
		{nr: unix.SYS_CLONE3, checks: []check{{arg: 0, mask: 0, values: nil}}, errno: uint32(unix.ENOSYS)},
		{nr: unix.SYS_FCNTL, checks: []check{oneOf(1, fcntlCommands...)}},
		{nr: unix.SYS_IOCTL, checks: []check{oneOf(1, ioctlCommands...)}, errno: uint32(unix.ENOTTY)},
		{nr: unix.SYS_PRCTL, checks: []check{oneOf(0, prctlCommands...)}},
		{nr: unix.SYS_KILL, checks: []check{oneOf(0, pidMark)}},
		{nr: unix.SYS_TGKILL, checks: []check{oneOf(0, pidMark)}},
		{nr: unix.SYS_SCHED_SETAFFINITY, checks: []check{oneOf(0, self...)}},
		{nr: unix.SYS_GETPRIORITY, checks: []check{oneOf(0, unix.PRIO_PROCESS), oneOf(1, self...)}},
		{nr: unix.SYS_SETPRIORITY, checks: []check{oneOf(0, unix.PRIO_PROCESS), oneOf(1, self...)}},
		// Reading one's own limits; the new limit is a null pointer.
		{nr: unix.SYS_PRLIMIT64, checks: []check{oneOf(0, self...), oneOf(2, 0), {arg: 2, high: true, values: []uint32{0}}}},
		{nr: unix.SYS_EXECVEAT, checks: []check{oneOf(0, uint32(exe)), oneOf(4, unix.AT_EMPTY_PATH)}},
	}
}

// filters returns the two seccomp programs of a child: the first kills whatever
// calls by a foreign ABI (`int 0x80`), the second lets through what is listed.
func filters(exe int) [][]byte {
	var a assembler
	a.load(offArch)
	a.jump(unix.BPF_JEQ, auditArch, 0, 1)
	a.ret(unix.SECCOMP_RET_ALLOW)
	a.ret(unix.SECCOMP_RET_KILL_PROCESS)

	var b assembler
	b.load(offNr)
	for _, nr := range commonCalls {
		b.allow(rule{nr: nr})
	}
	for _, nr := range nativeCalls {
		b.allow(rule{nr: nr})
	}
	for _, r := range checkedCalls(exe) {
		b.allow(r)
	}
	// The x32 calls carry a high bit and end here too.
	b.jump(unix.BPF_JGE, firstNewCall, 0, 1)
	b.ret(errnoAction(unix.ENOSYS))
	b.ret(errnoAction(unix.EPERM))
	return [][]byte{a.code, b.code}
}

// Offsets in struct seccomp_data.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

func errnoAction(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// assembler writes instructions of classic BPF (struct sock_filter).
type assembler struct{ code []byte }

func (a *assembler) emit(op uint16, jt, jf uint8, k uint32) {
	a.code = binary.NativeEndian.AppendUint16(a.code, op)
	a.code = append(a.code, jt, jf)
	a.code = binary.NativeEndian.AppendUint32(a.code, k)
}

func (a *assembler) load(off uint32) { a.emit(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, off) }

func (a *assembler) ret(action uint32) { a.emit(unix.BPF_RET|unix.BPF_K, 0, 0, action) }

func (a *assembler) jump(cond uint16, k uint32, jt, jf uint8) {
	a.emit(unix.BPF_JMP|unix.BPF_K|cond, jt, jf, k)
}

// allow adds a rule. Another call than the rule's goes on behind it with the
// call's number still loaded; the rule's own call never does.
func (a *assembler) allow(r rule) {
	var body assembler
	errno := r.errno
	if errno == 0 {
		errno = uint32(unix.EPERM)
	}
	for _, c := range r.checks {
		body.check(c, unix.SECCOMP_RET_ERRNO|errno)
	}
	body.ret(unix.SECCOMP_RET_ALLOW)
	a.jump(unix.BPF_JEQ, r.nr, 0, uint8(len(body.code)/8))
	a.code = append(a.code, body.code...)
}

// check goes on behind itself when one of the values matches, else answers refuse.
func (a *assembler) check(c check, refuse uint32) {
	off := offArgs + 8*c.arg // both architectures are little-endian
	if c.high {
		off += 4
	}
	a.load(off)
	if c.mask != 0 {
		a.emit(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, c.mask)
	}
	for i, v := range c.values {
		a.jump(unix.BPF_JEQ, v, uint8(len(c.values)-i), 0)
	}
	a.ret(refuse)
}
