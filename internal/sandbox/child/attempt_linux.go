//go:build linux && (amd64 || arm64)

package child

import (
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// The variables that tell the attempts what to try it on.
const (
	EnvVictim = "CUTROOM_VICTIM" // a file of the same user, outside
	EnvParent = "CUTROOM_PARENT" // the process id of the parent, as the parent sees it
)

// attempt tries to get out and prints a line "name errno" for each try; 0 is a
// success. It does not return. Names: "all" for every try that the program survives,
// with a list of tries behind it only those; or one of those below, which end it.
func attempt(args []string) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "all":
		survivable(args[1:])
	case "int80":
		int80(20) // getpid of the 32-bit ABI
		report("int80", 0)
	case "spin":
		for {
			_ = hungUp(0) // until the processor time is used up
		}
	case "linger":
		for {
			pause()
		}
	case "grow":
		grow()
	case "fill":
		fill()
	case "parent":
		parent(args[1:])
	}
	syscall.Exit(0)
}

func pause() {
	ts := syscall.Timespec{Sec: 3600}
	_ = syscall.Nanosleep(&ts, nil)
}

func report(name string, errno syscall.Errno) {
	_, _ = syscall.Write(1, []byte(name+" "+strconv.Itoa(int(errno))+"\n"))
}

// grow writes one file without end, fill many small ones.
func grow() {
	fd, err := syscall.Open("grow", syscall.O_CREAT|syscall.O_WRONLY, 0o600)
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = syscall.Write(fd, block)
	}
	if err == syscall.EFBIG {
		_, _ = syscall.Write(2, []byte("grow: File too large\n"))
		syscall.Exit(1)
	}
}

func fill() {
	block := make([]byte, 1<<18)
	for i := 0; ; i++ {
		fd, err := syscall.Open("fill"+strconv.Itoa(i%512), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_APPEND, 0o600)
		if err != nil {
			pause()
		}
		_, _ = syscall.Write(fd, block)
		_ = syscall.Close(fd)
	}
}

// parent starts the helper as its own child with the descriptors it was given, and
// waits to be killed: what it started must not live on.
func parent(args []string) {
	if len(args) != 1 {
		syscall.Exit(2)
	}
	order, err := strconv.Atoi(args[0])
	if err != nil {
		syscall.Exit(2)
	}
	files := make([]uintptr, order+1)
	for i := range files {
		files[i] = uintptr(i)
	}
	if _, err := syscall.ForkExec("/proc/self/exe", []string{HelperName, args[0]}, &syscall.ProcAttr{Files: files}); err != nil {
		syscall.Exit(2)
	}
	for i := range files {
		_ = syscall.Close(i)
	}
	for {
		pause()
	}
}

// try is one way out.
type try struct {
	name string
	run  func(*prey) syscall.Errno
}

// prey is what the tries are made on.
type prey struct {
	victim string
	path   *byte
	parent uintptr
}

// Tries lists the names that "all" reports.
func Tries() []string {
	names := make([]string, len(tries))
	for i, t := range tries {
		names[i] = t.name
	}
	return names
}

// survivable makes the named tries, or all.
func survivable(only []string) {
	p := &prey{victim: os.Getenv(EnvVictim)}
	n, _ := strconv.Atoi(os.Getenv(EnvParent))
	p.parent = uintptr(n)
	p.path, _ = syscall.BytePtrFromString(p.victim)
	for _, t := range tries {
		if len(only) == 0 || slices.Contains(only, t.name) {
			report(t.name, t.run(p))
		}
	}
}

// call makes a system call and returns how it failed; a descriptor it made is closed.
func call(nr uintptr, args ...uintptr) syscall.Errno {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	return errno
}

// open tries to open a path.
func open(path string, flags int) syscall.Errno {
	fd, err := syscall.Open(path, flags, 0o600)
	if err == nil {
		_ = syscall.Close(fd)
		return 0
	}
	errno, _ := err.(syscall.Errno)
	return errno
}

