package sim

// A raceShadow remembers who accessed a region.
type raceShadow struct{}

func (g *group) touch(r *region)                                                   {}
func (g *group) raceRead(w *wave, o *op, r *region, mask uint64, size int)         {}
func (g *group) raceWrite(w *wave, o *op, r *region, mask uint64, size int)        {}
func (g *group) raceAtomic(w *wave, o *op, r *region, i int, off uint64, size int) {}
func (g *group) raceReadScalar(w *wave, o *op, r *region, off uint64)              {}
