package isa

//go:generate go run ./gen -dir .

// An opRow is what the generated tables say of one opcode of one table.
type opRow struct {
	name   string
	suffix uint8
	defs   uint8 // leading operands that are written
	n      uint8 // operands printed
	flags  uint16
	mask   uint64 // bits that must equal val, beside prefix and opcode
	val    uint64
	live   uint64 // further bits that have a meaning here
	ops    [6]opnd
}

// An opnd is one printed operand.
type opnd struct {
	field uint8
	class uint8 // index into the architecture's classes; for implied registers the width
	acc   uint8 // bit that turns VGPRs into AGPRs, 0 for none
}

// An operandClass says what a field can hold.
type operandClass struct {
	kind   uint8
	scale  uint8 // registers per step of the field
	width  uint8 // dwords of a vector register
	swidth uint8 // dwords of a scalar one
	typ    Type
	ok     [16]uint32 // accepted values
	bad    [16]uint32 // accepted values on which LLVM remarks
	reg    string     // the register class that the remark names
}

// Class kinds.
const (
	classSrc   uint8 = iota // scalar registers, constants, from 256 up VGPRs
	classV                  // VGPRs
	classA                  // AGPRs
	classAttr               // interpolation attribute
	classParam              // interpolation parameter
	classMsg                // message number of s_sendmsg_rtn
	classImm                // small number
	classIdx                // mode of s_set_gpr_idx_on
	classV16                // halves of v0 to v127
	classSrc16              // as classSrc, with halves from 256 up
	classSrcA               // as classSrc, with AGPRs from 256 up
)

// Name suffixes.
const (
	sufNone uint8 = iota
	sufE32
	sufE64
	sufSDWA
	sufDPP
	sufE64DPP
)

var suffixes = [...]string{"", "_e32", "_e64", "_sdwa", "_dpp", "_e64_dpp"}

// Row flags.
const (
	rowOffset01 uint16 = 1 << iota // DS: two 8-bit offsets
	rowAtomic                      // read-modify-write of memory
	rowLDS                         // loads to LDS
	rowGap                         // image: two spaces before a list of addresses
	rowHex                         // SOPP: the immediate is hexadecimal
	rowInline                      // SOPP: the immediate prints as a source would
	rowDP                          // DPP of doubles
	rowPermlane                    // op_sel is fi and bound_ctrl
	rowSext                        // neg of sources 1 and 2 prints as sext
	rowSext0                       // neg of source 0 does
	rowBVH                         // ray tracing
	rowMFMA                        // matrix instruction: cbsz, abid, blgp in Inst.Imm
	rowMix                         // v_fma_mix, v_mad_mix: neg_hi is abs
)

// Fields that operands come from. The first need no bits.
const (
	fNONE uint8 = iota
	fLIT
	fVCC
	fEXEC
	fOFF
	fM0
	fNULL
	fSCC
	fLDSDIRECT
	fIMM
	fSDST
	fSSRC0
	fSSRC1
	fSRC0
	fVSRC1
	fVDST
	fVDST3
	fSDST3
	fSRC03
	fSRC13
	fSRC23
	fADDR
	fDATA0
	fDATA1
	fMDST
	fSADDR
	fVDATA
	fSRSRC
	fSOFFSET
	fSDATA
	fSBASE
	fSMOFF
	fSMOFF9
	fDPPSRC0
	fSDWASRC0
	fSDWASRC1
	fSDWASDST
	fIVSRC
	fIATTR
	fIVDST
	fDPP3SRC0
	fSSAMP
	numFields
)

// A bitField is a field's place in the first 64 bits.
type bitField struct {
	shift, bits uint8
}

var bitFields = [numFields]bitField{
	fSDST:     {16, 7},
	fSSRC0:    {0, 8},
	fSSRC1:    {8, 8},
	fSRC0:     {0, 9},
	fVSRC1:    {9, 8},
	fVDST:     {17, 8},
	fVDST3:    {0, 8},
	fSDST3:    {8, 7},
	fSRC03:    {32, 9},
	fSRC13:    {41, 9},
	fSRC23:    {50, 9},
	fADDR:     {32, 8},
	fDATA0:    {40, 8},
	fDATA1:    {48, 8},
	fMDST:     {56, 8},
	fSADDR:    {48, 7},
	fVDATA:    {40, 8},
	fSRSRC:    {48, 5},
	fSOFFSET:  {56, 8},
	fSDATA:    {6, 7},
	fSBASE:    {0, 6},
	fSMOFF:    {57, 7},
	fSMOFF9:   {32, 7},
	fDPPSRC0:  {32, 8},
	fSDWASDST: {40, 7},
	fIVSRC:    {0, 8},
	fIATTR:    {8, 8},
	fIVDST:    {18, 8},
	fSSAMP:    {53, 5}, // of gfx9 and gfx10
}

func modOf(f uint8) int {
	switch f {
	case fSRC03, fSDWASRC0, fDPPSRC0, fDPP3SRC0:
		return 0
	case fSRC13, fSDWASRC1, fVSRC1:
		return 1
	case fSRC23:
		return 2
	}
	return -1
}

