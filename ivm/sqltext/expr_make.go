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

// False returns false.
func False() Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{
		Val: &pg_query.A_Const_Boolval{Boolval: &pg_query.Boolean{}}, Location: -1,
	}}}}
}
