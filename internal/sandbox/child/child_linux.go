//go:build linux && (amd64 || arm64)

package child

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// The numbers of Linux that package syscall lacks. Calls from 424 on have one
// number on every architecture.
const (
	sysLandlockRestrictSelf = 446
	sysCloseRange           = 436

	closeRangeCloexec = 1 << 2
	atEmptyPath       = 0x1000

	prSetPdeathsig    = 1
	prSetSeccomp      = 22
	prCapbsetDrop     = 24
	prSetSecurebits   = 28
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	prAmbientRaise    = 2
	prAmbientClearAll = 4
	seccompFilterMode = 2

	// noroot, no setuid fixup, no ambient raise, each locked (capabilities(7)).
	securebits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7

	capVersion3 = 0x20080522
	lastCap     = 63
	keepSetpcap = 1 << 8 // CAP_SETPCAP, until the secure bits are set
)

// The repository's one init: when the binary was started under a private name it
// never reaches main.
func init() {
	if len(os.Args) == 0 {
		return
	}
	switch os.Args[0] {
	case HelperName:
		helper()
	case AttemptName:
		attempt(os.Args[1:])
	}
}

// fault is a step of the helper that failed.
type fault struct {
	step string
	err  syscall.Errno
}

// helper does what its order says and does not return. Package initialisation runs
// on the locked main thread, so what restricts one thread only (Landlock, seccomp
// without TSYNC, the parent-death signal) holds for the program that takes this
// thread's place; exec ends all others.
func helper() {
	status := 2
	fail := func(f *fault) {
		msg := f.step + ": " + strconv.Itoa(int(f.err))
		_, _ = syscall.Write(status, []byte(msg))
		syscall.Exit(126)
	}
	if len(os.Args) != 2 {
		syscall.Exit(126)
	}
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil {
		syscall.Exit(126)
	}
	o, ok := readOrder(fd)
	if !ok {
		syscall.Exit(126)
	}
	status = o.Status
	// What the program gets is made ready first: under the limits there may be no
	// memory left for it.
	exe, errExe := newProgram(o)
	if errExe != nil {
		fail(errExe)
	}
	if f := o.lockIn(fd, exe); f != nil {
		fail(f)
	}
	if o.Exe < 0 {
		syscall.Exit(0)
	}
	_, _, errno := syscall.RawSyscall6(sysExecveat, uintptr(o.Exe), uintptr(unsafe.Pointer(exe.empty)),
		uintptr(unsafe.Pointer(&exe.argv[0])), uintptr(unsafe.Pointer(&exe.env[0])), atEmptyPath, 0)
	fail(&fault{"exec", errno})
}

// readOrder reads the order, whose length comes first.
func readOrder(fd int) (*Order, bool) {
	var head [4]byte
	if !readFull(fd, head[:]) {
		return nil, false
	}
	n := int(head[0])<<24 | int(head[1])<<16 | int(head[2])<<8 | int(head[3])
	if n > 4<<20 {
		return nil, false
	}
	body := make([]byte, n)
	if !readFull(fd, body) {
		return nil, false
	}
	o, err := Decode(body)
	return o, err == nil
}

func readFull(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := syscall.Read(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// program is what execveat takes, and the seccomp programs, in the kernel's form.
type program struct {
	empty     *byte
	argv, env []*byte
	filters   []sockFprog
}

// sockFprog is struct sock_fprog of <linux/filter.h>.
type sockFprog struct {
	length uint16
	filter *byte
}

func newProgram(o *Order) (*program, *fault) {
	p := &program{}
	var err error
	if p.empty, err = syscall.BytePtrFromString(""); err != nil {
		return nil, &fault{"arguments", syscall.EINVAL}
	}
	if p.argv, err = syscall.SlicePtrFromStrings(o.Args); err != nil || len(o.Args) == 0 && o.Exe >= 0 {
		return nil, &fault{"arguments", syscall.EINVAL}
	}
	if p.env, err = syscall.SlicePtrFromStrings(o.Env); err != nil {
		return nil, &fault{"environment", syscall.EINVAL}
	}
	for _, f := range o.Filters {
		if len(f) == 0 || len(f)%8 != 0 || len(f)/8 > 4096 {
			return nil, &fault{"seccomp", syscall.EINVAL}
		}
		markPid(f, o.PidMark, uint32(syscall.Getpid()))
		p.filters = append(p.filters, sockFprog{uint16(len(f) / 8), &f[0]})
	}
	return p, nil
}

// markPid puts pid where an instruction's constant (the last four of its eight
// bytes, in the machine's order) is mark.
func markPid(filter []byte, mark, pid uint32) {
	for i := 4; i+4 <= len(filter); i += 8 {
		if k := (*uint32)(unsafe.Pointer(&filter[i])); *k == mark {
			*k = pid
		}
	}
}

// lockIn puts every layer in force. The order is that of what each step still
// needs: limits last before the filters, because the Go runtime may not survive
// them for long.
func (o *Order) lockIn(lifeline int, p *program) *fault {
	if errno := prctl(prSetPdeathsig, uintptr(syscall.SIGKILL)); errno != 0 {
		return &fault{"parent-death signal", errno}
	}
	// The parent may have died before that. In a process-id namespace getppid is 0
	// whoever lives, so the pipe whose other end the parent holds has the word.
	if hungUp(lifeline) {
		syscall.Exit(126)
	}
	if f := closeOthers(o, lifeline); f != nil {
		return f
	}
	syscall.Umask(0o077)
	if f := dropCapabilities(o.KeepCaps); f != nil {
		return f
	}
	if errno := prctl(prSetNoNewPrivs, 1); errno != 0 {
		return &fault{"no_new_privs", errno}
	}
	if _, _, errno := syscall.RawSyscall(sysLandlockRestrictSelf, uintptr(o.Ruleset), 0, 0); errno != 0 {
		return &fault{"landlock", errno}
	}
	for _, l := range o.Limits {
		if f := limit(l); f != nil {
			return f
		}
	}
	for i := range p.filters {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetSeccomp, seccompFilterMode,
			uintptr(unsafe.Pointer(&p.filters[i])), 0, 0, 0); errno != 0 {
			return &fault{"seccomp", errno}
		}
	}
	return nil
}

func prctl(op, arg uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, op, arg, 0, 0, 0, 0)
	return errno
}

