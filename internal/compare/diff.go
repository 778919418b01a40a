package compare

// A Diff measures one output against the truth.
type Diff struct {
	N          int `json:"n"`           // elements
	Exact      int `json:"exact"`       // equal to the truth correctly rounded
	Mismatches int `json:"mismatches"`  // over the hard bound, or of a class the truth does not allow
	Unlikely   int `json:"unlikely"`    // within the hard bound, over the likely one
	NotNearest int `json:"not_nearest"` // finite and not the truth correctly rounded
	IllCond    int `json:"ill_conditioned"`
	Undefined  int `json:"undefined"`
	ZeroSign   int `json:"zero_sign"` // zeros of the other sign, where that is no mismatch

	// Share is the worst |got-truth| in units of the hard bound: 1 is the
	// limit, +Inf a disagreement that no bound covers. ShareLikely is the
	// same of the likely bound.
	Share       Num `json:"share"`
	ShareLikely Num `json:"share_likely"`

	// Errors in ulp of the output type at the truth (floating types).
	MaxULP  Num `json:"max_ulp"`
	P50ULP  Num `json:"p50_ulp"`
	P99ULP  Num `json:"p99_ulp"`
	RMSULP  Num `json:"rms_ulp"`
	BiasULP Num `json:"bias_ulp"` // mean of got-truth
	PullULP Num `json:"pull_ulp"` // mean of got-truth times the truth's sign: truncation shows here
	MaxAbs  Num `json:"max_abs"`

	// The same in shares of the hard bound.
	RMSShare  Num `json:"rms_share"`
	P999Share Num `json:"p999_share"`

	NMSE Num `json:"nmse"` // mean square error over mean square; reported, never judged

	// Hist counts errors in ulp by the upper edges of HistEdges; the last
	// bin is everything above, non-finite disagreements included.
	Hist []int `json:"hist"`

	// Classes counts [truth][got] by NaN, +Inf, -Inf, finite.
	Classes [4][4]int `json:"classes"`

	First *Element `json:"first,omitempty"` // first mismatch
	Worst *Element `json:"worst,omitempty"` // largest share; set when any element is inexact
}

// HistEdges are the upper edges of Diff.Hist, in ulp. The first bin is
// exactly zero.
var HistEdges = [...]float64{0, 0.5, 1, 2, 4, 8, 16, 64, 256, 1024}

// An Element is one element of an output, for a report.
type Element struct {
	Index  int    `json:"index"`
	Coords []int  `json:"coords"` // along Expected.Axes
	Got    Num    `json:"got"`
	Want   Num    `json:"want"` // the truth, rounded to float64
	Limit  Num    `json:"limit"`
	Share  Num    `json:"share"`
	ULP    Num    `json:"ulp"`
	Bits   uint64 `json:"bits"` // of Got
}

// A Match measures an output against its counterpart.
type Match struct {
	N         int `json:"n"`
	Equal     int `json:"equal"`      // same bits; NaNs are one value
	MaxULP    Num `json:"max_ulp"`    // largest distance in ulp of the output type
	FirstDiff int `json:"first_diff"` // index, -1 where all are equal
}

// A Warning is a machine-readable remark with its words.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// A Judgement is the whole of what the judge says of one output.
type Judgement struct {
	Verdict  Verdict   `json:"verdict"`
	Status   Status    `json:"status"`
	Flags    []Verdict `json:"flags,omitempty"` // verdicts that also hold
	Accuracy Diff      `json:"accuracy"`        // against the truth
	Parity   *Match    `json:"parity,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	Hints    []string  `json:"hints,omitempty"` // where and how it fails, in words
	Lanes    *Pattern  `json:"pattern,omitempty"`
}

// A Pattern says how mismatches lie.
type Pattern struct {
	// Axes gives, for each axis, the mismatches at each coordinate (folded
	// to at most 64 bins) and the number of elements there.
	Axes []AxisShare `json:"axes"`
	// Ranges are runs of wrong and right elements, in order, at most 16.
	Ranges []Range `json:"ranges"`
}

// An AxisShare is the mismatches along one axis.
type AxisShare struct {
	Name  string `json:"name"`
	Size  int    `json:"size"`
	Wrong []int  `json:"wrong"`
	Total []int  `json:"total"`
}

// A Range is a run of elements that are all right or all wrong.
type Range struct {
	From  int  `json:"from"`
	To    int  `json:"to"` // exclusive
	Wrong bool `json:"wrong"`
}
