#include "textflag.h"

// func int80(nr uintptr) uintptr
// A system call by the 32-bit gate.
TEXT ·int80(SB), NOSPLIT, $0-16
	MOVQ nr+0(FP), AX
	XORL BX, BX
	XORL CX, CX
	XORL DX, DX
	INT  $0x80
	MOVQ AX, ret+8(FP)
	RET
