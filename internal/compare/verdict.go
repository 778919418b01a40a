package compare

// A Verdict is what the judge says of one target's output in one case.
type Verdict string

// The verdicts of one output, by numerics.md 0.3. Their exact conditions
// are in judge.go.
const (
	BitExact         Verdict = "BIT_EXACT"
	WithinBound      Verdict = "WITHIN_BOUND"
	Better           Verdict = "BETTER"
	Worse            Verdict = "WORSE"
	Mismatch         Verdict = "MISMATCH"
	SpecMismatch     Verdict = "SPEC_MISMATCH"
	ReferenceSuspect Verdict = "REFERENCE_SUSPECT"
	IllCond          Verdict = "ILL_CONDITIONED"
	UBDivergent      Verdict = "UB_DIVERGENT"
	Nondeterministic Verdict = "NONDETERMINISTIC"
	Mistrusted       Verdict = "MISTRUSTED"
)

// A Status is what the gate makes of a verdict.
type Status string

// The statuses, from best to worst.
const (
	Pass       Status = "pass"
	Warn       Status = "warn"
	Fail       Status = "FAIL"
	Unverified Status = "unverified"
)
