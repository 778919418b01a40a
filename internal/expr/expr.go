// Package expr evaluates the expressions of --set: arithmetic over named
// values in Go's syntax, with exact integers of any size.
package expr

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// Limits that keep an expression's value small enough to compute at once.
const (
	maxSource = 1000 // bytes
	maxShift  = 64   // bits
)

// An Error is what is wrong with an expression, and where.
type Error struct {
	Column int // in bytes, from 1
	Text   string
}

func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Text) }

// A Vars looks a name up. The value is an Int or a Float.
type Vars = func(name string) (constant.Value, bool)

// An Expr is a parsed expression.
type Expr struct {
	src  string
	root ast.Expr
}

// Parse parses an expression: integer and floating-point literals, names,
// parentheses, the operators + - * / % << >> & | ^ &^, and the calls
//
//	cdiv(a, b)      the quotient of integers, rounded up
//	min(a, b, ...)  the least
//	max(a, b, ...)  the greatest
//	sizeof(type)    the bytes of a dtype, or of T, the case's element type
//
// The quotient of integers is an integer, rounded towards zero as in C.
// The error is an *Error.
func Parse(src string) (*Expr, error) {
	if len(src) > maxSource {
		return nil, &Error{maxSource + 1, fmt.Sprintf("an expression must have at most %d bytes, not %d", maxSource, len(src))}
	}
	if i := strings.IndexAny(src, "\r\n"); i >= 0 {
		return nil, &Error{i + 1, "an expression must be one line"}
	}
	if strings.TrimSpace(src) == "" {
		return nil, &Error{1, "the expression is empty"}
	}
	fset := token.NewFileSet()
	root, err := parser.ParseExprFrom(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
			text := strings.NewReplacer("newline", "the end", "'EOF'", "the end").Replace(list[0].Msg)
			return nil, &Error{min(max(list[0].Pos.Column, 1), len(src)+1), text}
		}
		return nil, &Error{1, err.Error()}
	}
	e := &Expr{src, root}
	return e, e.check(root)
}

// String is the expression as given.
func (e *Expr) String() string { return e.src }

// Check reports the first name that is not among known.
func (e *Expr) Check(known []string) error {
	var err error
	e.names(e.root, func(id *ast.Ident) {
		if err == nil && !slices.Contains(known, id.Name) {
			err = e.at(id, "unknown name %q: known are %s", id.Name, strings.Join(known, " "))
		}
	})
	return err
}

// names visits the names of values, which those of functions and of
// sizeof's types are not.
func (e *Expr) names(n ast.Expr, visit func(*ast.Ident)) {
	switch n := n.(type) {
	case *ast.Ident:
		visit(n)
	case *ast.ParenExpr:
		e.names(n.X, visit)
	case *ast.UnaryExpr:
		e.names(n.X, visit)
	case *ast.BinaryExpr:
		e.names(n.X, visit)
		e.names(n.Y, visit)
	case *ast.CallExpr:
		if name := n.Fun.(*ast.Ident).Name; name != "sizeof" {
			for _, a := range n.Args {
				e.names(a, visit)
			}
		}
	}
}

func (e *Expr) at(n ast.Node, format string, args ...any) *Error {
	return &Error{int(n.Pos()), fmt.Sprintf(format, args...)} // one file, whose base is 1
}

// sizes are the bytes of the types that sizeof knows.
var sizes = map[string]int64{
	"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8_e4m3": 1,
	"i64": 8, "i32": 4, "i16": 2, "u64": 8, "u32": 4, "u8": 1,
	"double": 8, "float": 4, "int": 4, "size_t": 8,
	"int64_t": 8, "uint32_t": 4, "uint8_t": 1,
}

// SizeOfT is the name under which Vars is asked for sizeof(T).
const SizeOfT = "sizeof(T)"

// check reports what is no expression of this package.
func (e *Expr) check(n ast.Expr) error {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.INT && n.Kind != token.FLOAT {
			return e.at(n, "%s is neither an integer nor a floating-point number", n.Value)
		}
		return nil
	case *ast.Ident:
		return nil
	case *ast.ParenExpr:
		return e.check(n.X)
	case *ast.UnaryExpr:
		switch n.Op {
		case token.ADD, token.SUB, token.XOR:
			return e.check(n.X)
		}
		return e.at(n, "operator %s is unknown: must be one of + - * / %% << >> & | ^ &^", n.Op)
	case *ast.BinaryExpr:
		switch n.Op {
		case token.ADD, token.SUB, token.MUL, token.QUO, token.REM, token.SHL, token.SHR,
			token.AND, token.OR, token.XOR, token.AND_NOT:
		default:
			return &Error{int(n.OpPos), fmt.Sprintf("operator %s is unknown: must be one of + - * / %% << >> & | ^ &^", n.Op)}
		}
		if err := e.check(n.X); err != nil {
			return err
		}
		return e.check(n.Y)
	case *ast.CallExpr:
		return e.checkCall(n)
	}
	return e.at(n, "this is no arithmetic: an expression has numbers, names, operators and the calls cdiv, min, max, sizeof")
}

