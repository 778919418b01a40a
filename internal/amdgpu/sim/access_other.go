//go:build !amd64

package sim

func shapeAccess(a *access, lo, hi *lanes, b *bounds)           { shapeAccessGo(a, lo, hi, b) }
func loadDwords(d *lanes, data []byte, a *access, more uint32)  { loadDwordsGo(d, data, a, more) }
func storeDwords(s *lanes, data []byte, a *access, more uint32) { storeDwordsGo(s, data, a, more) }
