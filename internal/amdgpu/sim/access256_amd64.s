#include "go_asm.h"
#include "textflag.h"

// The forms of access_amd64.s for AVX2: a quarter of 16 lanes is two
// registers, and its mask two more.

DATA laneNumbers16<>+0(SB)/8, $0x0000000100000000
DATA laneNumbers16<>+8(SB)/8, $0x0000000300000002
DATA laneNumbers16<>+16(SB)/8, $0x0000000500000004
DATA laneNumbers16<>+24(SB)/8, $0x0000000700000006
DATA laneNumbers16<>+32(SB)/8, $0x0000000900000008
DATA laneNumbers16<>+40(SB)/8, $0x0000000b0000000a
DATA laneNumbers16<>+48(SB)/8, $0x0000000d0000000c
DATA laneNumbers16<>+56(SB)/8, $0x0000000f0000000e
GLOBL laneNumbers16<>(SB), RODATA|NOPTR, $64

DATA laneBits16<>+0(SB)/8, $0x0000000200000001
DATA laneBits16<>+8(SB)/8, $0x0000000800000004
DATA laneBits16<>+16(SB)/8, $0x0000002000000010
DATA laneBits16<>+24(SB)/8, $0x0000008000000040
DATA laneBits16<>+32(SB)/8, $0x0000020000000100
DATA laneBits16<>+40(SB)/8, $0x0000080000000400
DATA laneBits16<>+48(SB)/8, $0x0000200000001000
DATA laneBits16<>+56(SB)/8, $0x0000800000004000
GLOBL laneBits16<>(SB), RODATA|NOPTR, $64

// MASK sets Y10 and Y11 in the lanes of AX, a quarter's.
#define MASK \
	VMOVD AX, X10 \
	VPBROADCASTD X10, Y10 \
	VPAND laneBits16<>+32(SB), Y10, Y11 \
	VPAND laneBits16<>+0(SB), Y10, Y10 \
	VPCMPEQD laneBits16<>+32(SB), Y11, Y11 \
	VPCMPEQD laneBits16<>+0(SB), Y10, Y10

// func shapeAccess256(a *access, lo, hi *lanes, b *bounds)
// R10 holds the mask of the lanes to come, R11 counts quarters, R12 walks
// over a.off. Y8 collects what is outside, Y9 all offsets.
TEXT ·shapeAccess256(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), DI
	MOVQ lo+8(FP), SI
	MOVQ hi+16(FP), DX
	MOVQ b+24(FP), R8
	VPBROADCASTD bounds_hi(R8), Y12
	VPBROADCASTD bounds_delta(R8), Y13
	VPBROADCASTD bounds_low(R8), Y14
	VPBROADCASTD bounds_span(R8), Y15
	MOVL access_size(DI), R13
	VPBROADCASTD access_size(DI), Y7
	VPMULLD laneNumbers16<>+0(SB), Y7, Y6 // by lane: its distance from lane 0 in a run
	VPMULLD laneNumbers16<>+32(SB), Y7, Y7
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	MOVQ access_mask(DI), R10
	XORL R11, R11
	LEAQ access_off(DI), R12
	MOVL $0, access_shape(DI) // shapeNone, of all quarters
	TESTQ R10, R10
	JZ   done
loop:
	MOVWLZX R10, AX
	TESTL AX, AX
	JZ   next
	VPADDD (SI), Y13, Y0
	VPADDD 32(SI), Y13, Y1
	VMOVDQU Y0, (R12)
	VMOVDQU Y1, 32(R12)
	BSFL AX, CX
	VPBROADCASTD (SI)(CX*4), Y2
	VPADDD Y13, Y2, Y2 // offset of the first active lane
	CMPL AX, $0xffff
	JNE  part
	VPCMPEQD Y10, Y10, Y10
	VMOVDQA Y10, Y11
masked:
	VPSUBD Y14, Y0, Y3
	VPSUBD Y14, Y1, Y4
	VPMINUD Y15, Y3, Y5
	VPCMPEQD Y3, Y5, Y3 // within the span
	VPMINUD Y15, Y4, Y5
	VPCMPEQD Y4, Y5, Y4
	TESTQ DX, DX
	JZ   low
	VPCMPEQD (DX), Y12, Y5 // the same high dword
	VPAND Y5, Y3, Y3
	VPCMPEQD 32(DX), Y12, Y5
	VPAND Y5, Y4, Y4
low:
	VPANDN Y10, Y3, Y3
	VPANDN Y11, Y4, Y4
	VPOR Y3, Y8, Y8
	VPOR Y4, Y8, Y8
	VPAND Y10, Y0, Y3
	VPAND Y11, Y1, Y4
	VPOR Y3, Y9, Y9
	VPOR Y4, Y9, Y9
	VPCMPEQD Y0, Y2, Y3
	VPCMPEQD Y1, Y2, Y4
	VPANDN Y10, Y3, Y3
	VPANDN Y11, Y4, Y4
	VPOR Y4, Y3, Y3
	VPTEST Y3, Y3
	JZ   same
	IMULL R13, CX
	VMOVD CX, X3
	VPSUBD X3, X2, X2
	VPBROADCASTD X2, Y2
	VPSUBD Y6, Y0, Y3
	VPSUBD Y7, Y1, Y4
	VPCMPEQD Y3, Y2, Y3
	VPCMPEQD Y4, Y2, Y4
	VPANDN Y10, Y3, Y3
	VPANDN Y11, Y4, Y4
	VPOR Y4, Y3, Y3
	VPTEST Y3, Y3
	JZ   run
	MOVB $const_shapeMixed, access_shape(DI)(R11*1)
	JMP  next
