package sim

// A skippedBarrier is a barrier that a wave passed with live lanes masked
// off.
type skippedBarrier struct{}

// barrier lets the waiting waves go on.
func (g *group) barrier() {
	g.phase++
	for _, w := range g.waves {
		if w.state == waveBarrier {
			w.state = waveRunning
		}
	}
}

// end is called when all waves have ended.
func (g *group) end() {}
