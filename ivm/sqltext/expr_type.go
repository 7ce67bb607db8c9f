package sqltext

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Types returns the types of columns in expressions; "" where it does not know.
type Types struct {
	Column   func(id int) string
	Function func(schema, name string, args int) string // that DDL makes; may be nil
	Named    func(schema, name string) string           // a type that DDL makes, as Column spells it; may be nil
}

// Type returns the type of an expression as far as following it needs to know: exact numbers, types that cannot be compared or hashed, those that
// DDL makes, and Record; "" for others and where only the server knows.
func (e Expr) Type(types Types) string {
	if id, ok := e.Column(); ok {
		return types.Column(id)
	}
	of := func(n *pg_query.Node) string { return Expr{n}.Type(types) }
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_AConst:
		return typeOfConstant(n.AConst)
	case *pg_query.Node_TypeCast:
		return typeOfCast(n.TypeCast.TypeName, types)
	case *pg_query.Node_AArrayExpr:
		if typ := widest(n.AArrayExpr.Elements, of); typ != "" {
			return typ + "[]"
		}
		return ""
	case *pg_query.Node_AExpr:
		return operation(n.AExpr, of)
	case *pg_query.Node_CoalesceExpr:
		return widest(n.CoalesceExpr.Args, of)
	case *pg_query.Node_MinMaxExpr:
		return widest(n.MinMaxExpr.Args, of)
	case *pg_query.Node_CaseExpr:
		return widest(results(n.CaseExpr), of)
	case *pg_query.Node_FuncCall:
		if types.Function != nil {
			schema, name := qualified(n.FuncCall.Funcname)
			if typ := types.Function(schema, name, len(n.FuncCall.Args)); typ != "" {
				return typ
			}
		}
		return typeOfCall(n.FuncCall, of)
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_BooleanTest:
		return "boolean"
	case *pg_query.Node_RowExpr:
		return Record
	case *pg_query.Node_XmlExpr:
		if n.XmlExpr.Op != pg_query.XmlExprOp_IS_DOCUMENT {
			return "xml"
		}
	}
	return ""
}

// typeOfCast is the type that a cast names.
func typeOfCast(to *pg_query.TypeName, types Types) string {
	schema, name := qualified(to.Names)
	typ := named(name)
	if made := ""; types.Named != nil {
		if made = types.Named(schema, name); made != "" {
			typ = made
		}
	}
	if len(to.ArrayBounds) > 0 && typ != "" {
		return typ + "[]"
	}
	return typ
}

// named is the type that a name stands for.
func named(name string) string {
	switch name {
	case "smallint", "int2":
		return "smallint"
	case "integer", "int", "int4":
		return "integer"
	case "bigint", "int8":
		return "bigint"
	case "numeric", "decimal":
		return "numeric"
	case "varchar":
		return "character varying"
	case "float8":
		return "double precision"
	case "float4":
		return "real"
	case "bool":
		return "boolean"
	case "timestamp":
		return "timestamp without time zone"
	case "timestamptz":
		return "timestamp with time zone"
	case "text", "date", "uuid", "boolean", "jsonb", "interval", "bytea", "real":
		return name
	}
	if slices.Contains(incomparable, name) || !isHashable(name) {
		return name
	}
	if name == "varbit" {
		return "bit varying"
	}
	return ""
}

func typeOfConstant(c *pg_query.A_Const) string {
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return "integer"
	case *pg_query.A_Const_Fval:
		if digits := v.Fval.Fval; len(digits) < 19 && !strings.ContainsAny(digits, ".eE") {
			return "bigint"
		}
		return "numeric"
	case *pg_query.A_Const_Bsval:
		return "bit"
	}
	return ""
}

// operation is the type of arithmetic, which stays among exact numbers.
func operation(x *pg_query.A_Expr, of func(*pg_query.Node) string) string {
	op := operator(x.Name, x.Location)
	if isCondition(x.Kind, op) {
		return "boolean"
	}
	if op.Name == "->" || op.Name == "#>" { // of json, json; of jsonb, jsonb
		return of(x.Lexpr)
	}
	if x.Kind == pg_query.A_Expr_Kind_AEXPR_OP && slices.Contains([]string{"&", "|", "#", "~", "<<", ">>", "||", "&&", "!!", "<->"}, op.Name) {
		return eitherUnhashable(x, of)
	}
	if x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || op.Schema != "" || !slices.Contains([]string{"+", "-", "*", "/", "%"}, op.Name) {
		return ""
	}
	if x.Lexpr == nil {
		return of(x.Rexpr)
	}
	return widest([]*pg_query.Node{x.Lexpr, x.Rexpr}, of)
}

// isCondition reports whether an operation yields a boolean, as all do that SQL has a syntax for, and comparisons.
func isCondition(kind pg_query.A_Expr_Kind, op Operator) bool {
	switch kind {
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return false
	case pg_query.A_Expr_Kind_AEXPR_OP:
		return op.Schema == "" && slices.Contains([]string{"=", "<>", "!=", "<", "<=", ">", ">="}, op.Name)
	}
	return true
}

// eitherUnhashable is the type of an operation on a value that cannot be hashed, which makes another one; "" for other operations.
func eitherUnhashable(x *pg_query.A_Expr, of func(*pg_query.Node) string) string {
	for _, n := range []*pg_query.Node{x.Lexpr, x.Rexpr} {
		if n == nil {
			continue
		}
		if typ := Unsized(of(n)); !isHashable(typ) {
			return typ
		}
	}
	return ""
}

// widest is the type that all alternatives are brought to; a bare null takes any.
func widest(nodes []*pg_query.Node, of func(*pg_query.Node) string) string {
	widest := -1
	for _, n := range nodes {
		if n.GetAConst().GetIsnull() {
			continue
		}
		typ, _, _ := strings.Cut(of(n), "(")
		if !IsComparable(typ) || !isHashable(typ) {
			return typ
		}
		at := slices.Index(numbers, typ)
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
