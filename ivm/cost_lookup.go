package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
)

// lookup goes down a tree for the rows that have given values in some columns.
type lookup struct {
	cost  *Cost
	conds []algebra.Scalar // that hold between columns of the tree and of what stands beside it
	group bool
	when  Occasion
}

// enter notes which tables are read for the rows of n whose columns by are given.
func (l lookup) enter(n algebra.Node, by []algebra.ColID) {
	switch n := n.(type) {
	case *algebra.Source:
		if n.Table.OneRow() {
			return
		}
		r := read(n, by)
		r.Group, r.When = l.group, l.when
		l.cost.add(r)
	case *algebra.Project:
		l.below().enter(n.Input, renamed(n.Items, by))
	case *algebra.Union:
		for _, b := range n.From {
			l.below().enter(b.Input, branchColumns(n, b, by))
		}
	case *algebra.Aggregate:
		l.below().enter(n.Input, renamed(n.Keys, by))
	case *algebra.Window: // whole partitions
		l.below().enter(n.Input, common(n.KeyColumns(), by))
	case *algebra.Top: // all rows of a key, as any may be among the first
		l.below().enter(n.Input, common(n.Keys, by))
	case *algebra.Filter:
		l.conds = append(slices.Clip(l.conds), n.Conds...)
		l.enter(n.Input, by)
	case *algebra.Join:
		l.conds = append(slices.Clip(l.conds), n.On...)
		l.join(n, by)
	case *algebra.Outer:
		l.enter(&algebra.Join{Left: n.Left, Right: n.Right, On: n.On}, by)
	case *algebra.Semi:
		l.enter(n.Left, by)
		l.semi(n)
	case *algebra.Recursion: // as a whole
		algebra.Walk(n, func(n algebra.Node) {
			if s, ok := n.(*algebra.Source); ok && !s.Table.Recursive {
				l.below().enter(s, nil)
			}
		})
	default:
		for _, in := range n.Inputs() {
			l.enter(in, by)
		}
	}
}

// below is the lookup under an operator that makes columns of its own.
func (l lookup) below() lookup { return lookup{cost: l.cost, group: l.group, when: l.when} }

// join reads first the side whose rows are found by more columns, and then what matches on the other side.
func (l lookup) join(n *algebra.Join, by []algebra.ColID) {
	first, second := n.Left, n.Right
	if len(among(second, by)) > len(among(first, by)) {
		first, second = second, first
	}
	l.enter(first, among(first, by))
	known := among(second, by)
	for _, id := range l.linked(second, first.Columns()) {
		if !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	l.enter(second, known)
}

// semi reads what rows of the left side are tested by.
func (l lookup) semi(n *algebra.Semi) {
	l.conds = n.On
	l.enter(n.Right, l.linked(n.Right, n.Left.Columns()))
}

// growing notes what is read for rows of a recursion that come or go: what the step joins to them, and without All what it made them of.
func growing(c *Cost, n *algebra.Recursion) {
	l := lookup{cost: c}
	at := n.Step.Input
	for !n.Is(at) {
		switch in := at.(type) {
		case *algebra.Filter:
			l.conds, at = append(slices.Clip(l.conds), in.Conds...), in.Input
		case *algebra.Join:
			l.conds = append(slices.Clip(l.conds), in.On...)
			other := in.Right
			at = in.Left
			if algebra.Recurses(in.Right) {
				at, other = in.Right, in.Left
			}
			l.enter(other, l.linked(other, at.Columns()))
		default:
			l, at = l.below(), in.Inputs()[0]
		}
	}
	if !n.All {
		l.below().enter(n.Seed.Input, n.Seed.Cols)
		l.below().enter(n.Step.Input, n.Step.Cols)
	}
}

// among are those of the columns that a node has.
func among(n algebra.Node, ids []algebra.ColID) []algebra.ColID {
	var own []algebra.ColID
	for _, id := range n.Columns() {
		if slices.Contains(ids, id) {
			own = append(own, id)
		}
	}
	return own
}

// linked are the columns of n that a condition says are equal to something made of known columns.
func (l lookup) linked(n algebra.Node, known []algebra.ColID) []algebra.ColID {
	var ids []algebra.ColID
	for _, e := range props.Equalities(l.conds) {
		for _, sides := range [][2]algebra.Scalar{{e.Left, e.Right}, {e.Right, e.Left}} {
			id, isColumn := sides[0].Column()
			if isColumn && slices.Contains(n.Columns(), id) && !slices.Contains(ids, id) && sides[1].MadeOf(known) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// common are the keys that are given.
func common(keys, given []algebra.ColID) []algebra.ColID {
	return slices.DeleteFunc(slices.Clone(keys), func(id algebra.ColID) bool { return !slices.Contains(given, id) })
}

// renamed are the columns below a projection that the given ones are.
func renamed(items []algebra.Item, ids []algebra.ColID) []algebra.ColID {
	var below []algebra.ColID
	for _, item := range items {
		if id, ok := item.Expr.Column(); ok && slices.Contains(ids, item.ID) && !slices.Contains(below, id) {
			below = append(below, id)
		}
	}
	return below
}

func branchColumns(u *algebra.Union, b algebra.Branch, ids []algebra.ColID) []algebra.ColID {
	var below []algebra.ColID
	for i, id := range u.Cols {
		if slices.Contains(ids, id) {
			below = append(below, b.Cols[i])
		}
	}
	return below
}

// read is a source whose columns by are given.
func read(s *algebra.Source, by []algebra.ColID) Read {
	found := props.LookupBy(s, by)
	if s.Table.Before != nil && !found.Indexed { // a state has indexes on its keys, and gets no others
		found = props.Lookup{}
	}
	return Read{Table: s.Table, Columns: found.Columns, Unique: found.Unique, Indexed: found.Indexed}
}

// add notes that a table is read, and what that makes of the class, which says what is done as a rule.
func (c *Cost) add(r Read) {
	class := CostMatches
	switch {
	case r.When != Always:
		class = CostRow
	case len(r.Columns) == 0:
		class = CostWhole
	case r.Group:
		class = CostGroups
	}
	c.Class = max(c.Class, class)
	same := func(o Read) bool {
		return o.Table == r.Table && o.Group == r.Group && o.When == r.When && slices.Equal(o.Columns, r.Columns)
	}
	if !slices.ContainsFunc(c.Reads, same) {
		c.Reads = append(c.Reads, r)
	}
}
