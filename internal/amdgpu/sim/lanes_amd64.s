#include "textflag.h"

// Each function walks over n lanes, eight at a time. CX holds the mask of
// active lanes, its low byte those of the eight at hand; Y15 has bit i of
// that byte in dword i, to make a mask vector.

DATA laneBits<>+0(SB)/4, $1
DATA laneBits<>+4(SB)/4, $2
DATA laneBits<>+8(SB)/4, $4
DATA laneBits<>+12(SB)/4, $8
DATA laneBits<>+16(SB)/4, $16
DATA laneBits<>+20(SB)/4, $32
DATA laneBits<>+24(SB)/4, $64
DATA laneBits<>+28(SB)/4, $128
GLOBL laneBits<>(SB), RODATA|NOPTR, $32

#define ARGS2 \
	MOVQ d+0(FP), DI \
	MOVQ a+8(FP), SI \
	MOVQ b+16(FP), DX \
	MOVQ exec+24(FP), CX \
	MOVQ n+32(FP), R8 \
	VMOVDQU laneBits<>(SB), Y15

// STORE writes Y0 to the active lanes at DI.
#define STORE(part, next) \
	CMPB CX, $0xff \
	JNE  part \
	VMOVUPS Y0, (DI) \
	JMP  next

#define PART \
	VMOVD CX, X1 \
	VPBROADCASTB X1, Y1 \
	VPAND Y15, Y1, Y1 \
	VPCMPEQD Y15, Y1, Y1 \
	VMOVUPS (DI), Y2 \
	VBLENDVPS Y1, Y0, Y2, Y2 \
	VMOVUPS Y2, (DI)

#define NEXT2(loop) \
	ADDQ $32, DI \
	ADDQ $32, SI \
	ADDQ $32, DX \
	SHRQ $8, CX \
	SUBQ $8, R8 \
	JNZ  loop

// Carries. CX holds the carries in, R11 collects those out and turns by a byte for
// each eight lanes. What is added is Y1, -1 where there is a carry in.

#define CARRYARGS \
	MOVQ d+0(FP), DI \
	MOVQ a+8(FP), SI \
	MOVQ b+16(FP), DX \
	MOVQ n+24(FP), R8 \
	MOVQ in+32(FP), CX \
	VMOVDQU laneBits<>(SB), Y15 \
	VPCMPEQD Y13, Y13, Y13 \
	VPXOR Y12, Y12, Y12 \
	MOVQ R8, R12 \
	XORQ R11, R11

#define CARRYIN \
	VMOVD CX, X1 \
	VPBROADCASTB X1, Y1 \
	VPAND Y15, Y1, Y1 \
	VPCMPEQD Y15, Y1, Y1

// CARRYOUT notes the carries: where Y5 is not set, or Y6 and Y1 are.
#define CARRYOUT \
	VPANDN Y13, Y5, Y5 \
	VPAND Y1, Y6, Y6 \
	VPOR Y6, Y5, Y5 \
	VMOVMSKPS Y5, AX \
	ORQ  AX, R11 \
	RORQ $8, R11 \
	VMOVDQU Y2, (DI)

// func addAVX(d, a, b *lanes, exec uint64, n int)
TEXT ·addAVX(SB), NOSPLIT, $0-40
	ARGS2
loop:
	VMOVUPS (SI), Y0
	VADDPS (DX), Y0, Y0
	STORE(part, next)
part:
	PART
next:
	NEXT2(loop)
	VZEROUPPER
	RET

// func subAVX(d, a, b *lanes, exec uint64, n int)
TEXT ·subAVX(SB), NOSPLIT, $0-40
	ARGS2
loop:
	VMOVUPS (SI), Y0
	VSUBPS (DX), Y0, Y0
	STORE(part, next)
part:
	PART
next:
	NEXT2(loop)
	VZEROUPPER
	RET

// func mulAVX(d, a, b *lanes, exec uint64, n int)
TEXT ·mulAVX(SB), NOSPLIT, $0-40
	ARGS2
loop:
	VMOVUPS (SI), Y0
	VMULPS (DX), Y0, Y0
	STORE(part, next)
part:
	PART
next:
	NEXT2(loop)
	VZEROUPPER
	RET

// The functions below leave active lanes whose result would be a NaN as they
// are and return them in R11, which turns by a byte for each eight lanes.
// Y3 is the mask of these lanes.

#define NANS(part) \
	VMOVMSKPS Y3, AX \
	ANDL CX, AX \
	ANDL $0xff, AX \
	ORQ  AX, R11 \
	RORQ $8, R11 \
	XORL CX, AX \
	CMPB AX, $0xff \
	JNE  part \
	VMOVUPS Y0, (DI)

// NANPART is PART with the lanes in AX.
#define NANPART \
	VMOVD AX, X1 \
	VPBROADCASTB X1, Y1 \
	VPAND Y15, Y1, Y1 \
	VPCMPEQD Y15, Y1, Y1 \
	VMOVUPS (DI), Y2 \
	VBLENDVPS Y1, Y0, Y2, Y2 \
	VMOVUPS Y2, (DI)

