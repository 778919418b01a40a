package ops

import (
	"math/bits"
	"slices"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Tuned returns p as the bundled kernels are launched for speed. Problems
// have candle's launch, which kernels of other sources may depend on; the
// bundled ones take any. The figures behind it were measured on an H200 and
// stand in docs/kernels.md.
func (p *Problem) Tuned() *Problem {
	tune := p.Case.Op.tune
	if tune == nil || p.Grid.Count() == 0 {
		return p
	}
	q := *p
	q.Args = slices.Clone(p.Args)
	tune(&q)
	return &q
}

// tunedBlock is the size of the block that kernels are launched in which give a
// thread a few accesses of access bytes: small blocks come and go evenly.
const (
	tunedBlock = 128
	access     = 16
)

// spread launches a thread for every so many units, of which there are n.
func spread(q *Problem, n, each int) { spreadBlocks(q, n, each, tunedBlock) }

// spreadBlocks does so in blocks of a size.
func spreadBlocks(q *Problem, n, each, block int) {
	per := block * each
	q.Block = gpu.Dim3{X: uint32(block), Y: 1, Z: 1}
	q.Grid = gpu.Dim3{X: uint32(max(1, (n+per-1)/per)), Y: 1, Z: 1}
}

// vectors is how many accesses n elements of size bytes take.
func vectors(n, size int) int { return (n*size + access - 1) / access }

// widest is the size of the largest element that a thread moves.
func (p *Problem) widest() int {
	most := 1
	for _, param := range p.Case.Op.Params {
		if param.Role != Scalar && param.Type != SizeT {
			most = max(most, param.Type.DType(p.Case.Variant).Size())
		}
	}
	return most
}

// tuneElements is for elementwise kernels: accesses for each thread, enough
// that what a thread does once, such as looking at the layout, counts little.
func tuneElements(each int) func(*Problem) {
	return func(q *Problem) {
		spread(q, vectors(int(q.Arg("numel").Int), q.widest()), each)
	}
}

// tuneRows is for kernels with a block for each row of n elements: threads
// for so many accesses each, as long as a block has a group of 32.
func tuneRows(q *Problem, n, each int) {
	threads := (vectors(n, q.Case.Variant.T.Size()) + each - 1) / each
	threads = 1 << bits.Len(uint(max(threads, 1)-1))
	q.Block = gpu.Dim3{X: uint32(min(max(threads, 32), maxBlock)), Y: 1, Z: 1}
}