part:
	MASK
	JMP  masked
same:
	VMOVD X2, access_at(DI)(R11*4)
	MOVB $const_shapeSame, access_shape(DI)(R11*1)
	JMP  next
run:
	VMOVD X2, access_at(DI)(R11*4)
	MOVB $const_shapeRun, access_shape(DI)(R11*1)
next:
	ADDQ $64, SI
	ADDQ $64, R12
	MOVQ DX, AX
	ADDQ $64, AX
	TESTQ DX, DX
	CMOVQNE AX, DX
	INCL R11
	SHRQ $16, R10
	JNZ  loop
done:
	VEXTRACTI128 $1, Y9, X1
	VPOR X1, X9, X0
	VPSHUFD $0x4e, X0, X1
	VPOR X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPOR X1, X0, X0
	VMOVD X0, access_bits(DI)
	VMOVMSKPS Y8, AX
	MOVL AX, access_outer(DI)
	VZEROUPPER
	RET

// func loadDwords256(d *lanes, data *byte, a *access, more uint32)
TEXT ·loadDwords256(SB), NOSPLIT, $0-28
	MOVQ d+0(FP), DI
	MOVQ data+8(FP), SI
	MOVQ a+16(FP), DX
	MOVL more+24(FP), AX
	ADDQ AX, SI
	MOVQ access_mask(DX), R10
	XORL R11, R11
	LEAQ access_off(DX), R12
loop:
	MOVBLZX access_shape(DX)(R11*1), BX
	MOVLQSX access_at(DX)(R11*4), CX
	MOVWLZX R10, AX
	CMPL AX, $0xffff
	JNE  part
	CMPL BX, $const_shapeRun
	JB   even
	JNE  mixed
	CMPL access_size(DX), $4
	JNE  mixed
	VMOVDQU (SI)(CX*1), Y0
	VMOVDQU 32(SI)(CX*1), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	JMP  next
even:
	VPBROADCASTD (SI)(CX*1), Y0
	VMOVDQU Y0, (DI)
	VMOVDQU Y0, 32(DI)
	JMP  next
mixed:
	VPCMPEQD Y10, Y10, Y10
	VMOVDQA Y10, Y11
gather:
	VMOVDQU (DI), Y0
	VMOVDQU 32(DI), Y1
	VMOVDQU (R12), Y2
	VMOVDQU 32(R12), Y3
	VPGATHERDD Y10, (SI)(Y2*1), Y0
	VPGATHERDD Y11, (SI)(Y3*1), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	JMP  next
part:
	TESTL AX, AX
	JZ   next
	MASK
	CMPL BX, $const_shapeRun
	JB   evenPart
	JNE  gather
	CMPL access_size(DX), $4
	JNE  gather
	VPMASKMOVD (SI)(CX*1), Y10, Y0
	VPMASKMOVD 32(SI)(CX*1), Y11, Y1
	JMP  blend
evenPart:
	VPBROADCASTD (SI)(CX*1), Y0
	VMOVDQA Y0, Y1
blend:
	VMOVDQU (DI), Y2
	VMOVDQU 32(DI), Y3
	VBLENDVPS Y10, Y0, Y2, Y2
	VBLENDVPS Y11, Y1, Y3, Y3
	VMOVDQU Y2, (DI)
	VMOVDQU Y3, 32(DI)
next:
	ADDQ $64, DI
	ADDQ $64, R12
	INCL R11
	SHRQ $16, R10
	JNZ  loop
	VZEROUPPER
	RET

// func storeDwords256(s *lanes, data *byte, a *access, more uint32)
// Of lanes at one address the highest wins.
TEXT ·storeDwords256(SB), NOSPLIT, $0-28
	MOVQ s+0(FP), DI
	MOVQ data+8(FP), SI
	MOVQ a+16(FP), DX
	MOVL more+24(FP), AX
	ADDQ AX, SI
	MOVQ access_mask(DX), R10
	XORL R11, R11
	LEAQ access_off(DX), R12
loop:
	MOVWLZX R10, AX
	TESTL AX, AX
	JZ   next
	MOVBLZX access_shape(DX)(R11*1), BX
	CMPL BX, $const_shapeRun
	JNE  mixed
	CMPL access_size(DX), $4
	JNE  mixed
	MOVLQSX access_at(DX)(R11*4), CX
	VMOVDQU (DI), Y0
	VMOVDQU 32(DI), Y1
	CMPL AX, $0xffff
	JNE  part
	VMOVDQU Y0, (SI)(CX*1)
	VMOVDQU Y1, 32(SI)(CX*1)
	JMP  next
part:
	MASK
	VPMASKMOVD Y0, Y10, (SI)(CX*1)
	VPMASKMOVD Y1, Y11, 32(SI)(CX*1)
	JMP  next
mixed:
	BSFL AX, CX
	MOVL (R12)(CX*4), R8
	MOVL (DI)(CX*4), R9
	MOVL R9, (SI)(R8*1)
	LEAL -1(AX), BX
	ANDL BX, AX
	JNZ  mixed
next:
	ADDQ $64, DI
	ADDQ $64, R12
	INCL R11
	SHRQ $16, R10
	JNZ  loop
	VZEROUPPER
	RET
