package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// Children returns the expressions next below this one: arguments, filters, sort and window expressions, the left side of a subquery test. It
// does not look into subqueries.
func (e Expr) Children() []Expr {
	if e.IsZero() {
		return nil
	}
	var all []Expr
	var visit func(n *pg_query.Node) *pg_query.Node
	visit = func(n *pg_query.Node) *pg_query.Node {
		switch {
		case isScalar(n):
			all = append(all, Expr{n})
		case n.GetSelectStmt() == nil:
			mapBelow(n, visit)
		}
		return n
	}
	mapBelow(e.node, visit)
	return all
}

// Map returns a copy in which each outermost expression for which f says true, perhaps the whole, is replaced. It does not look into subqueries.
func (e Expr) Map(f func(Expr) (Expr, bool)) Expr {
	if e.IsZero() {
		return e
	}
	var visit func(n *pg_query.Node) *pg_query.Node
	visit = func(n *pg_query.Node) *pg_query.Node {
		if n.GetSelectStmt() != nil {
			return n
		}
		if isScalar(n) {
			if replacement, ok := f(Expr{n}); ok {
				return replacement.node
			}
		}
		return mapBelow(n, visit)
	}
	return Expr{visit(e.node)}
}
