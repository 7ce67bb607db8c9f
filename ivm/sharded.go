package ivm

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// Where tables are distributed by a column, a view whose rows come from rows of one value of it can be computed shard by shard, and value by value: that of the
// rows of some values is that part of the view. ShardKey finds out whether it is one.

// Unsharded says what keeps a view from being computed shard by shard.
type Unsharded struct {
	What  string
	Table *catalog.Relation // which the part reads; nil for the whole view
	At    int               // in the query's text; below zero: unknown
}

// ShardKey is the output column that has the value of the distribution column in each row. column names that of a table; it is empty for one of which each node
// has a copy.
func (p *Plan) ShardKey(column func(*catalog.Relation) string) (output int, problem *Unsharded) {
	keys := sharder{p.Columns, column, nil}
	found := keys.of(p.view.Root)
	switch {
	case keys.problem != nil:
		return 0, keys.problem
	case len(p.view.Rows) > 0:
		return 0, &Unsharded{"rows as values are not computed shard by shard", p.view.Rows[0], -1}
	case !found.sharded:
		return 0, &Unsharded{What: "a stream table on Citus must read a distributed table", At: -1}
	}
	for i, o := range p.Output {
		if found.keys[o.ID] {
			return i, nil
		}
	}
	return 0, &Unsharded{What: "the query must return the distribution column, as it is", At: -1}
}

// sharded is what is known of the rows that a node makes.
type sharded struct {
	sharded bool                   // they come from a distributed table; otherwise each node makes all of them
	keys    map[algebra.ColID]bool // the columns that have the value of its distribution column
	table   *catalog.Relation      // the first such table
}

type sharder struct {
	columns *algebra.Columns
	column  func(*catalog.Relation) string
	problem *Unsharded // the first one
}

func (s *sharder) report(what string, table *catalog.Relation, at int) {
	if s.problem == nil {
		s.problem = &Unsharded{what, table, at}
	}
}

func (s *sharder) of(n algebra.Node) sharded {
	switch n := n.(type) {
	case *algebra.Source:
		return s.source(n)
	case *algebra.Values, *algebra.Recursion: // of constants: others have states, which there are none of
		return sharded{}
	case *algebra.Filter, *algebra.Join:
		return s.joined(n)
	case *algebra.Outer:
		if n.Full {
			below := s.beside(n.Left, n.Right, n.On)
			if below.sharded {
				s.report("a full join is not computed shard by shard", below.table, -1)
			}
			return below
		}
		return s.beside(n.Left, n.Right, n.On)
	case *algebra.Semi:
		return s.beside(n.Left, n.Right, n.On)
	case *algebra.Project:
		return s.passed(s.of(n.Input), n.Items)
	case *algebra.Each:
		return s.of(n.Input)
	case *algebra.Aggregate:
		return s.groups(n)
	case *algebra.Window:
		return s.windows(n)
	case *algebra.Union:
		return s.union(n)
	case *algebra.Top:
		below := s.of(n.Input)
		if below.sharded {
			s.report("first rows are not computed shard by shard", below.table, -1)
		}
		return below
	case *algebra.Distinct:
		below := s.of(n.Input)
		if below.sharded && len(below.keys) == 0 {
			s.report("DISTINCT must keep the distribution column", below.table, -1)
		}
		return below
	}
	panic(fmt.Sprintf("no rule for shards of %T", n))
}

func (s *sharder) source(n *algebra.Source) sharded {
	if n.Table.Clock {
		s.report("the time of day is not followed shard by shard", n.Table, -1)
		return sharded{}
	}
	name := s.column(n.Table)
	if name == "" {
		return sharded{}
	}
	found := sharded{true, map[algebra.ColID]bool{}, n.Table}
	for _, c := range n.Cols {
		if n.Table.Columns[c.Attr].Name == name {
			found.keys[c.ID] = true
		}
	}
	return found
}

// joined: rows of distributed tables meet on the node that has both if their distribution columns are equal.
func (s *sharder) joined(n algebra.Node) sharded {
	var leaves []sharded
	var conds []algebra.Scalar
	var flatten func(algebra.Node)
	flatten = func(n algebra.Node) {
		switch n := n.(type) {
		case *algebra.Filter:
			conds = append(conds, n.Conds...)
			flatten(n.Input)
		case *algebra.Join:
			conds = append(conds, n.On...)
			flatten(n.Left)
			flatten(n.Right)
		default:
			leaves = append(leaves, s.of(n))
		}
	}
	flatten(n)
	leaves = slices.DeleteFunc(leaves, func(l sharded) bool { return !l.sharded })
	if len(leaves) == 0 {
		return sharded{}
	}
	found := sharded{true, map[algebra.ColID]bool{}, leaves[0].table}
	for id := range leaves[0].keys {
		found.keys[id] = true
	}
	for again := true; again; { // also what is equal to an equal column
		again = s.spread(found.keys, conds)
		for _, l := range leaves[1:] {
			again = meet(found.keys, l.keys) || again
		}
	}
	for _, l := range leaves[1:] {
		if !overlap(found.keys, l.keys) {
			s.report(fmt.Sprintf("the join must compare the distribution columns of %s and %s", leaves[0].table.SQLName(), l.table.SQLName()), l.table, -1)
		}
	}
	return found
}

