package sim

// hasUops reports whether spans can be executed by uops.
var hasUops = vectors >= levelAVX512

//go:noescape
func runUops512(u *uop, rows *lanes, w *wave)

func uopCodes() *[numForms]uintptr

// formCode returns the code of a form.
func formCode(n int) uintptr { return uopCodes()[n] }

// runUops executes uops from u to the one that ends them or stops.
func runUops(u *uop, w *wave) { runUops512(u, &w.rows[0], w) }
