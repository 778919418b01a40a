package ops

// What the generators gave when they were first written.
var goldenRand = [...]uint64{0x7304433ca222201e, 0x88c1bae1d0585456, 0x938a24c123af3266}

const goldenRopeInputs = "18f5b4ff9b7d5a80453fe27fcdd14c4340b26891cf56826a2d07487420642d10"

const goldenUnaryInputs = "8cf2a0cf997ddd137a42ab6240ddb33e01e5d1314d24589574d431187f314ef7"
