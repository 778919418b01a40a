package sim

// findSeeds marks the loads of u that only begin a loop of compare and
// swap: LLVM makes an atomic operation that the target lacks, such as
// HIP's atomicAdd of a float, into a plain load of the old value and a
// cmpswap at the same address that compares with it. A load that is out of
// date costs one more round and changes nothing, so that it is no race
// with the other atomics.
//
// Such a load has the address registers, the offset and the size of a
// cmpswap that follows and the registers that it compares with, and
// neither are written in between.
func (u *unit) findSeeds() {
	for i := range u.ops {
		m := u.ops[i].mem
		if m == nil || m.kind != memLoad || m.atom.cas || m.ds != nil || u.ops[i].class == classScratch || u.ops[i].class == classSMEM {
			continue
		}
		if m.size != 4 && m.size != 8 {
			continue
		}
		dwords := int32(m.size / 4)
		for j := i + 1; j < len(u.ops) && j < i+64; j++ {
			o := &u.ops[j]
			if x := o.mem; x != nil && x.kind == memAtomic && x.atom.cas && x.ds == nil {
				if x.size == m.size && x.addr == m.addr && x.wide == m.wide && x.base == m.base && x.offset == m.offset && x.data+dwords == m.dst {
					m.atomicLoad = true
				}
				break
			}
			if o.class == classBranch && int(o.target) <= i {
				break // a loop of another thing
			}
			over := writesRow(o.in, m.addr.reg)
			if m.wide {
				over = over || writesRow(o.in, m.addr.reg+1)
			}
			for k := range dwords {
				over = over || writesRow(o.in, m.dst+k)
			}
			if over {
				break
			}
		}
	}
}
