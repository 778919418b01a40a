package sim

// shadowOperands are the registers whose definedness an op combines.
type shadowOperands struct{}