// hungUp reports whether the other end of the pipe fd is closed.
func hungUp(fd int) bool {
	p := struct {
		fd      int32
		events  int16
		revents int16
	}{fd: int32(fd)}
	var zero syscall.Timespec
	n, _, _ := syscall.RawSyscall6(sysPpoll, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&zero)), 0, 0, 0)
	return n == 1 && p.revents != 0
}

// closeOthers sees to it that the program inherits nothing but what it is given:
// not our own descriptors, and none that our parent left open in us.
func closeOthers(o *Order, lifeline int) *fault {
	for _, fd := range []int{o.Exe, o.Ruleset, o.Status, lifeline} {
		if fd >= 0 {
			syscall.CloseOnExec(fd)
		}
	}
	_, _, errno := syscall.RawSyscall(sysCloseRange, uintptr(o.Keep), ^uintptr(0)>>32, closeRangeCloexec)
	if errno == 0 {
		return nil
	}
	// Before Linux 5.11: one by one. The hard limit bounds the numbers.
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return &fault{"descriptors", errno}
	}
	for fd := o.Keep; uint64(fd) < min(lim.Max, 1<<20); fd++ {
		syscall.CloseOnExec(fd)
	}
	return nil
}

// dropCapabilities leaves those of keep and no other in any set. Without CAP_SETPCAP
// the bounding set stays, which no_new_privs makes harmless.
func dropCapabilities(keep uint32) *fault {
	for c := range uintptr(lastCap + 1) {
		if c < 32 && keep>>c&1 == 1 {
			continue
		}
		if prctl(prCapbsetDrop, c) != 0 {
			break
		}
	}
	if f := setCapabilities(keep, keep|keepSetpcap); f != nil {
		// Without CAP_SETPCAP in the first place.
		if f := setCapabilities(keep, keep); f != nil {
			return f
		}
	}
	syscall.RawSyscall6(syscall.SYS_PRCTL, prCapAmbient, prAmbientClearAll, 0, 0, 0, 0)
	for c := range uintptr(32) {
		if keep>>c&1 == 0 {
			continue
		}
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prCapAmbient, prAmbientRaise, c, 0, 0, 0); errno != 0 {
			return &fault{"capabilities", errno}
		}
	}
	prctl(prSetSecurebits, securebits)
	return setCapabilities(keep, keep)
}

// setCapabilities sets the inheritable set, and the permitted and effective ones.
func setCapabilities(inheritable, effective uint32) *fault {
	header := struct {
		version uint32
		pid     int32
	}{version: capVersion3}
	sets := [6]uint32{effective, effective, inheritable}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0); errno != 0 {
		return &fault{"capabilities", errno}
	}
	return nil
}

// limit sets one resource limit; one that is lower already stays.
func limit(l Limit) *fault {
	var now, want syscall.Rlimit
	want.Cur, want.Max = l.Value, l.Value
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(l.Resource), 0, uintptr(unsafe.Pointer(&now)), 0, 0); errno != 0 {
		return &fault{"limits", errno}
	}
	if now.Max < l.Value {
		want.Cur, want.Max = now.Max, now.Max
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(l.Resource), uintptr(unsafe.Pointer(&want)), 0, 0, 0); errno != 0 {
		return &fault{"limits", errno}
	}
	return nil
}