func (e *Expr) checkCall(n *ast.CallExpr) error {
	fn, ok := n.Fun.(*ast.Ident)
	if !ok {
		return e.at(n, "only cdiv, min, max and sizeof can be called")
	}
	least, most := 0, 0
	switch fn.Name {
	case "cdiv":
		least, most = 2, 2
	case "min", "max":
		least, most = 2, maxSource
	case "sizeof":
		least, most = 1, 1
	default:
		return e.at(n, "unknown function %q: known are cdiv min max sizeof", fn.Name)
	}
	if len(n.Args) < least || len(n.Args) > most || n.Ellipsis != token.NoPos {
		return e.at(n, "%s takes %s", fn.Name, map[string]string{
			"cdiv": "two integers", "min": "two or more numbers", "max": "two or more numbers", "sizeof": "one type"}[fn.Name])
	}
	if fn.Name == "sizeof" {
		id, ok := n.Args[0].(*ast.Ident)
		if !ok {
			return e.at(n.Args[0], "sizeof takes the name of a type")
		}
		if _, ok := sizes[id.Name]; !ok && id.Name != "T" {
			return e.at(id, "sizeof of unknown type %q: must be T or one of f64 f32 f16 bf16 f8_e4m3 i64 i32 i16 u64 u32 u8", id.Name)
		}
		return nil
	}
	for _, a := range n.Args {
		if err := e.check(a); err != nil {
			return err
		}
	}
	return nil
}

// Eval computes the value, an Int or a Float. The error is an *Error.
func (e *Expr) Eval(vars Vars) (constant.Value, error) {
	v, err := e.eval(e.root, vars)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (e *Expr) eval(n ast.Expr, vars Vars) (constant.Value, *Error) {
	switch n := n.(type) {
	case *ast.BasicLit:
		v := constant.MakeFromLiteral(n.Value, n.Kind, 0)
		if v.Kind() == constant.Unknown {
			return nil, e.at(n, "the number %s is out of range", n.Value)
		}
		return v, nil
	case *ast.Ident:
		v, ok := vars(n.Name)
		if !ok {
			return nil, e.at(n, "unknown name %q", n.Name)
		}
		if k := v.Kind(); k != constant.Int && k != constant.Float {
			return nil, e.at(n, "the value of %s is not a finite number", n.Name)
		}
		return v, nil
	case *ast.ParenExpr:
		return e.eval(n.X, vars)
	case *ast.UnaryExpr:
		x, err := e.eval(n.X, vars)
		if err != nil {
			return nil, err
		}
		if n.Op == token.XOR && x.Kind() != constant.Int {
			return nil, e.at(n, "operator ^ takes an integer, not %s", x)
		}
		return constant.UnaryOp(n.Op, x, 0), nil
	case *ast.BinaryExpr:
		x, err := e.eval(n.X, vars)
		if err != nil {
			return nil, err
		}
		y, err := e.eval(n.Y, vars)
		if err != nil {
			return nil, err
		}
		return binary(int(n.OpPos), n.Op, x, y)
	case *ast.CallExpr:
		return e.call(n, vars)
	}
	panic(fmt.Sprintf("expr: %T passed Parse", n))
}

func binary(column int, op token.Token, x, y constant.Value) (constant.Value, *Error) {
	ints := x.Kind() == constant.Int && y.Kind() == constant.Int
	switch op {
	case token.QUO, token.REM:
		if constant.Sign(y) == 0 {
			return nil, &Error{column, "division by zero"}
		}
		if op == token.QUO && ints {
			op = token.QUO_ASSIGN // go/constant's name for the integer quotient
		}
	}
	switch op {
	case token.REM, token.AND, token.OR, token.XOR, token.AND_NOT, token.SHL, token.SHR:
		if !ints {
			return nil, &Error{column, fmt.Sprintf("operator %s takes integers, not %s and %s", op, x, y)}
		}
	}
	if op == token.SHL || op == token.SHR {
		s, ok := constant.Int64Val(y)
		if !ok || s < 0 || s > maxShift {
			return nil, &Error{column, fmt.Sprintf("a shift must be by 0 to %d bits, not %s", maxShift, y)}
		}
		return constant.Shift(x, op, uint(s)), nil
	}
	v := constant.BinaryOp(x, op, y)
	if v.Kind() == constant.Unknown {
		return nil, &Error{column, "the result is out of range"}
	}
	return v, nil
}

func (e *Expr) call(n *ast.CallExpr, vars Vars) (constant.Value, *Error) {
	name := n.Fun.(*ast.Ident).Name
	if name == "sizeof" {
		typ := n.Args[0].(*ast.Ident).Name
		if size, ok := sizes[typ]; ok {
			return constant.MakeInt64(size), nil
		}
		if v, ok := vars(SizeOfT); ok {
			return v, nil
		}
		return nil, e.at(n, "this op has no element type T")
	}
	args := make([]constant.Value, len(n.Args))
	for i, a := range n.Args {
		v, err := e.eval(a, vars)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	if name == "cdiv" {
		a, b := args[0], args[1]
		if a.Kind() != constant.Int || b.Kind() != constant.Int {
			return nil, e.at(n, "cdiv takes integers, not %s and %s", a, b)
		}
		if constant.Sign(b) == 0 {
			return nil, e.at(n, "division by zero")
		}
		q := constant.BinaryOp(a, token.QUO_ASSIGN, b)
		r := constant.BinaryOp(a, token.REM, b)
		if constant.Sign(r)*constant.Sign(b) > 0 { // rounded down
			q = constant.BinaryOp(q, token.ADD, constant.MakeInt64(1))
		}
		return q, nil
	}
	op := token.LSS
	if name == "max" {
		op = token.GTR
	}
	best := args[0]
	for _, v := range args[1:] {
		if constant.Compare(v, op, best) {
			best = v
		}
	}
	return best, nil
}