// beside: a row of the left side meets, on its node, all rows of the right side that it is compared with. A row that meets none is there, too.
func (s *sharder) beside(left, right algebra.Node, on []algebra.Scalar) sharded {
	found, other := s.of(left), s.of(right)
	switch {
	case !other.sharded:
	case !found.sharded:
		s.report("rows that are kept or tested must be those of a distributed table, as "+other.table.SQLName()+" is", other.table, -1)
	default:
		equal := maps.Clone(found.keys)
		for s.spread(equal, on) {
		}
		if !overlap(equal, other.keys) {
			s.report(fmt.Sprintf("the join must compare the distribution columns of %s and %s", found.table.SQLName(), other.table.SQLName()), other.table, -1)
		}
	}
	return found
}

// spread adds columns that conditions make equal to those of a set. Only columns of one type are on the same shard if they are equal.
func (s *sharder) spread(keys map[algebra.ColID]bool, conds []algebra.Scalar) (more bool) {
	for _, e := range props.Equalities(conds) {
		l, isLeft := e.Left.Column()
		r, isRight := e.Right.Column()
		if isLeft && isRight && keys[l] != keys[r] && s.columns.Info(l).Type == s.columns.Info(r).Type {
			keys[l], keys[r], more = true, true, true
		}
	}
	return more
}

// meet adds the keys of a leaf, which are equal to each other, if it has one of them.
func meet(keys, leaf map[algebra.ColID]bool) (more bool) {
	if !overlap(keys, leaf) {
		return false
	}
	for id := range leaf {
		more = more || !keys[id]
		keys[id] = true
	}
	return more
}

func overlap(a, b map[algebra.ColID]bool) bool {
	for id := range a {
		if b[id] {
			return true
		}
	}
	return false
}

// passed are the keys among items that pass columns on as they are.
func (s *sharder) passed(below sharded, items []algebra.Item) sharded {
	found := sharded{below.sharded, map[algebra.ColID]bool{}, below.table}
	for _, item := range items {
		if id, ok := item.Expr.Column(); ok && below.keys[id] {
			found.keys[item.ID] = true
		}
	}
	return found
}

func (s *sharder) groups(n *algebra.Aggregate) sharded {
	found := s.passed(s.of(n.Input), n.Keys)
	if found.sharded && len(found.keys) == 0 {
		at := -1
		if len(n.Aggs) > 0 {
			at = n.Aggs[0].Call.Expr.At()
		}
		s.report("groups must have the distribution column among their keys", found.table, at)
	}
	return found
}

// windows: all rows of a partition are on one node.
func (s *sharder) windows(n *algebra.Window) sharded {
	found := s.of(n.Input)
	if found.sharded && !slices.ContainsFunc(n.KeyColumns(), func(id algebra.ColID) bool { return found.keys[id] }) {
		s.report("window functions must have the distribution column in PARTITION BY", found.table, n.Calls[0].Call.Expr.At())
	}
	return found
}

func (s *sharder) union(n *algebra.Union) sharded {
	var branches []sharded
	for _, b := range n.From {
		branches = append(branches, s.of(b.Input))
	}
	first := slices.IndexFunc(branches, func(b sharded) bool { return b.sharded })
	if first < 0 {
		return sharded{}
	}
	found := sharded{true, map[algebra.ColID]bool{}, branches[first].table}
	for i, id := range n.Cols {
		found.keys[id] = true
		for b, branch := range branches {
			if !branch.keys[n.From[b].Cols[i]] {
				delete(found.keys, id)
			}
		}
	}
	switch {
	case slices.ContainsFunc(branches, func(b sharded) bool { return !b.sharded }):
		s.report("each branch of UNION must read a distributed table: all shards would have the rows of the others", found.table, -1)
	case len(found.keys) == 0:
		s.report("all branches of UNION must have the distribution column at one place", found.table, -1)
	}
	return found
}
