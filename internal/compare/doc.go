// Package compare judges outputs: it measures how far an output is from
// the truth in shares of the bound a correct kernel has, and from its
// counterpart, and says what that makes of it. It is pure: values in,
// verdicts out. Formulas and conditions are those of the design note
// numerics.md, sections 0.3 and 5.
package compare
