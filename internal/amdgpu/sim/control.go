package sim

// controlOps are the instructions that steer a wave.
var controlOps = map[string]spec{
	"s_endpgm":  {run: func(w *wave, o *op) { w.state = waveEnded }},
	"s_nop":     {run: nop},
	"s_waitcnt": {run: nop},
}

func nop(*wave, *op) {}
