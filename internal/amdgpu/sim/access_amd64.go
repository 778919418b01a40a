package sim

//go:noescape
func shapeAccess512(a *access, lo, hi *lanes, b *bounds)

//go:noescape
func loadDwords512(d *lanes, data *byte, a *access, more uint32)

//go:noescape
func storeDwords512(s *lanes, data *byte, a *access, more uint32)

//go:noescape
func shapeAccess256(a *access, lo, hi *lanes, b *bounds)

//go:noescape
func loadDwords256(d *lanes, data *byte, a *access, more uint32)

//go:noescape
func storeDwords256(s *lanes, data *byte, a *access, more uint32)

func shapeAccess(a *access, lo, hi *lanes, b *bounds) {
	switch vectors {
	case levelAVX512:
		shapeAccess512(a, lo, hi, b)
	case levelAVX2:
		shapeAccess256(a, lo, hi, b)
	default:
		shapeAccessGo(a, lo, hi, b)
	}
}

func loadDwords(d *lanes, data []byte, a *access, more uint32) {
	switch vectors {
	case levelAVX512:
		loadDwords512(d, &data[0], a, more)
	case levelAVX2:
		loadDwords256(d, &data[0], a, more)
	default:
		loadDwordsGo(d, data, a, more)
	}
}

func storeDwords(s *lanes, data []byte, a *access, more uint32) {
	switch vectors {
	case levelAVX512:
		storeDwords512(s, &data[0], a, more)
	case levelAVX2:
		storeDwords256(s, &data[0], a, more)
	default:
		storeDwordsGo(s, data, a, more)
	}
}
