package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// firstsBeside are the first rows that a subquery has for each row beside it, which it compares in equalities only, as those of each value that is compared:
// (… where k = l.k order by x limit 1) are the first rows of each k. The condition says which belong to a row beside.
func (r *resolver) firstsBeside(n algebra.Node) (rows algebra.Node, on []algebra.Scalar, ok bool) {
	var shown []algebra.Item
	if p, isProject := n.(*algebra.Project); isProject {
		n, shown = p.Input, p.Items
	}
	top, isTop := n.(*algebra.Top)
	if !isTop {
		return nil, nil, false
	}
	pulled := correlation{computed: map[algebra.ColID]algebra.Scalar{}}
	groups := &algebra.Aggregate{Input: pulled.rows(top.Input)}
	for _, cond := range pulled.conds {
		c, keyed := r.keyed(groups, pulled.over(cond))
		if !keyed {
			return nil, nil, false
		}
		on = append(on, c)
	}
	if len(pulled.computed) > 0 {
		return nil, nil, false
	}
	of := *top
	p := &algebra.Project{Input: groups.Input, Items: append(algebra.Same(top.Columns()), groups.Keys...)}
	of.Input, of.Keys = p, slices.Clone(top.Keys)
	for _, k := range groups.Keys {
		of.Keys = append(of.Keys, k.ID)
	}
	rows = &of
	if shown != nil {
		rows = &algebra.Project{Input: rows, Items: append(slices.Clone(shown), algebra.Same(of.Keys)...)}
	}
	return rows, on, algebra.Verify(rows) == nil
}

// first is a subquery that has a row at most because of its LIMIT.
func (j *joining) first(rel relation) (s side, value sqltext.Expr, ok bool) {
	n := rel.node
	if p, isProject := n.(*algebra.Project); isProject {
		n = p.Input
	}
	top, isTop := n.(*algebra.Top)
	if !isTop || top.Ties || len(top.Keys) > 0 {
		return side{}, value, false
	}
	if count, isNumber := top.Count.Expr.Integer(); !isNumber || count > 1 {
		return side{}, value, false
	}
	s.node, s.on, ok = j.firstsBeside(rel.node)
	if !ok || slices.ContainsFunc(s.node.Columns(), func(id algebra.ColID) bool { return j.columns.Info(id).Type == "" }) {
		return side{}, value, false
	}
	if len(s.on) == 0 { // there may be none
		s.on = []algebra.Scalar{{Expr: sqltext.True()}}
	}
	return s, sqltext.Column(int(rel.ids[0])), true
}
