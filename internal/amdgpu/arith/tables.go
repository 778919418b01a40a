package arith

// The tables and coefficients of trans.go, correctly rounded values of the
// functions named. TestTables recomputes them with math/big.

// exp2Table holds 2^(i/32).
var exp2Table = [32]float64{
	0x1p+0,
	0x1.059b0d3158574p+0,
	0x1.0b5586cf9890fp+0,
	0x1.11301d0125b51p+0,
	0x1.172b83c7d517bp+0,
	0x1.1d4873168b9aap+0,
	0x1.2387a6e756238p+0,
	0x1.29e9df51fdee1p+0,
	0x1.306fe0a31b715p+0,
	0x1.371a7373aa9cbp+0,
	0x1.3dea64c123422p+0,
	0x1.44e086061892dp+0,
	0x1.4bfdad5362a27p+0,
	0x1.5342b569d4f82p+0,
	0x1.5ab07dd485429p+0,
	0x1.6247eb03a5585p+0,
	0x1.6a09e667f3bcdp+0,
	0x1.71f75e8ec5f74p+0,
	0x1.7a11473eb0187p+0,
	0x1.82589994cce13p+0,
	0x1.8ace5422aa0dbp+0,
	0x1.93737b0cdc5e5p+0,
	0x1.9c49182a3f09p+0,
	0x1.a5503b23e255dp+0,
	0x1.ae89f995ad3adp+0,
	0x1.b7f76f2fb5e47p+0,
	0x1.c199bdd85529cp+0,
	0x1.cb720dcef9069p+0,
	0x1.d5818dcfba487p+0,
	0x1.dfc97337b9b5fp+0,
	0x1.ea4afa2a490dap+0,
	0x1.f50765b6e454p+0,
}

// exp2Poly holds ln(2)^(i+1)/(i+1)!.
var exp2Poly = [6]float64{
	0x1.62e42fefa39efp-1,
	0x1.ebfbdff82c58fp-3,
	0x1.c6b08d704a0cp-5,
	0x1.3b2ab6fba4e77p-7,
	0x1.5d87fe78a6731p-10,
	0x1.430912f86c787p-13,
}

// log2Table holds, for 64 intervals of significands from 0x3f330000 on, each
// 2^17 f32 wide, the reciprocal inv of a point of the interval, rounded to 10
// bits, and -log2(inv). The interval with 1 in it has inv = 1.
var log2Table = [64]struct{ inv, log float64 }{
	{0x1.6cp+0, -0x1.03fda8b97997fp-1},
	{0x1.68p+0, -0x1.f7a8568cb06cfp-2},
	{0x1.64p+0, -0x1.e726aa1e754d2p-2},
	{0x1.608p+0, -0x1.d88e11777b149p-2},
	{0x1.5c8p+0, -0x1.c7b1f8c4f51a4p-2},
	{0x1.59p+0, -0x1.b8c88dbf8867ap-2},
	{0x1.558p+0, -0x1.a9b835c98c70ap-2},
	{0x1.52p+0, -0x1.9a802391e232fp-2},
	{0x1.4e8p+0, -0x1.8b1f835e0b642p-2},
	{0x1.4bp+0, -0x1.7b957ac51aac4p-2},
	{0x1.478p+0, -0x1.6be12866f820dp-2},
	{0x1.448p+0, -0x1.5e48d25f62ab9p-2},
	{0x1.418p+0, -0x1.509028ff8e0a2p-2},
	{0x1.3ep+0, -0x1.406463b1b0449p-2},
	{0x1.3bp+0, -0x1.32639636b2836p-2},
	{0x1.38p+0, -0x1.24407ab0e073ap-2},
	{0x1.35p+0, -0x1.15fa676bb08ffp-2},
	{0x1.32p+0, -0x1.0790adbb03009p-2},
	{0x1.2f8p+0, -0x1.f6e456567fe55p-3},
	{0x1.2c8p+0, -0x1.d98a7d8a605a7p-3},
	{0x1.2ap+0, -0x1.c0db6cdd94deep-3},
	{0x1.27p+0, -0x1.a2f632320b86bp-3},
	{0x1.248p+0, -0x1.89d0d0ab430cdp-3},
	{0x1.22p+0, -0x1.70742d4ef027fp-3},
	{0x1.1f8p+0, -0x1.56df5328d58c5p-3},
	{0x1.1dp+0, -0x1.3d1146d9a8a64p-3},
	{0x1.1a8p+0, -0x1.2309065d29791p-3},
	{0x1.18p+0, -0x1.08c588cda79e4p-3},
	{0x1.158p+0, -0x1.dc8b7c49a1ddbp-4},
	{0x1.138p+0, -0x1.b1cd1ecae66e7p-4},
	{0x1.11p+0, -0x1.7beee96b8a281p-4},
	{0x1.0fp+0, -0x1.507b836033bb7p-4},
	{0x1.0c8p+0, -0x1.19b74069f5f0ap-4},
	{0x1.0a8p+0, -0x1.db1175160f3bp-5},
	{0x1.088p+0, -0x1.820a01ac754cbp-5},
	{0x1.06p+0, -0x1.11cd1d5133413p-5},
	{0x1.04p+0, -0x1.6e79685c2d22ap-6},
	{0x1.02p+0, -0x1.6fe50b6ef0851p-7},
	{0x1p+0, 0},
	{0x1.f8p-1, 0x1.743ee861f3556p-6},
	{0x1.f08p-1, 0x1.6b50e297afccep-5},
	{0x1.e9p-1, 0x1.0f9a634663addp-4},
	{0x1.e2p-1, 0x1.64ce26c067157p-4},
	{0x1.dbp-1, 0x1.bb4102f925394p-4},
	{0x1.d4p-1, 0x1.097e38ce60649p-3},
	{0x1.cd8p-1, 0x1.32d13e4692eb7p-3},
	{0x1.c7p-1, 0x1.5cba53a0762edp-3},
	{0x1.c1p-1, 0x1.83f304cdc5aa7p-3},
	{0x1.bbp-1, 0x1.abb2ca9ec7472p-3},
	{0x1.b5p-1, 0x1.d3fd543a4ad5cp-3},
	{0x1.afp-1, 0x1.fcd677e5ac81dp-3},
	{0x1.a98p-1, 0x1.11646e7791469p-2},
	{0x1.a4p-1, 0x1.249cd2b13cd6cp-2},
	{0x1.9fp-1, 0x1.364e2511cc821p-2},
	{0x1.998p-1, 0x1.4a03dcbd2e1bep-2},
	{0x1.948p-1, 0x1.5c2a096a135dcp-2},
	{0x1.8f8p-1, 0x1.6e8a004221b1fp-2},
	{0x1.8bp-1, 0x1.7f462e58e1688p-2},
	{0x1.86p-1, 0x1.921800924dd3bp-2},
	{0x1.818p-1, 0x1.a33d25fcb1facp-2},
	{0x1.7dp-1, 0x1.b495d4e9185f7p-2},
	{0x1.788p-1, 0x1.c62346dca1dfep-2},
	{0x1.748p-1, 0x1.d5eac4d463d7ep-2},
	{0x1.7p-1, 0x1.e7df5fe538ab3p-2},
}

