package sim

func addF32(d, a, b *lanes, exec uint64, n int)    { addLanes(d, a, b, exec) }
func subF32(d, a, b *lanes, exec uint64, n int)    { subLanes(d, a, b, exec) }
func mulF32(d, a, b *lanes, exec uint64, n int)    { mulLanes(d, a, b, exec) }
func minF32(d, a, b *lanes, exec uint64, n int)    { minLanes(d, a, b, exec) }
func maxF32(d, a, b *lanes, exec uint64, n int)    { maxLanes(d, a, b, exec) }
func fmaF32(d, a, b, c *lanes, exec uint64, n int) { fmaLanes(d, a, b, c, exec) }
