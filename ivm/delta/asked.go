package delta

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// joined is Δn for a join with other only. Of groups it leaves out those whose key is in no filtered table of other, now or before: of a hundred parts whose
// lines changed, one may be of the brand that is asked for, and the lines of the others need not be read.
func (c Calculus) joined(n, other algebra.Node, on []algebra.Scalar) algebra.Node {
	changes := c.Of(n)
	groups, ok := n.(*algebra.Aggregate)
	if !ok || changes == nil {
		return changes
	}
	for i, k := range groups.Keys {
		if table, column := c.filtered(other, c.equalColumn(k.ID, on, other.Columns())); table != nil {
			return c.local(groups, groups.Keys, true, func(affected algebra.Node) algebra.Node { return c.among(affected, i, table, column) })
		}
	}
	return changes
}

// filtered finds a table with conditions of its own in n that has each value which a column of n has.
func (c Calculus) filtered(n algebra.Node, id algebra.ColID) (table *algebra.Filter, column algebra.ColID) {
	if !slices.Contains(n.Columns(), id) {
		return nil, 0
	}
	switch n := n.(type) {
	case *algebra.Filter:
		if _, ok := n.Input.(*algebra.Source); ok {
			return n, id
		}
		return c.filtered(n.Input, id)
	case *algebra.Join:
		return c.inEither(n.Left, n.Right, n.On, id)
	case *algebra.Semi:
		if !n.Anti {
			return c.inEither(n.Left, n.Right, n.On, id)
		}
		return c.filtered(n.Left, id)
	case *algebra.Project:
		for _, item := range n.Items {
			if below, ok := item.Expr.Column(); ok && item.ID == id {
				return c.filtered(n.Input, below)
			}
		}
	}
	return nil, 0
}

// inEither looks for the table on the side that has the column, and on the other one behind an equality.
func (c Calculus) inEither(left, right algebra.Node, on []algebra.Scalar, id algebra.ColID) (*algebra.Filter, algebra.ColID) {
	if slices.Contains(right.Columns(), id) {
		left, right = right, left
	}
	if table, column := c.filtered(left, id); table != nil {
		return table, column
	}
	return c.filtered(right, c.equalColumn(id, on, right.Columns()))
}

// equalColumn is one of some columns that conditions say has the value of another one, or 0. Of other types, several values may be equal to one.
func (c Calculus) equalColumn(id algebra.ColID, on []algebra.Scalar, among []algebra.ColID) algebra.ColID {
	for _, e := range props.Equalities(on) {
		l, lok := e.Left.Column()
		r, rok := e.Right.Column()
		if r == id {
			l, r = r, l
		}
		alike := sqltext.Unsized(c.columns.TypeOf(e.Left)) == sqltext.Unsized(c.columns.TypeOf(e.Right))
		if lok && rok && l == id && slices.Contains(among, r) && alike && c.columns.Info(r).Equality.Comparable() {
			return r
		}
	}
	return 0
}

// among are those of affected keys of which a table has the nth value, or had it.
func (c Calculus) among(affected algebra.Node, nth int, table *algebra.Filter, column algebra.ColID) algebra.Node {
	there := func(rows algebra.Node) algebra.Node {
		value := algebra.Item{ID: c.columns.New(c.columns.Info(column)), Expr: algebra.Ref(column)}
		on := equal(algebra.Ref(affected.Columns()[nth]), algebra.Ref(value.ID))
		join := &algebra.Join{Left: affected, Right: &algebra.Project{Input: rows, Items: []algebra.Item{value}}, On: []algebra.Scalar{on}}
		return &algebra.Project{Input: join, Items: algebra.Same(affected.Columns())}
	}
	asked := there(table)
	if changes := c.Of(table); changes != nil {
		asked = sum(affected.Columns(), []algebra.Node{asked, there(changes)})
	} else if len(c.props.Of(table).Key([]algebra.ColID{column})) > 0 {
		return asked // of each key once
	}
	return &algebra.Distinct{Input: asked}
}
