//go:build !amd64

package sim

func addF32(d, a, b *lanes, exec uint64, _ int)    { addLanes(d, a, b, exec) }
func subF32(d, a, b *lanes, exec uint64, _ int)    { subLanes(d, a, b, exec) }
func mulF32(d, a, b *lanes, exec uint64, _ int)    { mulLanes(d, a, b, exec) }
func minF32(d, a, b *lanes, exec uint64, _ int)    { minLanes(d, a, b, exec) }
func maxF32(d, a, b *lanes, exec uint64, _ int)    { maxLanes(d, a, b, exec) }
func fmaF32(d, a, b, c *lanes, exec uint64, _ int) { fmaLanes(d, a, b, c, exec) }
func wideF16(d, a *lanes, exec uint64, _ int)      { wideLanes(d, a, exec) }
func narrowF32(d, a *lanes, exec uint64, _ int)    { narrowLanes(d, a, exec) }

func carryAdd(d, a, b *lanes, n int, in uint64) uint64 { return carryAddLanes(d, a, b, n, in) }
func carrySub(d, a, b *lanes, n int, in uint64) uint64 { return carrySubLanes(d, a, b, n, in) }