// log2Poly holds (-1)^i/((i+1)*ln(2)).
var log2Poly = [8]float64{
	0x1.71547652b82fep+0,
	-0x1.71547652b82fep-1,
	0x1.ec709dc3a03fdp-2,
	-0x1.71547652b82fep-2,
	0x1.2776c50ef9bfep-2,
	-0x1.ec709dc3a03fdp-3,
	0x1.a61762a7aded9p-3,
	-0x1.71547652b82fep-3,
}

// sinPoly holds (-1)^i*(2*pi)^(2i+1)/(2i+1)!, cosPoly (-1)^i*(2*pi)^(2i)/(2i)!.
var (
	sinPoly = [8]float64{
		0x1.921fb54442d18p+2,
		-0x1.4abbce625be53p+5,
		0x1.466bc6775aae2p+6,
		-0x1.32d2cce62bd86p+6,
		0x1.50783487ee782p+5,
		-0x1.e3074fde8871fp+3,
		0x1.e8f434d018d63p+1,
		-0x1.6fadb9f155744p-1,
	}
	cosPoly = [9]float64{
		0x1p+0,
		-0x1.3bd3cc9be45dep+4,
		0x1.03c1f081b5ac4p+6,
		-0x1.55d3c7e3cbffap+6,
		0x1.e1f506891babbp+5,
		-0x1.a6d1f2a204a8cp+4,
		0x1.f9d38a3763cc3p+2,
		-0x1.b6e24f44b128fp+0,
		0x1.20c62c2f2d7f5p-2,
	}
)

// Constants in two parts, each rounded to nearest.
const (
	ln2Hi, ln2Lo       = 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56
	invLn2Hi, invLn2Lo = 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56
	twoPiHi, twoPiLo   = 0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52
)

// twoOverPi holds the first 1201 bits of the fraction 2/pi.
var twoOverPi = [19]uint64{
	0xa2f9836e4e441529,
	0xfc2757d1f534ddc0,
	0xdb6295993c439041,
	0xfe5163abdebbc561,
	0xb7246e3a424dd2e0,
	0x06492eea09d1921c,
	0xfe1deb1cb129a73e,
	0xe88235f52ebb4484,
	0xe99c7026b45f7e41,
	0x3991d639835339f4,
	0x9c845f8bbdf9283b,
	0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f,
	0x6d367ecf27cb09b7,
	0x4f463f669e5fea2d,
	0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea,
	0x6bfb5fb11f8d5d08,
	0x56033046fc7b0000,
}
