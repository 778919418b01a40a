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
	Index   int    `json:"index"`
	Coords  []int  `json:"coords"` // along Expected.Axes
	Got     Num    `json:"got"`
	Want    Num    `json:"want"` // the truth, rounded to float64
	Limit   Num    `json:"limit"`
	Share   Num    `json:"share"`
	ULP     Num    `json:"ulp"`
	Bits    uint64 `json:"bits"`      // of Got
	Nearest uint64 `json:"want_bits"` // of the truth correctly rounded
}

// A Match measures an output against its counterpart.
type Match struct {
	N         int `json:"n"`
	Equal     int `json:"equal"`      // same bits; NaNs are one value
	ZeroSign  int `json:"zero_sign"`  // zeros of the other sign, not in Equal
	MaxULP    Num `json:"max_ulp"`    // most representable numbers between the two; +Inf across classes
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
	// Counterpart is the counterpart's accuracy and Parity the distance
	// from it. Both are absent without a counterpart.
	Counterpart *Diff  `json:"counterpart,omitempty"`
	Parity      *Match `json:"parity,omitempty"`
	// Sides says in one sentence how far each side is from the truth and
	// which of them is off.
	Sides    string    `json:"sides,omitempty"`
	Spread   *Spread   `json:"spread,omitempty"` // of repeated launches
	Warnings []Warning `json:"warnings,omitempty"`
	Hints    []string  `json:"hints,omitempty"` // where and how it fails, in words
	Pattern  *Pattern  `json:"pattern,omitempty"`
}

// A Spread says how far repeated launches of one case lie apart.
type Spread struct {
	Runs   int `json:"runs"`
	Differ int `json:"differ"`  // elements that are not the same bits in every run
	First  int `json:"first"`   // the first of them, -1 where there is none
	MaxULP Num `json:"max_ulp"` // largest distance of two runs, as Match.MaxULP
	MaxAbs Num `json:"max_abs"` // largest difference of two runs
	Share  Num `json:"share"`   // the same in units of the hard bound
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
