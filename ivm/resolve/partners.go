package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
)

// partners are the rows of a subquery of which it only matters whether one of them belongs to a row beside.
type partners struct {
	pulled correlation // which of them belong to a row beside
	rows   algebra.Node
}

// partners are the rows of n, which may read columns of left, or of any rows around if left is nil. Where it reads them in other places than conditions that
// can be pulled up, rows are made for each combination of the values that it reads. It is false where that is not followed.
func (r *resolver) partners(n, left algebra.Node) (p partners, ok bool) {
	p.pulled = r.correlation()
	p.rows = p.pulled.up(n)
	if !r.readsAny(p.rows, left) {
		return p, true
	}
	p.pulled = r.correlation()
	p.rows, p.pulled.conds, ok = r.rowsByValues(n, left)
	return p, ok
}

// test is a semi-join with the partners as its right side, of which it has what the conditions read.
func (p partners) test(n *algebra.Semi) *algebra.Semi {
	on := slices.Clone(p.pulled.conds)
	for _, e := range n.On {
		on = append(on, p.pulled.over(e))
	}
	n.Right, n.On = p.rows, on
	if p, ok := n.Right.(*algebra.Project); ok {
		only := &algebra.Project{Input: p.Input}
		for _, item := range p.Items {
			if slices.ContainsFunc(n.On, func(e algebra.Scalar) bool { return slices.Contains(e.Columns(), item.ID) }) {
				only.Items = append(only.Items, item)
			}
		}
		n.Right = only
	}
	return n
}

// readsAny reports whether a tree reads columns of another one, which it stands beside, or of any other if that is nil.
func (r *resolver) readsAny(n, beside algebra.Node) bool {
	read := props.New(r.columns).Of(n).Outer
	if beside == nil {
		return len(read) > 0
	}
	columns := beside.Columns()
	return slices.ContainsFunc(read, func(id algebra.ColID) bool { return slices.Contains(columns, id) })
}
