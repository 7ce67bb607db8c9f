package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// firstsOf are the first rows that a subquery has for each row beside it, as first rows of each of the values that it reads. The conditions say which belong
// to a row beside.
type firstsOf struct {
	rows   algebra.Node
	on     []algebra.Scalar
	domain *algebra.Project // as in beside
}

// firstsBeside are the first rows of a subquery, (… where k = l.k order by x limit 1): where it compares the rows beside it in equalities only, those of each k,
// otherwise those of each combination of the values that it reads.
func (r *resolver) firstsBeside(n algebra.Node) (b firstsOf, ok bool) {
	if b, ok = r.firstsByEqual(n); ok {
		return b, true
	}
	return r.firstsByValues(n)
}

// topOf are the first rows that a tree has, and what is shown of them; all, if shown is nil.
func topOf(n algebra.Node) (top *algebra.Top, shown []algebra.Item) {
	if p, isProject := n.(*algebra.Project); isProject {
		n, shown = p.Input, p.Items
	}
	top, _ = n.(*algebra.Top)
	return top, shown
}

// showing are first rows with what is shown of them, and their keys.
func showing(top *algebra.Top, shown []algebra.Item) algebra.Node {
	if shown == nil {
		return top
	}
	return &algebra.Project{Input: top, Items: append(slices.Clone(shown), algebra.Same(top.Keys)...)}
}

// firstsByEqual are the first rows of each of the values that equalities compare with columns beside.
func (r *resolver) firstsByEqual(n algebra.Node) (b firstsOf, ok bool) {
	top, shown := topOf(n)
	if top == nil {
		return b, false
	}
	pulled := r.correlation()
	groups := &algebra.Aggregate{Input: pulled.rows(top.Input)}
	for _, cond := range pulled.conds {
		c, keyed := r.keyed(groups, pulled.over(cond))
		if !keyed {
			return b, false
		}
		b.on = append(b.on, c)
	}
	if len(pulled.computed) > 0 {
		return b, false
	}
	of := *top
	p := &algebra.Project{Input: groups.Input, Items: append(algebra.Same(top.Columns()), groups.Keys...)}
	of.Input, of.Keys = p, slices.Clone(top.Keys)
	for _, k := range groups.Keys {
		of.Keys = append(of.Keys, k.ID)
	}
	b.rows = showing(&of, shown)
	return b, algebra.Verify(b.rows) == nil
}

// firstsByValues are the first rows of each combination of values that are read of what stands beside.
func (r *resolver) firstsByValues(n algebra.Node) (b firstsOf, ok bool) {
	top, _ := topOf(n)
	if top == nil {
		return b, false
	}
	read, ok := r.valuesRead(n)
	if !ok {
		return b, false
	}
	of, shown := topOf(read.over(n))
	input, ok := r.under(&algebra.Distinct{Input: read.domain}, of.Input)
	if !ok {
		return b, false
	}
	keyed := *of
	keyed.Input, keyed.Keys = input, slices.Concat(of.Keys, read.values)
	return firstsOf{rows: showing(&keyed, shown), on: read.same(top.Input, read.values), domain: read.domain}, true
}

// beside has the domain be of the rows that the first rows stand beside.
func (b firstsOf) beside(left algebra.Node) {
	if b.domain != nil {
		b.domain.Input = left
	}
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
	b, ok := j.firstsBeside(rel.node)
	if !ok || slices.ContainsFunc(b.rows.Columns(), func(id algebra.ColID) bool { return j.columns.Info(id).Type == "" }) {
		return side{}, value, false
	}
	s = side{node: b.rows, on: b.on, domain: b.domain}
	if len(s.on) == 0 { // there may be none
		s.on = []algebra.Scalar{{Expr: sqltext.True()}}
	}
	return s, sqltext.Column(int(rel.ids[0])), true
}
