package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// Equals returns l = r.
func Equals(l, r Expr) Expr {
	return Expr{pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_OP, []*pg_query.Node{pg_query.MakeStrNode("=")}, l.node, r.node, -1)}
}

// NotDistinct returns l is not distinct from r.
func NotDistinct(l, r Expr) Expr {
	return Expr{pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT, []*pg_query.Node{pg_query.MakeStrNode("=")}, l.node, r.node, -1)}
}

// IsNull returns e is null.
func IsNull(e Expr) Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_NullTest{NullTest: &pg_query.NullTest{
		Arg: e.node, Nulltesttype: pg_query.NullTestType_IS_NULL, Location: -1,
	}}}}
}

// IsNullItself returns e is not distinct from null, which a row of nulls is not; such a row is null as SQL has it.
func IsNullItself(e Expr) Expr {
	null := &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{Isnull: true, Location: -1}}}
	return NotDistinct(e, Expr{null})
}

// False returns false.
func False() Expr { return boolean(false) }

// Integer returns a constant.
func Integer(n int) Expr { return Expr{pg_query.MakeAConstIntNode(int64(n), -1)} }

// True returns true.
func True() Expr { return boolean(true) }

func boolean(value bool) Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{
		Val: &pg_query.A_Const_Boolval{Boolval: &pg_query.Boolean{Boolval: value}}, Location: -1,
	}}}}
}

// Compare returns l operator r.
func Compare(op Operator, l, r Expr) Expr {
	name := []*pg_query.Node{pg_query.MakeStrNode(op.Name)}
	if op.Schema != "" {
		name = append([]*pg_query.Node{pg_query.MakeStrNode(op.Schema)}, name...)
	}
	return Expr{pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_OP, name, l.node, r.node, -1)}
}

// IsFalse is e IS FALSE.
func IsFalse(e Expr) Expr { return tested(e, pg_query.BoolTestType_IS_FALSE) }

// IsNotFalse is e IS NOT FALSE.
func IsNotFalse(e Expr) Expr { return tested(e, pg_query.BoolTestType_IS_NOT_FALSE) }

// IsNotTrue is e IS NOT TRUE.
func IsNotTrue(e Expr) Expr { return tested(e, pg_query.BoolTestType_IS_NOT_TRUE) }

func tested(e Expr, test pg_query.BoolTestType) Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_BooleanTest{BooleanTest: &pg_query.BooleanTest{
		Arg: e.node, Booltesttype: test, Location: -1,
	}}}}
}

// Null returns null::type, which is how format_type spells it.
func Null(typ string) Expr {
	e, err := ParseExpr("null::"+typ, nil)
	if err != nil {
		panic(err)
	}
	return e
}

// Image returns the expression by which values of e differ that are equal and not the same.
func (e Expr) Image() Expr {
	image, err := ParseExpr(Image("e"), map[string]int{"e": 1})
	if err != nil {
		panic(err)
	}
	return image.Map(func(column Expr) (Expr, bool) { _, is := column.Column(); return e, is })
}

// Coalesce returns coalesce(a, b).
func Coalesce(a, b Expr) Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_CoalesceExpr{CoalesceExpr: &pg_query.CoalesceExpr{Args: []*pg_query.Node{a.node, b.node}, Location: -1}}}}
}

// RowOf returns row(parts)::schema.typ, a row of a table.
func RowOf(parts []Expr, schema, typ string) Expr {
	row := &pg_query.RowExpr{RowFormat: pg_query.CoercionForm_COERCE_EXPLICIT_CALL, Location: -1}
	for _, part := range parts {
		row.Args = append(row.Args, part.node)
	}
	named := &pg_query.TypeName{Names: []*pg_query.Node{pg_query.MakeStrNode(schema), pg_query.MakeStrNode(typ)}, Typemod: -1, Location: -1}
	return Expr{&pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{
		Arg: &pg_query.Node{Node: &pg_query.Node_RowExpr{RowExpr: row}}, TypeName: named, Location: -1,
	}}}}
}

// Field returns (e).name.
func (e Expr) Field(name string) Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_AIndirection{AIndirection: &pg_query.A_Indirection{
		Arg: e.node, Indirection: []*pg_query.Node{pg_query.MakeStrNode(name)},
	}}}}
}
