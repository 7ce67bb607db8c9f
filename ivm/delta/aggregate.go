package delta

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

const aggregateRule = "Δ γ(X) = γ(X ⋉ A) ⊎ −γ((X ⊎ −Δ X) ⋉ A), A being the affected keys of Δ X"

// The rule holds for any aggregate and needs no state. Without keys there is one group, and any change affects it.
func (c Calculus) aggregate(n *algebra.Aggregate) algebra.Node { return c.local(n, n.Keys, true, nil) }

// local is the change of an operator of one input that makes its rows of those with the same keys (rule R3a): what it makes of the affected keys' rows as
// they are, less what it made of them as they were. asked says which of the affected keys are asked for, nil that all are.
func (c Calculus) local(n algebra.Node, keys []algebra.Item, restrict bool, asked func(algebra.Node) algebra.Node) algebra.Node {
	input := n.Inputs()[0]
	changes := c.Of(input)
	if changes == nil {
		return nil
	}
	changes = algebra.Keep(changes)
	c.done[input] = changes
	now, before := input, algebra.Before(input, changes)
	if restrict {
		affected := c.keysIn(changes, keys)
		if asked != nil {
			affected = asked(affected)
		}
		now, before = c.Restrict(now, keys, affected), c.Restrict(before, keys, affected)
	}
	if algebra.Earlier(input) == nil { // it needs rows, not signs: what was is turned into a bag
		before = &algebra.Bag{Input: before}
	}
	return sum(n.Columns(), []algebra.Node{n.With([]algebra.Node{now}), &algebra.Negate{Input: n.With([]algebra.Node{before})}})
}

// Affected are the keys of the groups that changes of the input fall into, each
// once; a superset does no harm. It is nil if nothing can change.
func (c Calculus) Affected(n *algebra.Aggregate) algebra.Node {
	changes := c.Of(n.Input)
	if changes == nil {
		return nil
	}
	return c.keysIn(changes, n.Keys)
}

// keysIn are the values of keys in rows, each once.
func (c Calculus) keysIn(rows algebra.Node, keys []algebra.Item) algebra.Node {
	p := &algebra.Project{Input: rows}
	for _, k := range keys {
		p.Items = append(p.Items, algebra.Item{ID: c.columns.New(c.columns.Info(k.ID)), Expr: k.Expr})
	}
	return &algebra.Distinct{Input: p}
}

// Restrict leaves of n the rows whose keys are among affected. An index finds
// keys by =, which no null satisfies: those have a branch of their own.
func (c Calculus) Restrict(n algebra.Node, keys []algebra.Item, affected algebra.Node) algebra.Node {
	some := &algebra.Join{Left: n, Right: affected}
	null := &algebra.Join{Left: n, Right: affected}
	branched, rows := false, c.props.Of(n)
	for i, k := range keys {
		there := algebra.Ref(affected.Columns()[i]).Expr
		equal := algebra.Scalar{Expr: sqltext.Equals(k.Expr.Expr, there)}
		switch {
		case neverNull(rows, k.Expr):
			some.On, null.On = append(some.On, equal), append(null.On, equal)
		case !branched:
			branched = true
			some.On = append(some.On, equal)
			null.On = append(null.On, c.columns.IsNull(k.Expr), c.columns.IsNull(algebra.Scalar{Expr: there}))
		default:
			same := algebra.Scalar{Expr: sqltext.NotDistinct(k.Expr.Expr, there)}
			some.On, null.On = append(some.On, same), append(null.On, same)
		}
	}
	cols := n.Columns()
	if !branched {
		return &algebra.Project{Input: some, Items: algebra.Same(cols)}
	}
	return &algebra.Union{Cols: cols, From: []algebra.Branch{{Input: some, Cols: cols}, {Input: null, Cols: cols}}}
}

// neverNull reports whether an expression over rows is one of their columns that is never null.
func neverNull(rows *props.Facts, e algebra.Scalar) bool {
	id, ok := e.Column()
	return ok && rows.NotNull(id)
}
