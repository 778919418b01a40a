package sim

// saluOps are the scalar instructions, but for control flow.
var saluOps = map[string]spec{
	"s_mov_b32": {run: func(w *wave, o *op) { w.setS32(o, w.s32(&o.src[0])) }},
	"s_and_b32": {run: func(w *wave, o *op) {
		v := w.s32(&o.src[0]) & w.s32(&o.src[1])
		w.scc = b2u(v != 0)
		w.setS32(o, v)
	}},
	"s_mul_i32": {run: func(w *wave, o *op) { w.setS32(o, w.s32(&o.src[0])*w.s32(&o.src[1])) }},
	"s_and_saveexec_b64": {run: func(w *wave, o *op) {
		old := w.exec
		w.setExec(old & w.s64(&o.src[0]))
		w.scc = b2u(w.exec != 0)
		w.setS64(o, old)
	}},
	"s_and_saveexec_b32": {run: func(w *wave, o *op) {
		old := w.exec
		w.setExec(old & uint64(w.s32(&o.src[0])))
		w.scc = b2u(w.exec != 0)
		w.setS32(o, uint32(old))
	}},
}
