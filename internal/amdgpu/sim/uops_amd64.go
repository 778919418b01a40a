package sim

//go:noescape
func runUops512(u *uop, rows *lanes, w *wave)

//go:noescape
func runUops256(u *uop, rows *lanes, w *wave)

// runUops executes uops from u to the one that ends them or stops.
func runUops(u *uop, w *wave) {
	if vectors == levelAVX512 {
		runUops512(u, &w.rows[0], w)
		return
	}
	runUops256(u, &w.rows[0], w)
}
