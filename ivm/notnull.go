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
	for _, read := range v.props.Of(v.Root).Sources {
		for _, c := range read.Cols {
			if name := read.Table.Columns[c.Attr].Name; read.Table == table && relied[c.ID] && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// NeverNull tells that a column of the output holds no null, whatever becomes of its tables: the view is not kept up to date then.
func (v *View) NeverNull(o int) bool {
	id := v.Output[o].ID
	if v.Root == nil || !v.props.Of(v.Root).NotNull(id) {
		return false
	}
	s := v.Storage()
	if !s.Hashed() && slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Name == v.Output[o].Name && !k.Nullable }) {
		return true
	}
	relied := v.relied()
	return !slices.ContainsFunc(v.losable(v.Root, id), func(from algebra.ColID) bool { return !relied[from] })
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
			if id, ok := k.Expr.Column(); ok && v.props.Of(groups).NotNull(k.ID) {
				for _, from := range v.losable(groups.Input, id) {
					relied[from] = true
				}
			}
		}
	})
	return relied
}

// losable are the columns of tables that a column of a node passes on, but not those of other stream tables, which hold no null once they are said to.
func (v *View) losable(n algebra.Node, id algebra.ColID) []algebra.ColID {
	facts := v.props.Of(n)
	var from []algebra.ColID
	for _, s := range facts.Sources {
		for _, c := range s.Cols {
			if s.Table.Kind != catalog.StreamTable && slices.Contains(facts.Origins(id), c.ID) {
				from = append(from, c.ID)
			}
		}
	}
	return from
}
