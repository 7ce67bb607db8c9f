package sqltext

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Scale is how many digits behind the point the values of an exact number have.
type Scale int

// Scales that are no numbers.
const (
	VariedScale Scale = -1 - iota // values have different ones
	FixedScale                    // all values have the same one, which is not known
)

// Scales describes what is known of bound columns.
type Scales struct {
	Column func(id int) string // its type; "" if it is not known
	Fixed  func(id int) bool   // all values of a column of type numeric have one scale
}

// Scale returns the scale of the values of an expression of an exact number. PostgreSQL keeps the scale of a numeric with each value; it shows, and
// quotients hang on it.
func (e Expr) Scale(known Scales) Scale {
	if id, ok := e.Column(); ok {
		return scaleOfType(known.Column(id), known.Fixed(id))
	}
	of := func(n *pg_query.Node) Scale { return Expr{n}.Scale(known) }
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_AConst:
		return scaleOfConstant(n.AConst)
	case *pg_query.Node_TypeCast:
		return scaleOfCast(n.TypeCast, of)
	case *pg_query.Node_AExpr:
		return scaleOfOperation(n.AExpr, of)
	case *pg_query.Node_CoalesceExpr:
		return oneScale(n.CoalesceExpr.Args, of)
	case *pg_query.Node_MinMaxExpr:
		return oneScale(n.MinMaxExpr.Args, of)
	case *pg_query.Node_CaseExpr:
		return oneScale(results(n.CaseExpr), of)
	case *pg_query.Node_FuncCall:
		return scaleOfCall(n.FuncCall, of)
	}
	return VariedScale
}

// scaleOfType is that of a column. Integers have none; a numeric with a scale in its type has that.
func scaleOfType(typ string, fixed bool) Scale {
	is, hasScale := IsNumber(typ)
	switch {
	case is && !hasScale:
		return 0
	case is && strings.HasSuffix(typ, ")"):
		_, digits, ok := strings.Cut(strings.TrimSuffix(typ, ")"), ",")
		scale, err := strconv.Atoi(strings.TrimSpace(digits))
		if ok && err != nil {
			return VariedScale
		}
		return Scale(max(scale, 0))
	case is && fixed:
		return FixedScale
	}
	return VariedScale
}

func scaleOfConstant(c *pg_query.A_Const) Scale {
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return 0
	case *pg_query.A_Const_Fval:
		if strings.ContainsAny(v.Fval.Fval, "eE") {
			return VariedScale
		}
		_, digits, _ := strings.Cut(v.Fval.Fval, ".")
		return Scale(len(digits))
	}
	return VariedScale
}

// scaleOfCast is that of a cast to a number: with a scale of its own, or that of what is cast.
func scaleOfCast(c *pg_query.TypeCast, of func(*pg_query.Node) Scale) Scale {
	typ := TypeOf(c.TypeName)
	typ.Modifier = ""
	if is, hasScale := IsNumber(typ.SQL()); !is {
		return VariedScale
	} else if !hasScale {
		return 0
	}
	if len(c.TypeName.Typmods) == 0 {
		return of(c.Arg)
	}
	if len(c.TypeName.Typmods) == 1 {
		return 0
	}
	return max(0, Scale(c.TypeName.Typmods[1].GetAConst().GetIval().GetIval()))
}

// scaleOfOperation knows +, - and *; a quotient has as many digits as its operands' sizes ask for.
func scaleOfOperation(x *pg_query.A_Expr, of func(*pg_query.Node) Scale) Scale {
	op := operator(x.Name, x.Location)
	if x.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
		return of(x.Lexpr)
	}
	if x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || op.Schema != "" || op.Name != "+" && op.Name != "-" && op.Name != "*" {
		return VariedScale
	}
	if x.Lexpr == nil {
		return of(x.Rexpr)
	}
	left, right := of(x.Lexpr), of(x.Rexpr)
	switch {
	case left == VariedScale || right == VariedScale:
		return VariedScale
	case left == FixedScale || right == FixedScale:
		return FixedScale
	case op.Name == "*":
		return left + right
	}
	return max(left, right)
}

// oneScale is the scale that all alternatives have; a bare null has any.
func oneScale(nodes []*pg_query.Node, of func(*pg_query.Node) Scale) Scale {
	found, any := VariedScale, false
	for _, n := range nodes {
		if n.GetAConst().GetIsnull() {
			continue
		}
		scale := of(n)
		if scale < 0 && len(nodes) > 1 || any && scale != found {
			return VariedScale
		}
		found, any = scale, true
	}
	return found
}

// scaleOfCall knows functions that nothing in a user's schema can stand before.
func scaleOfCall(f *pg_query.FuncCall, of func(*pg_query.Node) Scale) Scale {
	schema, name := qualified(f.Funcname)
	if schema != "" && schema != "pg_catalog" || len(f.Args) == 0 {
		return VariedScale
	}
	switch name {
	case "abs", "sum", "min", "max":
		return of(f.Args[0])
	case "count", "ceil", "ceiling", "floor":
		return 0
	case "extract":
		return scaleOfField(strings.ToLower(f.Args[0].GetAConst().GetSval().GetSval()))
	case "round", "trunc":
		if len(f.Args) == 1 {
			return 0
		}
		if digits, ok := f.Args[1].GetAConst().GetVal().(*pg_query.A_Const_Ival); ok {
			return max(0, Scale(digits.Ival.GetIval()))
		}
	}
	return VariedScale
}

// scaleOfField is that of a field of a date or time, which extract returns as a numeric.
func scaleOfField(field string) Scale {
	switch field {
	case "millennium", "century", "decade", "year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "microseconds":
		return 0
	case "milliseconds":
		return 3
	case "second":
		return 6
	case "epoch":
		return FixedScale // 0 for dates, 6 for the others
	}
	return VariedScale
}