// Tables, one for each encoding or variant of it.
const (
	tSOP2 uint8 = iota
	tSOPK
	tSOP1
	tSOPC
	tSOPP
	tVOP2
	tVOP1
	tVOPC
	tVOP2SDWA
	tVOP1SDWA
	tVOPCSDWA
	tVOP2DPP
	tVOP1DPP
	tVOPCDPP
	tVOP2DPP8
	tVOP1DPP8
	tVOPCDPP8
	tVOP3
	tVOP3P
	tVOP3DPP
	tVOP3DPP8
	tVOP3PDPP
	tVOP3PDPP8
	tVINTRP
	tVINTERP
	tLDSDIR
	tDS
	tFLAT // the names end in L for loads to LDS, in G for atomics that return
	tFLATG
	tGLOBAL
	tGLOBALL
	tGLOBALG
	tGLOBALS
	tGLOBALSL
	tGLOBALSG
	tSCRATCHS
	tSCRATCHSL
	tSCRATCH
	tSCRATCHL
	tSCRATCHST
	tSCRATCHSTL
	tSCRATCHSVS
	tMIMG
	tMUBUF
	tMUBUFE
	tMUBUFI
	tMUBUFB
	tMUBUFL
	tMUBUFLE
	tMUBUFLI
	tMUBUFLB
	tMTBUF
	tMTBUFE
	tMTBUFI
	tMTBUFB
	tMTBUFD
	tMTBUFDE
	tMTBUFDI
	tMTBUFDB
	tSMEMI
	tSMEMR
	tSMEMRE
	tSMEMB
	numTables
)

// tableInfo is what Decode fills in for a table.
var tableInfo = [numTables]struct {
	enc  Encoding
	form Form
	size uint8 // bytes without literal
}{
	tSOP2: {SOP2, Plain, 4}, tSOPK: {SOPK, Plain, 4}, tSOP1: {SOP1, Plain, 4}, tSOPC: {SOPC, Plain, 4}, tSOPP: {SOPP, Plain, 4},
	tVOP2: {VOP2, Plain, 4}, tVOP1: {VOP1, Plain, 4}, tVOPC: {VOPC, Plain, 4},
	tVOP2SDWA: {VOP2, SDWA, 8}, tVOP1SDWA: {VOP1, SDWA, 8}, tVOPCSDWA: {VOPC, SDWA, 8},
	tVOP2DPP: {VOP2, DPP16, 8}, tVOP1DPP: {VOP1, DPP16, 8}, tVOPCDPP: {VOPC, DPP16, 8},
	tVOP2DPP8: {VOP2, DPP8, 8}, tVOP1DPP8: {VOP1, DPP8, 8}, tVOPCDPP8: {VOPC, DPP8, 8},
	tVOP3: {VOP3, E64, 8}, tVOP3P: {VOP3P, E64, 8},
	tVOP3DPP: {VOP3, DPP16, 12}, tVOP3PDPP: {VOP3P, DPP16, 12},
	tVOP3DPP8: {VOP3, DPP8, 12}, tVOP3PDPP8: {VOP3P, DPP8, 12},
	tVINTRP: {VINTRP, Plain, 4}, tVINTERP: {VINTERP, Plain, 8}, tLDSDIR: {LDSDIR, Plain, 4},
	tDS: {DS, Plain, 8}, tFLAT: {FLAT, Plain, 8}, tFLATG: {FLAT, Plain, 8},
	tGLOBAL: {GLOBAL, Plain, 8}, tGLOBALL: {GLOBAL, Plain, 8}, tGLOBALG: {GLOBAL, Plain, 8},
	tGLOBALS: {GLOBAL, Plain, 8}, tGLOBALSL: {GLOBAL, Plain, 8}, tGLOBALSG: {GLOBAL, Plain, 8},
	tSCRATCHL: {SCRATCH, Plain, 8}, tSCRATCHSL: {SCRATCH, Plain, 8}, tSCRATCHSTL: {SCRATCH, Plain, 8},
	tSCRATCH: {SCRATCH, Plain, 8}, tSCRATCHS: {SCRATCH, Plain, 8}, tSCRATCHST: {SCRATCH, Plain, 8}, tSCRATCHSVS: {SCRATCH, Plain, 8},
	tMUBUF: {MUBUF, Plain, 8}, tMUBUFE: {MUBUF, Plain, 8}, tMUBUFI: {MUBUF, Plain, 8}, tMUBUFB: {MUBUF, Plain, 8},
	tMUBUFL: {MUBUF, Plain, 8}, tMUBUFLE: {MUBUF, Plain, 8}, tMUBUFLI: {MUBUF, Plain, 8}, tMUBUFLB: {MUBUF, Plain, 8},
	tMTBUF: {MTBUF, Plain, 8}, tMTBUFE: {MTBUF, Plain, 8}, tMTBUFI: {MTBUF, Plain, 8}, tMTBUFB: {MTBUF, Plain, 8},
	tMTBUFD: {MTBUF, Plain, 8}, tMTBUFDE: {MTBUF, Plain, 8}, tMTBUFDI: {MTBUF, Plain, 8}, tMTBUFDB: {MTBUF, Plain, 8},
	tMIMG:  {MIMG, Plain, 8},
	tSMEMI: {SMEM, Plain, 8}, tSMEMR: {SMEM, Plain, 8}, tSMEMRE: {SMEM, Plain, 8}, tSMEMB: {SMEM, Plain, 8},
}

var tables = [numArch]*[numTables][]opRow{&tablesGFX90A, &tablesGFX1030, &tablesGFX1100}

var images = [numArch]*[256]imageOp{&imagesGFX90A, &imagesGFX1030, &imagesGFX1100}

var classes = [numArch][]operandClass{classesGFX90A, classesGFX1030, classesGFX1100}

var (
	hwregs   = [numArch]*[64]string{&hwregsGFX90A, &hwregsGFX1030, &hwregsGFX1100}
	messages = [numArch]*[256]string{&messagesGFX90A, &messagesGFX1030, &messagesGFX1100}
	formats  = [numArch]*[128]string{&formatsGFX90A, &formatsGFX1030, &formatsGFX1100}
	targets  = [numArch]*[64]string{&targetsGFX90A, &targetsGFX1030, &targetsGFX1100}
)
