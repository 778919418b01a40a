package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// unaries is the table of the family, in candle's order.
var unaries = []unary{
	{
		name: "copy", summary: "the element", formula: "y = x", bound: []string{"exact", "signed"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return x }, signed: true,
	}, {
		name: "neg", summary: "the element's negative", formula: "y = -x", bound: []string{"exact", "signed"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return -x }, signed: true,
	}, {
		name: "recip", summary: "reciprocal", formula: "y = 1/x", bound: []string{"recip"}, parity: E2,
		exact: func(_ tensor.DType, x float64) float64 { return 1 / x }, judge: (*unaryModel).recip,
		points: []float64{0x1p126, 0x1p127, 0x1p-128, 0x1p1022, 0x1p1023, 0x1p-1024, 3},
	}, {
		name: "exp", summary: "e^x", formula: "y = e^x", bound: []string{"single", "budget exp", "units"}, parity: E2,
		judge: func(m *unaryModel, x float64) unaryLimits { return m.single(budgetExp, truth.Exp(x)) },
		points: []float64{
			math.Ln2 / 2, math.Ln2, 1.5 * math.Ln2, 2.5 * math.Ln2, 10, 11.0898, 17.3286, 9.7040, 16.6355, // f16's ends
			88.72, 88.7228, 87.3365, 103.28, 103.9721, 709.78, 709.7827, 708.3964, 744.44, 745.1332,
		},
		exponents: []int{-26, 6, 9}, proportional: true, single: true,
	}, {
		name: "log", summary: "natural logarithm", formula: "y = ln(x)", bound: []string{"single", "budget log", "units"}, parity: E2,
		judge:    func(m *unaryModel, x float64) unaryLimits { return m.single(budgetLog, truth.Log(x)) },
		points:   []float64{math.Sqrt2 / 2, 2. / 3, 4. / 3, math.E, 0.95, 1.05, 0x1p-20},
		positive: true, proportional: true, single: true,
		accesses: 3,
	}, {
		name: "sin", summary: "sine", formula: "y = sin(x), x in radians", bound: []string{"single", "budget sin", "far", "units"}, parity: E2,
		judge:  func(m *unaryModel, x float64) unaryLimits { return m.far(x, m.single(budgetSin, truth.Sin(x))) },
		points: circle, exponents: []int{-26, 40, 70}, proportional: true, single: true,
	}, {
		name: "cos", summary: "cosine", formula: "y = cos(x), x in radians", bound: []string{"single", "budget cos", "far", "units"}, parity: E2,
		judge:  func(m *unaryModel, x float64) unaryLimits { return m.far(x, m.single(budgetCos, truth.Cos(x))) },
		points: circle, exponents: []int{-14, 40, 70}, proportional: true, single: true,
	}, {
		name: "tanh", summary: "hyperbolic tangent", formula: "y = tanh(x)", bound: []string{"single", "budget tanh", "units"}, parity: E2,
		judge:     func(m *unaryModel, x float64) unaryLimits { return m.single(budgetTanh, truth.Tanh(x)) },
		points:    []float64{0.55, 0.625, 4.16, 8.664, 9.0109, 9.7, 19.0615, 22, 0x1p-12, 0x1p-28, 88.72},
		exponents: []int{-24, 3, 4}, proportional: true, single: true,
	}, {
		name: "erf", summary: "error function", formula: "y = erf(x) = 2/sqrt(pi) * integral of exp(-t^2) from 0 to x",
		bound: []string{"single", "budget erf", "units"}, parity: E2,
		judge:     func(m *unaryModel, x float64) unaryLimits { return m.single(budgetErf, truth.Erf(x)) },
		points:    []float64{0.84375, 0.921875, 1.00295, 1.25, 1.75, 2.857, 3.7, 3.9192, 4.1, 5.8636, 6, 0x1p-28},
		exponents: []int{-24, 2, 2}, proportional: true, single: true,
	}, {
		name: "ceil", summary: "least integer not below", formula: "y = ceil(x)", bound: []string{"exact", "signed"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return math.Ceil(x) }, signed: true,
		points: integers, exponents: []int{-4, 25, 54},
	}, {
		name: "floor", summary: "greatest integer not above", formula: "y = floor(x)", bound: []string{"exact", "signed"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return math.Floor(x) }, signed: true,
		points: integers, exponents: []int{-4, 25, 54},
	}, {
		name: "round", summary: "nearest integer, halves away from zero",
		formula: "y = the integer nearest to x; of two, that farther from 0: round(2.5) = 3, where rint(2.5) = 2",
		bound:   []string{"exact", "signed"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return math.Round(x) }, signed: true,
		points: integers, exponents: []int{-4, 25, 54},
	}, {
		name: "normcdf", summary: "standard normal distribution function", formula: "y = Phi(x) = erfc(-x/sqrt(2))/2",
		bound: []string{"single", "budget normcdf", "units"}, parity: E2,
		judge:     func(m *unaryModel, x float64) unaryLimits { return m.single(budgetNormcdf, truth.Normcdf(x)) },
		points:    []float64{1.4142, 2.5, 4, 5.1666, 5.42, 8.2924, 10, 13, 13.0545, 14.1, 14.1707, 14.5, 37.5193, 38.4674, 38.5, 0x1p-13},
		exponents: []int{-16, 3, 5}, proportional: true, single: true,
		accesses: 3,
	}, {
		name: "abs", summary: "magnitude", formula: "y = |x|", bound: []string{"exact", "signed"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return math.Abs(x) }, signed: true,
	}, {
		name: "sqr", summary: "square", formula: "y = x*x", bound: []string{"exact"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 { return float64(x * x) },
		points: []float64{
			255.8, 256, 0x1p-7, 0x1p-12, 0x1p-13, // f16's ends
			0x1p64, 0x1.ffp63, 0x1p-63, 0x1p-67, 0x1.6ap-75, 0x1p-75, 0x1p512, 0x1p-511, 0x1p-537,
		},
	}, {
		name: "sqrt", summary: "square root", formula: "y = sqrt(x)", bound: []string{"sqrt"}, parity: E2,
		exact: func(_ tensor.DType, x float64) float64 { return math.Sqrt(x) }, judge: (*unaryModel).sqrt,
		points: []float64{4, 9, 25, 0x1p-96, 0x1p-767}, positive: true,
	}, {
		name: "gelu", summary: "gelu, the tanh form",
		formula: "y = x/2*(1+tanh(sqrt(2/pi)*(x+0.044715*x^3)))",
		bound:   []string{"gelu", "-inf", "budget tanh", "units"}, parity: E2,
		judge:     (*unaryModel).gelu,
		points:    []float64{0.625, 0.7517, 3, 4.9, 5.57, 6.19, 9, 10.2, 255.9, 7.0e12, 5.6e102},
		exponents: []int{-14, 3, 3},
		accesses:  3,
	}, {
		name: "gelu_erf", summary: "gelu, the exact form", formula: "y = x*Phi(x), Phi(x) = erfc(-x/sqrt(2))/2",
		bound: []string{"gelu_erf", "-inf", "budget normcdf", "units"}, parity: E2,
		judge:     (*unaryModel).geluErf,
		points:    []float64{1.4142, 2.5, 4, 5.1666, 5.42, 10, 13.0545, 14.1, 14.1707, 14.5, 37.5193, 38.4674, 38.6},
		exponents: []int{-16, 3, 5}, proportional: true,
		accesses: 3,
	}, {
		name: "relu", summary: "the element where it is positive, else 0",
		formula: "y = max(x, 0); of NaN: 0 in f32 and f64, as fmax has it, NaN in f16 and bf16",
		bound:   []string{"exact"}, parity: E0,
		exact: func(d tensor.DType, x float64) float64 {
			if x > 0 || x != x && d.Size() == 2 {
				return x
			}
			return 0
		},
	}, {
		name: "silu", summary: "x times its sigmoid", formula: "y = x/(1+exp(-x))",
		bound: []string{"quotient", "-inf", "budget exp", "units"}, parity: E2,
		judge:     (*unaryModel).silu,
		points:    []float64{7.6246, 11.0898, 13, 16.6355, 17.3287, 36.74, 87.3365, 88.72, 88.7228, 93, 103.28, 108.6, 709.78, 709.7827, 744.44, 751},
		exponents: []int{-26, 6, 9}, proportional: true,
	}, {
		name: "sign", summary: "1, 0 or -1 by the sign", formula: "y = (x > 0) - (x < 0); of NaN: 0",
		bound: []string{"exact"}, parity: E0,
		exact: func(_ tensor.DType, x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return 0
		},
	}, {
		name: "elu", summary: "the element where it is positive, else alpha*(e^x-1)",
		formula: "y = x for x > 0, else alpha*(exp(x)-1); param is alpha",
		bound:   []string{"elu", "budget exp", "units"}, parity: E2,
		judge: (*unaryModel).elu, param: "alpha", params: []float64{1, 0.3, 1.6732632, -0.5},
		points:    []float64{0x1p-24, 0x1p-11, 0x1p-8, math.Ln2 / 2, math.Ln2, 7.6246, 17.3287, 36.74, 87.3365, 103.28},
		exponents: []int{-30, 6, 9},
		accesses:  3,
	}, {
		name: "powf", summary: "power of a constant exponent", formula: "y = x^p, as C99 has pow; param is p",
		bound: []string{"single", "budget pow", "units"}, parity: E2,
		judge:     func(m *unaryModel, x float64) unaryLimits { return m.single(budgetPow, truth.Pow(x, m.param)) },
		param:     "p",
		params:    []float64{2, 0.5, -3, -1.5, 3, 1.0 / 3, 0, 1, -1, 10, 25.75, 101, math.Inf(1), math.Inf(-1), math.NaN()},
		points:    []float64{0.95, 1.05, 0x1p-63, 0x1p64, 0x1p42, 0x1p-42, 0x1p-50, 0x1p-341, 0x1p341},
		exponents: []int{-8, 8, 8}, proportional: true, single: true,
		accesses: 8,
	}, {
		name: "sigmoid", summary: "logistic function", formula: "y = 1/(1+exp(-x))",
		bound: []string{"quotient", "budget exp", "units"}, parity: E2,
		judge:     (*unaryModel).sigmoid,
		points:    []float64{7.6246, 11.0898, 16.6355, 17.3287, 36.74, 87.3365, 88.72, 88.7228, 103.28, 103.9721, 709.78, 709.7827, 744.44, 745.1332},
		exponents: []int{-16, 6, 9}, proportional: true,
	},
}

// circle are zeros and extremes of sine and cosine, where libraries
// change the way they reduce the argument, and the numbers of f32 and f64
// nearest to a multiple of pi/2 (Muller, "Elementary Functions", table of
// worst cases for range reduction).
var circle = []float64{
	math.Pi / 4, math.Pi / 2, math.Pi, 1.5 * math.Pi, 2 * math.Pi, 2.5 * math.Pi, 11 * math.Pi / 2, 355,
	105615, 0x1p17, 0x1p22, 0x1p30, 0x1.921fb4p40, 0x1.f37c8ap95, 0x1.6ac5b262ca1ffp849, 0x1.6ac5b262ca1ffp850,
}

// integers are halves, and where the fraction ends.
var integers = []float64{0.25, 1.5, 2.5, 3.5, 1023.5, 0x1p7, 0x1p10, 0x1p22, 0x1p23, 0x1p24, 0x1p31, 0x1p32, 0x1p51, 0x1p52, 0x1p53, 0x1p63}
