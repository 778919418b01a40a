#include "go_asm.h"
#include "textflag.h"

DATA laneNumbers<>+0(SB)/4, $0
DATA laneNumbers<>+4(SB)/4, $1
DATA laneNumbers<>+8(SB)/4, $2
DATA laneNumbers<>+12(SB)/4, $3
DATA laneNumbers<>+16(SB)/4, $4
DATA laneNumbers<>+20(SB)/4, $5
DATA laneNumbers<>+24(SB)/4, $6
DATA laneNumbers<>+28(SB)/4, $7
DATA laneNumbers<>+32(SB)/4, $8
DATA laneNumbers<>+36(SB)/4, $9
DATA laneNumbers<>+40(SB)/4, $10
DATA laneNumbers<>+44(SB)/4, $11
DATA laneNumbers<>+48(SB)/4, $12
DATA laneNumbers<>+52(SB)/4, $13
DATA laneNumbers<>+56(SB)/4, $14
DATA laneNumbers<>+60(SB)/4, $15
GLOBL laneNumbers<>(SB), RODATA|NOPTR, $64

// func shapeAccess512(a *access, lo, hi *lanes, b *bounds)
// R10 holds the mask of the lanes to come, R11 counts quarters, R12 walks
// over a.off.
TEXT ·shapeAccess512(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), DI
	MOVQ lo+8(FP), SI
	MOVQ hi+16(FP), DX
	MOVQ b+24(FP), R8
	VPBROADCASTD bounds_hi(R8), Z16
	VPBROADCASTD bounds_delta(R8), Z17
	VPBROADCASTD bounds_low(R8), Z18
	VPBROADCASTD bounds_span(R8), Z19
	VMOVDQU32 laneNumbers<>(SB), Z20
	MOVL access_size(DI), R13
	VPBROADCASTD R13, Z21
	VPMULLD Z20, Z21, Z21 // by lane: its distance from lane 0 in a run
	VPXORD Z22, Z22, Z22
	XORL R9, R9
	MOVQ access_mask(DI), R10
	XORL R11, R11
	LEAQ access_off(DI), R12
	MOVL R11, access_shape(DI) // shapeNone, of all quarters
	TESTQ R10, R10
	JZ   done
loop:
	MOVWLZX R10, AX
	TESTL AX, AX
	JZ   next
	KMOVW AX, K1
	VPADDD (SI), Z17, Z0
	VMOVDQU32 Z0, (R12)
	VPSUBD Z18, Z0, Z1
	VPCMPUD $6, Z19, Z1, K1, K2 // beyond the span
	KMOVW K2, BX
	ORL  BX, R9
	TESTQ DX, DX
	JZ   inside
	VPCMPUD $4, (DX), Z16, K1, K2 // another high dword
	KMOVW K2, BX
	ORL  BX, R9
inside:
	VPORD Z0, Z22, K1, Z22
	BSFL AX, CX
	VPBROADCASTD (SI)(CX*4), Z2
	VPADDD Z17, Z2, Z2 // offset of the first active lane
	VPCMPUD $4, Z0, Z2, K1, K2
	KORTESTW K2, K2
	JZ   same
	IMULL R13, CX
	VPBROADCASTD CX, Z3
	VPSUBD Z3, Z2, Z2
	VPSUBD Z21, Z0, Z3
	VPCMPUD $4, Z3, Z2, K1, K2
	KORTESTW K2, K2
	JZ   run
	MOVB $const_shapeMixed, access_shape(DI)(R11*1)
	JMP  next
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
	VEXTRACTI64X4 $1, Z22, Y0
	VPORD Y22, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPOR X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPOR X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPOR X1, X0, X0
	VMOVD X0, access_bits(DI)
	MOVL R9, access_outer(DI)
	VZEROUPPER
	RET

// func loadDwords512(d *lanes, data *byte, a *access, more uint32)
TEXT ·loadDwords512(SB), NOSPLIT, $0-28
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
	KMOVW R10, K1
	CMPL BX, $const_shapeRun
	JB   even
	JNE  mixed
	CMPL access_size(DX), $4
	JNE  mixed
	VMOVDQU32.Z (SI)(CX*1), K1, Z0
	JMP  write
even:
	TESTL BX, BX
	JZ   next
	VPBROADCASTD (SI)(CX*1), Z0
	JMP  write
mixed:
	VMOVDQU32 (R12), Z1
	KMOVW K1, K2
	VPXORD Z0, Z0, Z0
	VPGATHERDD (SI)(Z1*1), K2, Z0
write:
	VMOVDQU32 Z0, K1, (DI)
next:
	ADDQ $64, DI
	ADDQ $64, R12
	INCL R11
	SHRQ $16, R10
	JNZ  loop
	VZEROUPPER
	RET

// func storeDwords512(s *lanes, data *byte, a *access, more uint32)
// Of lanes at one address the highest wins.
TEXT ·storeDwords512(SB), NOSPLIT, $0-28
	MOVQ s+0(FP), DI
	MOVQ data+8(FP), SI
	MOVQ a+16(FP), DX
	MOVL more+24(FP), AX
	ADDQ AX, SI
	MOVQ access_mask(DX), R10
	XORL R11, R11
	LEAQ access_off(DX), R12
loop:
	MOVBLZX access_shape(DX)(R11*1), BX
	TESTL BX, BX
	JZ   next
	KMOVW R10, K1
	VMOVDQU32 (DI), Z0
	CMPL BX, $const_shapeRun
	JNE  mixed
	CMPL access_size(DX), $4
	JNE  mixed
	MOVLQSX access_at(DX)(R11*4), CX
	VMOVDQU32 Z0, K1, (SI)(CX*1)
	JMP  next
mixed:
	VMOVDQU32 (R12), Z1
	VPSCATTERDD Z0, K1, (SI)(Z1*1)
next:
	ADDQ $64, DI
	ADDQ $64, R12
	INCL R11
	SHRQ $16, R10
	JNZ  loop
	VZEROUPPER
	RET