// RETNANS returns R11, with a wave of 32 lanes moved down.
#define RETNANS(ret, label) \
	CMPQ R12, $64 \
	JEQ  label \
	SHRQ $32, R11 \
label: \
	MOVQ R11, ret \
	VZEROUPPER \
	RET

// func minAVX(d, a, b *lanes, exec uint64, n int) (nans uint64)
TEXT ·minAVX(SB), NOSPLIT, $0-48
	ARGS2
	MOVQ R8, R12
	XORQ R11, R11
loop:
	VMOVUPS (SI), Y4
	VMOVUPS (DX), Y5
	VMINPS Y5, Y4, Y0
	VMINPS Y4, Y5, Y6
	VORPS Y6, Y0, Y0
	VCMPPS $3, Y5, Y4, Y3
	NANS(part)
	JMP next
part:
	NANPART
next:
	NEXT2(loop)
	RETNANS(nans+40(FP), done)

// func maxAVX(d, a, b *lanes, exec uint64, n int) (nans uint64)
TEXT ·maxAVX(SB), NOSPLIT, $0-48
	ARGS2
	MOVQ R8, R12
	XORQ R11, R11
loop:
	VMOVUPS (SI), Y4
	VMOVUPS (DX), Y5
	VMAXPS Y5, Y4, Y0
	VMAXPS Y4, Y5, Y6
	VANDPS Y6, Y0, Y0
	VCMPPS $3, Y5, Y4, Y3
	NANS(part)
	JMP next
part:
	NANPART
next:
	NEXT2(loop)
	RETNANS(nans+40(FP), done)

// func fmaAVX(d, a, b, c *lanes, exec uint64, n int) (nans uint64)
TEXT ·fmaAVX(SB), NOSPLIT, $0-56
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), R9
	MOVQ exec+32(FP), CX
	MOVQ n+40(FP), R8
	VMOVDQU laneBits<>(SB), Y15
	MOVQ R8, R12
	XORQ R11, R11
loop:
	VMOVUPS (SI), Y4
	VMOVUPS (R9), Y0
	VFMADD231PS (DX), Y4, Y0
	VCMPPS $3, Y0, Y0, Y3
	NANS(part)
	JMP next
part:
	NANPART
next:
	ADDQ $32, R9
	NEXT2(loop)
	RETNANS(nans+48(FP), done)

// func wideAVX(d, a *lanes, exec uint64, n int)
// The f32 of the f16 in the low halves.
TEXT ·wideAVX(SB), NOSPLIT, $0-32
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ exec+16(FP), CX
	MOVQ n+24(FP), R8
	VMOVDQU laneBits<>(SB), Y15
	VPCMPEQD Y14, Y14, Y14
	VPSRLD $16, Y14, Y14
loop:
	VPAND (SI), Y14, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKUSDW X1, X0, X0
	VCVTPH2PS X0, Y0
	STORE(part, next)
part:
	PART
next:
	ADDQ $32, DI
	ADDQ $32, SI
	SHRQ $8, CX
	SUBQ $8, R8
	JNZ  loop
	VZEROUPPER
	RET

// func narrowAVX(d, a *lanes, exec uint64, n int)
// The f16 nearest to f32, in the low halves, with zeros above.
TEXT ·narrowAVX(SB), NOSPLIT, $0-32
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ exec+16(FP), CX
	MOVQ n+24(FP), R8
	VMOVDQU laneBits<>(SB), Y15
loop:
	VMOVUPS (SI), Y0
	VCVTPS2PH $0, Y0, X0
	VPMOVZXWD X0, Y0
	STORE(part, next)
part:
	PART
next:
	ADDQ $32, DI
	ADDQ $32, SI
	SHRQ $8, CX
	SUBQ $8, R8
	JNZ  loop
	VZEROUPPER
	RET

// func carryAddAVX(d, a, b *lanes, n int, in uint64) (out uint64)
TEXT ·carryAddAVX(SB), NOSPLIT, $0-48
	CARRYARGS
loop:
	CARRYIN
	VMOVDQU (SI), Y4
	VPADDD (DX), Y4, Y0
	VPSUBD Y1, Y0, Y2
	VPMINUD Y4, Y0, Y5
	VPCMPEQD Y4, Y5, Y5 // the sum is no less than a
	VPCMPEQD Y12, Y2, Y6 // the carry in made it 0
	CARRYOUT
	NEXT2(loop)
	RETNANS(out+40(FP), done)

// func carrySubAVX(d, a, b *lanes, n int, in uint64) (out uint64)
TEXT ·carrySubAVX(SB), NOSPLIT, $0-48
	CARRYARGS
loop:
	CARRYIN
	VMOVDQU (SI), Y4
	VMOVDQU (DX), Y3
	VPSUBD Y3, Y4, Y0
	VPADDD Y1, Y0, Y2
	VPMINUD Y4, Y3, Y5
	VPCMPEQD Y3, Y5, Y5 // b is no greater than a
	VPCMPEQD Y12, Y0, Y6 // the borrow in goes below 0
	CARRYOUT
	NEXT2(loop)
	RETNANS(out+40(FP), done)