// fork tries to make a process by nr; the child, if there is one, ends at once.
func fork(nr uintptr, args ...uintptr) syscall.Errno {
	var a [6]uintptr
	copy(a[:], args)
	pid, _, errno := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno == 0 && pid == 0 {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return errno
}

func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

const (
	atFdcwd         = ^uintptr(99) // -100
	inputFD         = 3
	sysPidfdOpen    = 434
	sysClone3       = 435
	sysIoUringSetup = 425
	sysFsopen       = 430
	sysOpenTree     = 428
	fSetown         = 8
	tiocsti         = 0x5412
)

var (
	zeroes [256]byte
	handle = [16]byte{0: 8, 4: 1}
)

// tries are the ways out, by what they reach for: the network, files, other
// processes, new processes, and doors of the kernel that have led out before.
var tries = []try{
	{"network_ipv4", func(*prey) syscall.Errno { return call(syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_STREAM) }},
	{"network_ipv4_udp", func(*prey) syscall.Errno { return call(syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_DGRAM) }},
	{"network_ipv6", func(*prey) syscall.Errno { return call(syscall.SYS_SOCKET, syscall.AF_INET6, syscall.SOCK_STREAM) }},
	{"unix_socket", func(*prey) syscall.Errno { return call(syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_STREAM) }},
	{"netlink_socket", func(*prey) syscall.Errno { return call(syscall.SYS_SOCKET, syscall.AF_NETLINK, syscall.SOCK_RAW) }},
	{"socket_pair", func(*prey) syscall.Errno {
		return call(syscall.SYS_SOCKETPAIR, syscall.AF_UNIX, syscall.SOCK_STREAM, 0, ptr(&zeroes))
	}},

	{"read_passwd", func(*prey) syscall.Errno { return open("/etc/passwd", syscall.O_RDONLY) }},
	{"read_other_file", func(p *prey) syscall.Errno { return open(p.victim, syscall.O_RDONLY) }},
	{"list_root", func(*prey) syscall.Errno { return open("/", syscall.O_RDONLY|syscall.O_DIRECTORY) }},
	{"write_other_file", func(p *prey) syscall.Errno { return open(p.victim, syscall.O_WRONLY) }},
	{"truncate_other_file", func(p *prey) syscall.Errno { return call(syscall.SYS_TRUNCATE, ptr(p.path), 0) }},
	{"create_outside", func(p *prey) syscall.Errno { return open(p.victim+".new", syscall.O_WRONLY|syscall.O_CREAT) }},
	{"create_in_tmp", func(*prey) syscall.Errno { return open("/tmp/cutroom-attempt", syscall.O_WRONLY|syscall.O_CREAT) }},
	{"write_input", func(*prey) syscall.Errno { return open("/proc/self/fd/"+strconv.Itoa(inputFD), syscall.O_RDWR) }},
	{"chmod_other_file", func(p *prey) syscall.Errno { return call(syscall.SYS_FCHMODAT, atFdcwd, ptr(p.path), 0o777) }},
	{"chmod_input", func(*prey) syscall.Errno { return call(syscall.SYS_FCHMOD, inputFD, 0o600) }},
	{"chown_other_file", func(p *prey) syscall.Errno {
		return call(syscall.SYS_FCHOWNAT, atFdcwd, ptr(p.path), uintptr(os.Getuid()), uintptr(os.Getgid()), 0)
	}},
	{"utime_other_file", func(p *prey) syscall.Errno { return call(syscall.SYS_UTIMENSAT, atFdcwd, ptr(p.path), 0, 0) }},
	{"utime_input", func(*prey) syscall.Errno { return call(syscall.SYS_UTIMENSAT, inputFD, 0, 0, 0) }},
	{"xattr_other_file", func(p *prey) syscall.Errno {
		name, _ := syscall.BytePtrFromString("user.cutroom")
		return call(syscall.SYS_SETXATTR, ptr(p.path), ptr(name), ptr(&zeroes), 1, 0)
	}},
	{"symlink", func(p *prey) syscall.Errno {
		name, _ := syscall.BytePtrFromString("symlink")
		return call(syscall.SYS_SYMLINKAT, ptr(p.path), atFdcwd, ptr(name))
	}},
	{"hard_link", func(p *prey) syscall.Errno {
		name, _ := syscall.BytePtrFromString("link")
		return call(syscall.SYS_LINKAT, atFdcwd, ptr(p.path), atFdcwd, ptr(name), 0)
	}},
	{"device_node", func(*prey) syscall.Errno {
		name, _ := syscall.BytePtrFromString("fifo")
		return call(syscall.SYS_MKNODAT, atFdcwd, ptr(name), syscall.S_IFIFO|0o600, 0)
	}},
	{"move_in", func(p *prey) syscall.Errno {
		name, _ := syscall.BytePtrFromString("moved")
		return call(syscall.SYS_RENAMEAT, atFdcwd, ptr(p.path), atFdcwd, ptr(name))
	}},
	{"remove_other_file", func(p *prey) syscall.Errno { return call(syscall.SYS_UNLINKAT, atFdcwd, ptr(p.path), 0) }},
	{"open_by_handle", func(*prey) syscall.Errno { return call(sysOpenByHandleAt, inputFD, ptr(&handle), 0) }},
	{"spare_self_from_oom", func(*prey) syscall.Errno { return open("/proc/self/oom_score_adj", syscall.O_WRONLY) }},

	{"status_of_init", func(*prey) syscall.Errno { return open("/proc/1/status", syscall.O_RDONLY) }},
	{"memory_of_parent", func(p *prey) syscall.Errno {
		return open("/proc/"+strconv.Itoa(int(p.parent))+"/mem", syscall.O_RDONLY)
	}},
	{"list_processes", func(*prey) syscall.Errno { return open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY) }},
	{"ptrace", func(p *prey) syscall.Errno { return call(syscall.SYS_PTRACE, syscall.PTRACE_ATTACH, p.parent) }},
	{"ptrace_me", func(*prey) syscall.Errno { return call(syscall.SYS_PTRACE, syscall.PTRACE_TRACEME) }},
	{"process_vm_read", func(p *prey) syscall.Errno {
		return call(sysProcessVMReadv, p.parent, ptr(&zeroes), 0, ptr(&zeroes), 0, 0)
	}},
	{"kill_parent", func(p *prey) syscall.Errno { return call(syscall.SYS_KILL, p.parent, 0) }},
	{"kill_everything", func(*prey) syscall.Errno { return call(syscall.SYS_KILL, ^uintptr(0), 0) }},
	{"kill_by_descriptor", func(p *prey) syscall.Errno { return call(sysPidfdOpen, p.parent, 0) }},
	{"signal_by_owner", func(p *prey) syscall.Errno { return call(syscall.SYS_FCNTL, 1, fSetown, p.parent) }},
	{"priority_of_parent", func(p *prey) syscall.Errno { return call(syscall.SYS_SETPRIORITY, 0, p.parent, 0) }},
	{"affinity_of_parent", func(p *prey) syscall.Errno { return call(syscall.SYS_SCHED_SETAFFINITY, p.parent, 8, ptr(&full)) }},
	{"limits_of_parent", func(p *prey) syscall.Errno {
		return call(syscall.SYS_PRLIMIT64, p.parent, syscall.RLIMIT_CORE, 0, ptr(&zeroes))
	}},

	{"fork", func(*prey) syscall.Errno { return fork(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD)) }},
	{"clone3", func(*prey) syscall.Errno { return call(sysClone3, 0, 0) }},
	{"exec_shell", func(*prey) syscall.Errno {
		// With no arguments at all a shell would end at once; the try is made last but
		// for a success nothing would be printed, which counts as one.
		sh, _ := syscall.BytePtrFromString("/bin/sh")
		return call(syscall.SYS_EXECVE, ptr(sh), 0, 0)
	}},
	{"memory_file", func(*prey) syscall.Errno { return call(sysMemfdCreate, ptr(&zeroes), 0) }},

	{"user_namespace", func(*prey) syscall.Errno { return call(syscall.SYS_UNSHARE, syscall.CLONE_NEWUSER) }},
	{"file_namespace", func(*prey) syscall.Errno { return call(syscall.SYS_UNSHARE, syscall.CLONE_NEWNS) }},
	{"join_namespace", func(*prey) syscall.Errno { return call(sysSetns, inputFD, 0) }},
	{"mount", func(*prey) syscall.Errno {
		return call(syscall.SYS_MOUNT, ptr(&zeroes), ptr(&zeroes), ptr(&zeroes), 0, 0)
	}},
	{"mount_new", func(*prey) syscall.Errno { return call(sysFsopen, ptr(&zeroes), 0) }},
	{"open_tree", func(p *prey) syscall.Errno { return call(sysOpenTree, atFdcwd, ptr(p.path), 1) }},
	{"chroot", func(*prey) syscall.Errno { return call(syscall.SYS_CHROOT, ptr(&zeroes)) }},
	{"bpf", func(*prey) syscall.Errno { return call(sysBpf, 0, ptr(&zeroes), 64) }},
	{"keyctl", func(*prey) syscall.Errno { return call(sysKeyctl, 0, ^uintptr(2), 0) }},
	{"add_key", func(*prey) syscall.Errno { return call(sysAddKey, ptr(&zeroes), ptr(&zeroes), 0, 0, ^uintptr(2)) }},
	{"io_uring", func(*prey) syscall.Errno { return call(sysIoUringSetup, 8, ptr(&zeroes)) }},
	{"userfaultfd", func(*prey) syscall.Errno { return call(sysUserfaultfd, 1) }},
	{"perf_event", func(*prey) syscall.Errno { return call(sysPerfEventOpen, ptr(&zeroes), 0, ^uintptr(0), ^uintptr(0), 0) }},
	{"kernel_module", func(*prey) syscall.Errno { return call(sysFinitModule, inputFD, ptr(&zeroes), 0) }},
	{"compare_kernel_objects", func(p *prey) syscall.Errno { return call(sysKcmp, p.parent, p.parent, 0, 0, 0) }},
	{"type_for_terminal", func(*prey) syscall.Errno { return call(syscall.SYS_IOCTL, 0, tiocsti, ptr(&zeroes)) }},
	{"set_user", func(*prey) syscall.Errno { return call(syscall.SYS_SETUID, 0) }},
	{"outlive_parent_signal", func(*prey) syscall.Errno { return call(syscall.SYS_PRCTL, prSetPdeathsig, 0) }},
	{"x32_call", func(*prey) syscall.Errno { return call(0x40000000 | syscall.SYS_GETPID) }},

	{"raise_limit", func(*prey) syscall.Errno {
		more := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		return call(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, ptr(&more), 0)
	}},
	{"many_files", func(*prey) syscall.Errno {
		for range 1 << 17 {
			if _, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0); err != nil {
				errno, _ := err.(syscall.Errno)
				return errno
			}
		}
		return 0
	}},
	{"much_memory", func(*prey) syscall.Errno {
		return call(syscall.SYS_MMAP, 0, 64<<30, 0, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_NORESERVE, ^uintptr(0), 0)
	}},
}

var full = ^uint64(0)
