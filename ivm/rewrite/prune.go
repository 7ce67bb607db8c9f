// Package rewrite simplifies trees. Each rule is a function that keeps the rows of a tree as they are.
//
// Files call downwards: distinct, outer, joins, tested, semi, window, aggregates, order, restrict, ties, prune, distribute.
package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// PruneColumns leaves in each source the columns that something above reads.
// Which columns those are decides what change logs hold.
func PruneColumns(root algebra.Node) algebra.Node {
	read := map[algebra.ColID]bool{}
	note := func(ids []algebra.ColID) {
		for _, id := range ids {
			read[id] = true
		}
	}
	note(root.Columns())
	algebra.Walk(root, func(n algebra.Node) {
		note(algebra.Reads(n))
		if r, ok := n.(*algebra.Recursion); ok { // a key tells its rows apart as changes of the recursion are followed
			algebra.Walk(r.Step.Input, func(in algebra.Node) { note(keyOf(in)) })
		}
	})
	return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
		s, ok := n.(*algebra.Source)
		if !ok {
			return n
		}
		pruned := &algebra.Source{Table: s.Table}
		for _, c := range s.Cols {
			if read[c.ID] {
				pruned.Cols = append(pruned.Cols, c)
			}
		}
		return pruned
	})
}

// keyOf are the columns of a table's key.
func keyOf(n algebra.Node) (ids []algebra.ColID) {
	s, ok := n.(*algebra.Source)
	if !ok {
		return nil
	}
	for _, c := range s.Cols {
		if slices.Contains(s.Table.Key, c.Attr) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
