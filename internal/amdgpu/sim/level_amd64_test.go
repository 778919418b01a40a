package sim

func setVectors(l level) { vectors = l }
