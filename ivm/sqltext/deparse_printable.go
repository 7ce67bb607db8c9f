package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// printable returns a copy of a tree that pg_query prints as what the tree means.
func printable(n *pg_query.Node) *pg_query.Node {
	n = mapBelow(n, printable)
	quoteNames(n)
	switch m := n.Node.(type) {
	case *pg_query.Node_AExpr:
		fenceOperands(m.AExpr)
	case *pg_query.Node_NullTest:
		fence(&m.NullTest.Arg)
	case *pg_query.Node_BooleanTest:
		fence(&m.BooleanTest.Arg)
	case *pg_query.Node_TypeCast:
		fence(&m.TypeCast.Arg)
	case *pg_query.Node_CollateClause:
		fence(&m.CollateClause.Arg)
	case *pg_query.Node_SubLink:
		fence(&m.SubLink.Testexpr)
	case *pg_query.Node_AIndirection:
		fenceBase(m.AIndirection)
	case *pg_query.Node_JsonIsPredicate:
		fence(&m.JsonIsPredicate.Expr)
	case *pg_query.Node_XmlExpr:
		if m.XmlExpr.Op == pg_query.XmlExprOp_IS_DOCUMENT {
			fence(&m.XmlExpr.Args[0])
		}
	case *pg_query.Node_FuncCall:
		if ownSyntax(m.FuncCall) {
			fenceArguments(m.FuncCall)
		}
	case *pg_query.Node_RangeTableFunc:
		fenceCasts(&m.RangeTableFunc.Docexpr)
		for _, namespace := range m.RangeTableFunc.Namespaces {
			fence(&namespace.GetResTarget().Val)
		}
	case *pg_query.Node_RangeTableFuncCol:
		fence(&m.RangeTableFuncCol.Colexpr)
		fence(&m.RangeTableFuncCol.Coldefexpr)
	}
	return n
}

// quoteNames quotes the names that pg_query prints as they are.
func quoteNames(node *pg_query.Node) {
	switch n := node.Node.(type) {
	case *pg_query.Node_FuncCall:
		quoteWindow(n.FuncCall.Over)
	case *pg_query.Node_JsonObjectAgg:
		quoteWindow(n.JsonObjectAgg.Constructor.Over)
	case *pg_query.Node_JsonArrayAgg:
		quoteWindow(n.JsonArrayAgg.Constructor.Over)
	case *pg_query.Node_WindowDef:
		quoteWindow(n.WindowDef)
	case *pg_query.Node_NamedArgExpr:
		n.NamedArgExpr.Name = Ident(n.NamedArgExpr.Name)
	case *pg_query.Node_JoinExpr:
		if alias := n.JoinExpr.JoinUsingAlias; alias != nil {
			alias.Aliasname = Ident(alias.Aliasname)
		}
	}
}

func quoteWindow(w *pg_query.WindowDef) {
	if w.GetName() != "" {
		w.Name = Ident(w.Name)
	}
}

func fenceOperands(x *pg_query.A_Expr) {
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL, pg_query.A_Expr_Kind_AEXPR_IN:
		fence(&x.Lexpr) // what stands right is in parentheses
		return
	case pg_query.A_Expr_Kind_AEXPR_SIMILAR:
		fenceArguments(x.Rexpr.GetFuncCall())
	}
	fence(&x.Lexpr)
	if bounds := x.Rexpr.GetList(); bounds != nil {
		for i := range bounds.Items {
			fence(&bounds.Items[i])
		}
		return
	}
	fence(&x.Rexpr)
}

// fenceBase leaves those alone that pg_query puts in parentheses before a field or subscript, or that need none.
func fenceBase(x *pg_query.A_Indirection) {
	switch x.Arg.Node.(type) {
	case *pg_query.Node_AIndirection, *pg_query.Node_FuncCall, *pg_query.Node_AExpr, *pg_query.Node_TypeCast, *pg_query.Node_RowExpr,
		*pg_query.Node_ColumnRef, *pg_query.Node_ParamRef:
		return
	}
	if x.Arg.GetSubLink().GetSubLinkType() != pg_query.SubLinkType_EXPR_SUBLINK {
		x.Arg = parenthesized(x.Arg)
	}
}

// ownSyntax reports whether a call is written with keywords, such as AT TIME ZONE.
func ownSyntax(f *pg_query.FuncCall) bool {
	return f.Funcformat == pg_query.CoercionForm_COERCE_SQL_SYNTAX
}

func fenceArguments(f *pg_query.FuncCall) {
	_, name := qualified(f.Funcname)
	for i := range f.Args {
		if name == "xmlexists" {
			fenceCasts(&f.Args[i])
		} else {
			fence(&f.Args[i])
		}
	}
}

// fenceCasts is fence for the places in the grammar where not even a cast can stand without parentheses.
func fenceCasts(n **pg_query.Node) {
	if (*n).GetTypeCast() != nil {
		*n = parenthesized(*n)
	}
	fence(n)
}

// fence puts an operand in parentheses unless it holds together by itself.
func fence(n **pg_query.Node) {
	if *n != nil && !holdsTogether(*n) {
		*n = parenthesized(*n)
	}
}

func holdsTogether(node *pg_query.Node) bool {
	switch n := node.Node.(type) {
	case *pg_query.Node_AConst:
		return n.AConst.GetIval().GetIval() >= 0 && (n.AConst.GetFval() == nil || n.AConst.GetFval().Fval[0] != '-')
	case *pg_query.Node_FuncCall:
		return !ownSyntax(n.FuncCall) || !infix[lastName(node)]
	case *pg_query.Node_AExpr:
		return n.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF
	case *pg_query.Node_SubLink:
		return n.SubLink.Testexpr == nil
	case *pg_query.Node_XmlExpr:
		return n.XmlExpr.Op != pg_query.XmlExprOp_IS_DOCUMENT
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_BooleanTest, *pg_query.Node_CollateClause, *pg_query.Node_JsonIsPredicate:
		return false
	}
	return true
}

// infix lists the functions that are written between or after their arguments.
var infix = map[string]bool{"timezone": true, "overlaps": true, "is_normalized": true}

// parenthesized returns a row of one, which prints as the expression in parentheses; no text parses to it.
func parenthesized(n *pg_query.Node) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_RowExpr{RowExpr: &pg_query.RowExpr{
		Args: []*pg_query.Node{n}, RowFormat: pg_query.CoercionForm_COERCE_IMPLICIT_CAST, Location: -1,
	}}}
}
