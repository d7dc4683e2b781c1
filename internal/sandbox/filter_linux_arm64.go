package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// nativeCalls are those that are named differently elsewhere.
var nativeCalls = []uint32{unix.SYS_FSTATAT}
