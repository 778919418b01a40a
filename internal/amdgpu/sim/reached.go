package sim

import "sync/atomic"

// watch tells Options.Reached of the ops of u, each when it is first
// executed to some effect: an instruction of the vector unit without active
// lanes has none.
func (u *unit) watch(reached func(pc uint64)) {
	for i := range u.ops {
		o := &u.ops[i]
		if o.in.Size == 0 {
			continue // what stands behind the end
		}
		run, pc, told := o.run, o.in.PC, new(atomic.Bool)
		lanes := o.flags&opVALU != 0 || o.mem != nil && o.class != classSMEM
		o.run = func(w *wave, o *op) {
			if !told.Load() && (w.exec != 0 || !lanes) && told.CompareAndSwap(false, true) {
				reached(pc)
			}
			run(w, o)
		}
	}
}
