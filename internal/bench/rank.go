package bench

import "math"

// level is that of intervals.
const level = 0.95

// rank returns the largest k for which the interval from the k-th least
// to the k-th greatest of n samples, counted from 0, holds the median with
// at least the level: P(X <= k) <= (1-level)/2 for X binomial(n, 1/2).
func rank(n int) int {
	tail := 0.0
	logHalf := float64(n) * math.Ln2
	for k := range n / 2 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		tail += math.Exp(a - b - c - logHalf)
		if tail > (1-level)/2 {
			return max(k-1, 0)
		}
	}
	return 0
}
