package expr

import (
	"errors"
	"go/constant"
	"math"
	"strings"
	"testing"
)

func vars(name string) (constant.Value, bool) {
	switch name {
	case "b", "h", "t", "d":
		return constant.MakeInt64(map[string]int64{"b": 2, "h": 3, "t": 5, "d": 8}[name]), true
	case "n":
		return constant.MakeInt64(1000), true
	case "zero":
		return constant.MakeInt64(0), true
	case "eps":
		return constant.MakeFloat64(1e-5), true
	case "nan":
		return constant.MakeFloat64(math.NaN()), true
	case SizeOfT:
		return constant.MakeInt64(2), true
	}
	return nil, false
}

func TestEval(t *testing.T) {
	for src, want := range map[string]string{
		"h*t*d":               "120",
		"t*d/2":               "20",
		"(n+255)/256":         "4",
		"-7/2":                "-3", // towards zero, as in C
		"-7%3":                "-1",
		"7.0/2":               "3.5",
		"1<<20":               "1048576",
		"(1<<62)*4":           "18446744073709551616",
		"0xff &^ 0x0f | 0b1":  "241",
		"6 ^ 3":               "5",
		"^0":                  "-1",
		"+d - -1":             "9",
		"cdiv(n, 256)":        "4",
		"cdiv(1024, 256)":     "4",
		"cdiv(-7, 2)":         "-3",
		"cdiv(7, -2)":         "-3",
		"cdiv(-7, -2)":        "4",
		"min(t, d, 3)":        "3",
		"max(t, 2.5)":         "5",
		"sizeof(f64)*32":      "256",
		"sizeof(T)":           "2",
		"sizeof(float)":       "4",
		"eps*2":               "2e-05",
		"eps - eps":           "0",
		"010":                 "8",
		"1_000":               "1000",
		"n /* of elements */": "1000",
	} {
		e, err := Parse(src)
		if err != nil {
			t.Errorf("Parse(%q): %v", src, err)
			continue
		}
		v, err := e.Eval(vars)
		if err != nil {
			t.Errorf("Eval(%q): %v", src, err)
			continue
		}
		if got := v.String(); got != want {
			t.Errorf("%q: got %s, want %s", src, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for src, want := range map[string]string{
		"":               "column 1: the expression is empty",
		" ":              "column 1: the expression is empty",
		"h*":             "column 3: expected operand, found the end",
		"(h":             "column 3: expected ')', found the end",
		"h t":            "column 3: expected ",
		"h\n+1":          "column 2: an expression must be one line",
		"h*t == 3":       "column 5: operator == is unknown: must be one of + - * / % << >> & | ^ &^",
		"!h":             "column 1: operator ! is unknown: must be one of + - * / % << >> & | ^ &^",
		"2i":             "column 1: 2i is neither an integer nor a floating-point number",
		`"x"`:            `column 1: "x" is neither an integer nor a floating-point number`,
		"1+a.b":          "column 3: this is no arithmetic: ",
		"a[1]":           "column 1: this is no arithmetic: ",
		"func(){}":       "column 1: this is no arithmetic: ",
		"1+sqrt(2)":      `column 3: unknown function "sqrt": known are cdiv min max sizeof`,
		"a.b(2)":         "column 1: only cdiv, min, max and sizeof can be called",
		"cdiv(1)":        "column 1: cdiv takes two integers",
		"cdiv(1,2,3)":    "column 1: cdiv takes two integers",
		"min(1)":         "column 1: min takes two or more numbers",
		"max(h...)":      "column 1: max takes two or more numbers",
		"sizeof(3)":      "column 8: sizeof takes the name of a type",
		"sizeof(bool)":   `column 8: sizeof of unknown type "bool": must be T or one of `,
		"1 + min(2, !3)": "column 12: operator ! is unknown",
	} {
		_, err := Parse(src)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q): got error %v, want %s", src, err, want)
		}
	}
	if _, err := Parse(strings.Repeat("1+", 600) + "1"); err == nil || !strings.Contains(err.Error(), "at most 1000 bytes") {
		t.Errorf("Parse of 1201 bytes: got error %v", err)
	}
}

func TestEvalErrors(t *testing.T) {
	for src, want := range map[string]string{
		"1/zero":        "column 2: division by zero",
		"h + t%(d-8)":   "column 6: division by zero",
		"1.5/0":         "column 4: division by zero",
		"cdiv(h, zero)": "column 1: division by zero",
		"cdiv(h, 1.5)":  "column 1: cdiv takes integers, not 3 and 1.5",
		"h*w":           `column 3: unknown name "w"`,
		"1.5 % 2":       "column 5: operator % takes integers, not 1.5 and 2",
		"1.5 << 2":      "column 5: operator << takes integers, not 1.5 and 2",
		"^1.5":          "column 1: operator ^ takes an integer, not 1.5",
		"1 << 65":       "column 3: a shift must be by 0 to 64 bits, not 65",
		"1 << -1":       "column 3: a shift must be by 0 to 64 bits, not -1",
		"1 >> (1<<64)":  "column 3: a shift must be by 0 to 64 bits, not 18446744073709551616",
		"nan":           "column 1: the value of nan is not a finite number",
	} {
		e, err := Parse(src)
		if err != nil {
			t.Errorf("Parse(%q): %v", src, err)
			continue
		}
		v, err := e.Eval(vars)
		if err == nil || err.Error() != want {
			t.Errorf("Eval(%q): got %v, error %v, want error %s", src, v, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	e, err := Parse("min(h, t) * sizeof(T) + wrong - alsowrong")
	if err != nil {
		t.Fatal(err)
	}
	want := `column 25: unknown name "wrong": known are h t`
	if err := e.Check([]string{"h", "t"}); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if err := e.Check([]string{"h", "t", "wrong", "alsowrong"}); err != nil {
		t.Errorf("got error %v, want none", err)
	}
}

// Whatever the source, there is a value or one error with a column in it.
func FuzzEval(f *testing.F) {
	for _, s := range []string{"h*t*d", "cdiv(n,256)", "1<<64<<64", "-7/2", "sizeof(T)", "1e999999999", "((((1", "min(1,2.5)", "0x1p-2", "'a'", "a.b", "max(h...)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Parse(src)
		if err == nil {
			var v constant.Value
			v, err = e.Eval(vars)
			if err == nil && v.Kind() != constant.Int && v.Kind() != constant.Float {
				t.Fatalf("%q: got %v, no number", src, v)
			}
			if err == nil && e.Check([]string{"b", "h", "t", "d", "n", "zero", "eps", "nan"}) != nil {
				t.Fatalf("%q: evaluates, but Check rejects it", src)
			}
		}
		if err == nil {
			return
		}
		var x *Error
		if !errors.As(err, &x) || x.Column < 1 || x.Column > len(src)+1 {
			t.Fatalf("%q: got error %v, want an *Error with a column in 1..%d", src, err, len(src)+1)
		}
	})
}
