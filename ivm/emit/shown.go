package emit

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Shown are the columns of a view that is stored as groups, over the stored ones of a row, and the conditions under which a group is in the view. state
// has a column for each that is stored.
func Shown(root algebra.Node, g *apply.Groups, columns *algebra.Columns, state *algebra.Values, alias string) (list, conds []string) {
	w, ids := newWriter(columns, leaves(Tables{})), map[string]int{}
	leaf := Leaf{SQL: "stored", Alias: alias, Columns: map[algebra.ColID]string{}}
	for i, name := range g.Columns() {
		leaf.Columns[state.Cols[i]], ids[name] = name, int(state.Cols[i])
	}
	w.Bind(state, leaf)
	over := &algebra.Project{Input: state}
	for i, k := range g.Node.Keys {
		over.Items = append(over.Items, algebra.Item{ID: k.ID, Expr: algebra.Ref(state.Cols[i])})
	}
	for _, a := range g.Node.Aggs {
		expr, err := sqltext.ParseExpr(result(g.Results[a.ID]), ids)
		if err != nil {
			panic(err)
		}
		over.Items = append(over.Items, algebra.Item{ID: a.ID, Expr: algebra.Scalar{Expr: expr}})
	}
	return w.Flat(algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
		if n == g.Node {
			return over
		}
		return n
	}))
}

// Plainly are the columns of a view whose rows are stored as they are, over a row.
func Plainly(columns []string, alias string) []string { return prefixed(alias, columns) }
