package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// What a table declares NOT NULL it may lose, by ALTER TABLE or as another takes its place. Where the SQL depends on it:
//
// Keys by which groups are looked up are compared by =, which finds no null. Groups that are merged under a unique index need no such
// promise: the key is NOT NULL where they are stored, so a null is an error and not a group that is lost. The same goes for rows.

// NotNull lists the columns of a table of which the view's SQL takes for granted that they hold no null.
func (v *View) NotNull(table *catalog.Relation) []string {
	if v.Root == nil {
		return nil
	}
	var names []string
	relied := v.relied()
	algebra.Walk(v.Root, func(n algebra.Node) {
		if read, ok := n.(*algebra.Source); ok && read.Table == table {
			for _, c := range read.Cols {
				if name := table.Columns[c.Attr].Name; relied[c.ID] && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	})
	return names
}

// NeverNull tells that a column of the output holds no null, whatever becomes of its tables: the view is not kept up to date then.
func (v *View) NeverNull(o int) bool {
	id := v.Output[o].ID
	if v.Root == nil || v.Columns.Info(id).Nullable {
		return false
	}
	s := v.Storage()
	if !s.Hashed() && slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Name == v.Output[o].Name && !k.Nullable }) {
		return true
	}
	relied := v.relied()
	for from := range origins(v.Root, id) {
		if !relied[from] {
			return false
		}
	}
	return true
}

// relied are the columns of tables that keys of groups are looked up by as never null.
func (v *View) relied() map[algebra.ColID]bool {
	merged := v.aggregate()
	if v.Strategy() != MergeGroups || v.Storage().Hashed() {
		merged = nil
	}
	relied := map[algebra.ColID]bool{}
	algebra.Walk(v.Root, func(n algebra.Node) {
		groups, ok := n.(*algebra.Aggregate)
		if !ok || groups == merged {
			return
		}
		for _, k := range groups.Keys {
			if id, ok := k.Expr.Column(); ok && !v.Columns.Info(k.ID).Nullable {
				for from := range origins(groups.Input, id) {
					relied[from] = true
				}
			}
		}
	})
	return relied
}

// origins are the columns of tables that a column of a node is, but not those of other stream tables, which hold no null once they are said to.
func origins(n algebra.Node, id algebra.ColID) map[algebra.ColID]bool {
	from := map[algebra.ColID][]algebra.ColID{}
	own := map[algebra.ColID]bool{}
	item := func(i algebra.Item) {
		if below, ok := i.Expr.Column(); ok && below != i.ID {
			from[i.ID] = append(from[i.ID], below)
		}
	}
	algebra.Walk(n, func(n algebra.Node) {
		switch n := n.(type) {
		case *algebra.Source:
			for _, c := range n.Cols {
				own[c.ID] = n.Table.Kind != catalog.StreamTable
			}
		case *algebra.Project:
			for _, i := range n.Items {
				item(i)
			}
		case *algebra.Aggregate:
			for _, k := range n.Keys {
				item(k)
			}
		case *algebra.Union:
			for _, b := range n.From {
				for i, id := range n.Cols {
					if b.Cols[i] != id {
						from[id] = append(from[id], b.Cols[i])
					}
				}
			}
		}
	})
	found, seen := map[algebra.ColID]bool{}, map[algebra.ColID]bool{}
	var follow func(algebra.ColID)
	follow = func(id algebra.ColID) {
		if seen[id] {
			return
		}
		seen[id] = true
		if own[id] {
			found[id] = true
		}
		for _, below := range from[id] {
			follow(below)
		}
	}
	follow(id)
	return found
}
