package sqltext

import (
	"reflect"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Expr is a scalar expression that nobody outside this package looks into. The zero value is no expression. Expressions do not change.
type Expr struct{ node *pg_query.Node }

// ExprOf is the expression of a node, which package ddl reads.
func ExprOf(n *pg_query.Node) Expr { return Expr{n} }

// Ref is a column reference: a, t.a, s.t.a, or with Star *, t.*.
type Ref struct {
	Pos   int
	Parts []string // the names before the star
	Star  bool
}

// IsZero reports whether there is no expression.
func (e Expr) IsZero() bool { return e.node == nil }

// At returns the position where the expression begins, but for parentheses around it; -1 if it was made rather than parsed.
func (e Expr) At() int { return leftmost(e.node) }

// Ref returns what an ordinary column reference names. A bound column is none.
func (e Expr) Ref() (Ref, bool) {
	c := e.node.GetColumnRef()
	if c == nil {
		return Ref{}, false
	}
	r := Ref{Pos: int(c.Location)}
	for _, field := range c.Fields {
		if field.GetAStar() != nil {
			r.Star = true
		} else {
			r.Parts = append(r.Parts, field.GetString_().Sval)
		}
	}
	return r, true
}

// Star reports whether the expression stands for several columns in a select list: *, t.* or (row).*.
func (e Expr) Star() bool {
	if r, ok := e.Ref(); ok {
		return r.Star
	}
	parts := e.node.GetAIndirection().GetIndirection()
	return len(parts) > 0 && parts[len(parts)-1].GetAStar() != nil
}

// Integer returns the value of an integer constant, which GROUP BY and ORDER BY take for the position of a target.
func (e Expr) Integer() (int, bool) {
	c := e.node.GetAConst()
	_, ok := c.GetVal().(*pg_query.A_Const_Ival)
	return int(c.GetIval().GetIval()), ok
}

// IsConstant reports whether the expression is a bare constant, which GROUP BY and ORDER BY refuse unless it is an integer.
func (e Expr) IsConstant() bool { return e.node.GetAConst() != nil }

// IsBoolean reports whether the expression is true or false, which PostgreSQL 14 takes where IsConstant is refused.
func (e Expr) IsBoolean() bool {
	_, ok := e.node.GetAConst().GetVal().(*pg_query.A_Const_Boolval)
	return ok
}

// IsGrouping reports whether the expression is GROUPING(…); its arguments are its children.
func (e Expr) IsGrouping() bool { return e.node.GetGroupingFunc() != nil }

// Conjuncts returns the conditions that a condition joins by AND, itself if it joins none.
func (e Expr) Conjuncts() []Expr {
	if e.IsZero() {
		return nil
	}
	and := e.node.GetBoolExpr()
	if and == nil || and.Boolop != pg_query.BoolExprType_AND_EXPR {
		return []Expr{e}
	}
	var all []Expr
	for _, arg := range and.Args {
		all = append(all, Expr{arg}.Conjuncts()...)
	}
	return all
}

// Logic returns AND, OR or NOT and the conditions below it; no word for other expressions.
func (e Expr) Logic() (word string, args []Expr) {
	b := e.node.GetBoolExpr()
	if b == nil {
		return "", nil
	}
	return logicWords[b.Boolop], exprs(b.Args)
}

var logicWords = map[pg_query.BoolExprType]string{
	pg_query.BoolExprType_AND_EXPR: "AND", pg_query.BoolExprType_OR_EXPR: "OR", pg_query.BoolExprType_NOT_EXPR: "NOT",
}

// Equality returns the sides of l = r, the operator being = or OPERATOR(pg_catalog.=).
func (e Expr) Equality() (l, r Expr, ok bool) {
	x := e.node.GetAExpr()
	if x == nil || x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || x.Lexpr == nil || x.Rexpr == nil {
		return Expr{}, Expr{}, false
	}
	op := operator(x.Name, x.Location)
	return Expr{x.Lexpr}, Expr{x.Rexpr}, op.Name == "=" && (op.Schema == "" || op.Schema == "pg_catalog")
}

// Equal reports whether two expressions are the same, positions aside. Names are compared as written, so bind columns first.
func Equal(a, b Expr) bool {
	return same(reflect.ValueOf(a.node), reflect.ValueOf(b.node))
}

// Column returns a bound column: a reference to a column by its id, 1 or more, which no text can spell. It prints as #12.
func Column(id int) Expr {
	// ParseQuery refuses parameters, which leaves their node free.
	return Expr{&pg_query.Node{Node: &pg_query.Node_ParamRef{ParamRef: &pg_query.ParamRef{Number: int32(id), Location: -1}}}}
}

// Bound returns the bound column of an id at the place of the expression.
func (e Expr) Bound(id int) Expr {
	return Expr{&pg_query.Node{Node: &pg_query.Node_ParamRef{ParamRef: &pg_query.ParamRef{Number: int32(id), Location: int32(e.At())}}}}
}

// Column returns the id of a bound column.
func (e Expr) Column() (id int, ok bool) {
	p := e.node.GetParamRef()
	return int(p.GetNumber()), p != nil
}

// Columns returns the ids of the bound columns in the expression, each once, in the order of the text.
func (e Expr) Columns() []int {
	var ids []int
	walk(e.node, func(m any) bool {
		if p, ok := m.(*pg_query.ParamRef); ok && !slices.Contains(ids, int(p.Number)) {
			ids = append(ids, int(p.Number))
		}
		return true
	})
	return ids
}

// Or joins two conditions.
func Or(a, b Expr) Expr {
	return Expr{pg_query.MakeBoolExprNode(pg_query.BoolExprType_OR_EXPR, []*pg_query.Node{a.node, b.node}, -1)}
}

// And joins conditions, no expression if there are none.
func And(conditions ...Expr) Expr {
	var args []*pg_query.Node
	for _, c := range conditions {
		for _, conjunct := range c.Conjuncts() {
			args = append(args, conjunct.node)
		}
	}
	switch len(args) {
	case 0:
		return Expr{}
	case 1:
		return Expr{args[0]}
	}
	return Expr{&pg_query.Node{Node: &pg_query.Node_BoolExpr{BoolExpr: &pg_query.BoolExpr{
		Boolop: pg_query.BoolExprType_AND_EXPR, Args: args, Location: -1,
	}}}}
}

// Name returns an ordinary column reference, such as alias.column.
func Name(parts ...string) Expr {
	fields := make([]*pg_query.Node, len(parts))
	for i, part := range parts {
		fields[i] = pg_query.MakeStrNode(part)
	}
	return Expr{pg_query.MakeColumnRefNode(fields, -1)}
}

func exprs(nodes []*pg_query.Node) []Expr {
	all := make([]Expr, len(nodes))
	for i, n := range nodes {
		all[i] = Expr{n}
	}
	return all
}

// IsConcatenation reports whether the expression is l || r.
func (e Expr) IsConcatenation() bool {
	x := e.node.GetAExpr()
	return x != nil && x.Kind == pg_query.A_Expr_Kind_AEXPR_OP && x.Lexpr != nil && operator(x.Name, x.Location).Name == "||"
}

// HasNames reports whether names in the expression are not bound to columns.
func (e Expr) HasNames() bool {
	found := false
	walk(e.node, func(m any) bool {
		_, is := m.(*pg_query.ColumnRef)
		found = found || is
		return !found
	})
	return found
}
