#include "textflag.h"

// func sumRows(panel *[4]float32, n int, a, b, c, d *float32, sums *[4][4]float32)
//
// Four rows against one panel of four columns: each sum has its own lane of a
// register, so that it is made in the order, and rounded, as twoRows makes it. SSE
// alone, which every amd64 processor has.
TEXT ·sumRows(SB), NOSPLIT, $0-56
	MOVQ  panel+0(FP), SI
	MOVQ  n+8(FP), CX
	MOVQ  a+16(FP), R8
	MOVQ  b+24(FP), R9
	MOVQ  c+32(FP), R10
	MOVQ  d+40(FP), R11
	MOVQ  sums+48(FP), DI
	XORPS X0, X0
	XORPS X1, X1
	XORPS X2, X2
	XORPS X3, X3
	XORQ  AX, AX
	TESTQ CX, CX
	JLE   done

next:
	MOVUPS (SI), X4
	MOVSS  (R8)(AX*4), X5
	MOVSS  (R9)(AX*4), X6
	MOVSS  (R10)(AX*4), X7
	MOVSS  (R11)(AX*4), X8
	SHUFPS $0, X5, X5
	SHUFPS $0, X6, X6
	SHUFPS $0, X7, X7
	SHUFPS $0, X8, X8
	MULPS  X4, X5
	MULPS  X4, X6
	MULPS  X4, X7
	MULPS  X4, X8
	ADDPS  X5, X0
	ADDPS  X6, X1
	ADDPS  X7, X2
	ADDPS  X8, X3
	ADDQ   $16, SI
	INCQ   AX
	CMPQ   AX, CX
	JLT    next

done:
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	MOVUPS X2, 32(DI)
	MOVUPS X3, 48(DI)
	RET
