package sqltext

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// numbers are the types of exact numbers, each fitting into the next.
var numbers = []string{"smallint", "integer", "bigint", "numeric"}

// Number tells which type of exact numbers an expression has: smallint, integer, bigint or numeric; "" for other types and where only the
// server knows. column tells the same of a bound column, or its type as SQL.
func (e Expr) Number(column func(id int) string) string {
	if id, ok := e.Column(); ok {
		return number(column(id))
	}
	of := func(n *pg_query.Node) string { return Expr{n}.Number(column) }
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_AConst:
		return constantNumber(n.AConst)
	case *pg_query.Node_TypeCast:
		_, name := qualified(n.TypeCast.TypeName.Names)
		if len(n.TypeCast.TypeName.ArrayBounds) > 0 {
			return ""
		}
		return number(name)
	case *pg_query.Node_AExpr:
		return operation(n.AExpr, of)
	case *pg_query.Node_CoalesceExpr:
		return widest(n.CoalesceExpr.Args, of)
	case *pg_query.Node_MinMaxExpr:
		return widest(n.MinMaxExpr.Args, of)
	case *pg_query.Node_CaseExpr:
		arms := []*pg_query.Node{}
		for _, arm := range n.CaseExpr.Args {
			arms = append(arms, arm.GetCaseWhen().Result)
		}
		if n.CaseExpr.Defresult != nil {
			arms = append(arms, n.CaseExpr.Defresult)
		}
		return widest(arms, of)
	case *pg_query.Node_FuncCall:
		return numberOfCall(n.FuncCall, of)
	}
	return ""
}

// number is the exact number that a type's name stands for.
func number(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "(")
	switch name {
	case "smallint", "int2":
		return "smallint"
	case "integer", "int", "int4":
		return "integer"
	case "bigint", "int8":
		return "bigint"
	case "numeric", "decimal":
		return "numeric"
	}
	return ""
}

func constantNumber(c *pg_query.A_Const) string {
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return "integer"
	case *pg_query.A_Const_Fval:
		if digits := v.Fval.Fval; len(digits) < 19 && !strings.ContainsAny(digits, ".eE") {
			return "bigint"
		}
		return "numeric"
	}
	return ""
}

// operation is the type of arithmetic, which stays among exact numbers.
func operation(x *pg_query.A_Expr, of func(*pg_query.Node) string) string {
	op := operator(x.Name, x.Location)
	if x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || op.Schema != "" || !slices.Contains([]string{"+", "-", "*", "/", "%"}, op.Name) {
		return ""
	}
	if x.Lexpr == nil {
		return of(x.Rexpr)
	}
	return widest([]*pg_query.Node{x.Lexpr, x.Rexpr}, of)
}

// widest is the type that all alternatives are brought to; a bare null takes any.
func widest(nodes []*pg_query.Node, of func(*pg_query.Node) string) string {
	widest := -1
	for _, n := range nodes {
		if n.GetAConst().GetIsnull() {
			continue
		}
		at := slices.Index(numbers, of(n))
		if at < 0 {
			return ""
		}
		widest = max(widest, at)
	}
	if widest < 0 {
		return ""
	}
	return numbers[widest]
}

// numberOfCall knows functions that nothing in a user's schema can stand before.
func numberOfCall(f *pg_query.FuncCall, of func(*pg_query.Node) string) string {
	schema, name := qualified(f.Funcname)
	if schema != "" && schema != "pg_catalog" || len(f.Args) == 0 || f.Over != nil {
		return ""
	}
	switch arg := of(f.Args[0]); name {
	case "abs":
		return arg
	case "round", "trunc", "ceil", "ceiling", "floor":
		if arg == "numeric" {
			return arg
		}
	}
	return ""
}

// ParseExpr parses one expression and binds each name in it that is one of columns.
func ParseExpr(text string, columns map[string]int) (Expr, error) {
	q, err := ParseQuery("select " + text)
	if err != nil {
		return Expr{}, err
	}
	return q.(*Select).Targets[0].Expr.Map(func(e Expr) (Expr, bool) {
		ref, ok := e.Ref()
		if !ok || len(ref.Parts) != 1 {
			return Expr{}, false
		}
		id, ok := columns[ref.Parts[0]]
		return Column(id), ok
	}), nil
}
