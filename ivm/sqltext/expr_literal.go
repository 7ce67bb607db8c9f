package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// Text returns the value of a string constant.
func (e Expr) Text() (string, bool) {
	c := e.node.GetAConst()
	return c.GetSval().GetSval(), c.GetSval() != nil
}

// text is a string constant.
func text(value string) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{
		Val: &pg_query.A_Const_Sval{Sval: &pg_query.String{Sval: value}}, Location: -1,
	}}}
}

// copyOf is a copy of a node whose parts are shared but for its lists.
func copyOf(n *pg_query.Node) *pg_query.Node {
	return mapBelow(n, func(below *pg_query.Node) *pg_query.Node { return below })
}

// CastText returns the cast of a string constant with another value of the constant.
func (e Expr) CastText(value string) Expr {
	cast := copyOf(e.node)
	cast.GetTypeCast().Arg = text(value)
	return Expr{cast}
}

// WithText returns the call with a string constant as the argument of a number, from 0.
func (e Expr) WithText(arg int, value string) Expr {
	call := copyOf(e.node)
	call.GetFuncCall().Args[arg] = text(value)
	return Expr{call}
}

// Ordered returns the call of an aggregate with an order in which it takes its rows, behind the one that it has.
func (e Expr) Ordered(items []SortItem) Expr {
	call := copyOf(e.node)
	var order *[]*pg_query.Node
	switch n := call.Node.(type) {
	case *pg_query.Node_FuncCall:
		order = &n.FuncCall.AggOrder
	case *pg_query.Node_JsonArrayAgg:
		order = &n.JsonArrayAgg.Constructor.AggOrder
	case *pg_query.Node_JsonObjectAgg:
		order = &n.JsonObjectAgg.Constructor.AggOrder
	default:
		return e
	}
	for _, i := range items {
		*order = append(*order, i.node())
	}
	return Expr{call}
}

// node is the item as the parser has it.
func (s SortItem) node() *pg_query.Node {
	by := &pg_query.SortBy{Node: s.Expr.node, SortbyDir: pg_query.SortByDir_SORTBY_DEFAULT, SortbyNulls: pg_query.SortByNulls_SORTBY_NULLS_DEFAULT, Location: -1}
	switch {
	case s.Using.Name != "":
		by.SortbyDir, by.UseOp = pg_query.SortByDir_SORTBY_USING, []*pg_query.Node{pg_query.MakeStrNode(s.Using.Name)}
		if s.Using.Schema != "" {
			by.UseOp = append([]*pg_query.Node{pg_query.MakeStrNode(s.Using.Schema)}, by.UseOp...)
		}
	case s.Desc:
		by.SortbyDir = pg_query.SortByDir_SORTBY_DESC
	}
	switch s.Nulls {
	case NullsFirst:
		by.SortbyNulls = pg_query.SortByNulls_SORTBY_NULLS_FIRST
	case NullsLast:
		by.SortbyNulls = pg_query.SortByNulls_SORTBY_NULLS_LAST
	}
	return &pg_query.Node{Node: &pg_query.Node_SortBy{SortBy: by}}
}

// WithArgs returns the call with other arguments.
func (e Expr) WithArgs(args ...Expr) Expr {
	call := copyOf(e.node)
	call.GetFuncCall().Args = nil
	for _, arg := range args {
		call.GetFuncCall().Args = append(call.GetFuncCall().Args, arg.node)
	}
	return Expr{call}
}
