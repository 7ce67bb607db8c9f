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

// Need is what a plan's SQL takes for granted of a table that it follows.
type Need struct {
	Table    *catalog.Relation
	Columns  []string // it reads
	NotNull  []string // of which it takes for granted that they hold no null
	UniqueOn []string // that no two rows share, where stored rows are found because of that
	Whole    bool     // it reads rows as values, which have these columns in this order and no others
}

// Follows reports whether the plan follows changes of a table.
func (p *Plan) Follows(table *catalog.Relation) bool {
	return slices.ContainsFunc(p.Needs, func(n Need) bool { return n.Table == table })
}

// Need is what the plan needs of a table; nothing if it does not follow the table.
func (p *Plan) Need(table *catalog.Relation) Need {
	for _, n := range p.Needs {
		if n.Table == table {
			return n
		}
	}
	return Need{Table: table}
}

// needs are those of all tables that are followed, in the order in which the view reads them.
func (v *view) needs() []Need {
	var needs []Need
	relied := v.relied()
	for _, read := range v.sources() {
		at := slices.IndexFunc(needs, func(n Need) bool { return n.Table == read.Table })
		if at < 0 {
			need := Need{Table: read.Table, UniqueOn: v.uniqueOn(read.Table), Whole: v.readsWhole(read.Table)}
			if need.Whole {
				need.Columns = read.Table.ColumnNames()
			}
			needs, at = append(needs, need), len(needs)
		}
		n := &needs[at]
		for _, c := range read.Cols {
			name := read.Table.Columns[c.Attr].Name
			if !slices.Contains(n.Columns, name) {
				n.Columns = append(n.Columns, name)
			}
			if relied[c.ID] && !slices.Contains(n.NotNull, name) {
				n.NotNull = append(n.NotNull, name)
			}
		}
	}
	return needs
}

// readsWhole reports whether rows of a table are values somewhere in the view.
func (v *view) readsWhole(table *catalog.Relation) bool {
	return slices.Contains(v.Rows, table) && slices.ContainsFunc(v.sources(), func(s *algebra.Source) bool {
		return s.Table == table && len(s.Cols) == len(table.Columns)
	})
}

// uniqueOn are the columns of a table's key, where the rows of a view are found by those of its tables.
func (v *view) uniqueOn(table *catalog.Relation) []string {
	if v.strategy != MergeRows || v.storage.Repeats {
		return nil
	}
	var names []string
	for _, attr := range table.Key {
		names = append(names, table.Columns[attr].Name)
	}
	return names
}

// outputs are the view's columns with what is known of them.
func (v *view) outputs() []Output {
	var all []Output
	for i, o := range v.Output {
		info := algebra.Info{}
		if o.ID != 0 {
			info = v.columns.Info(o.ID)
		}
		all = append(all, Output{Output: o, Type: info.Type, Varied: info.Varied, Equality: info.Equality, NeverNull: v.neverNull(i)})
	}
	return all
}

// neverNull reports whether a column of the output holds no null, whatever becomes of its tables.
func (v *view) neverNull(o int) bool {
	id := v.Output[o].ID
	if v.Root == nil || !v.props.Of(v.Root).NotNull(id) {
		return false
	}
	for _, k := range v.storage.Identity {
		if !v.storage.Hashed() && k.Name == v.Output[o].Name && !k.Nullable {
			return true
		}
	}
	relied := v.relied()
	return !slices.ContainsFunc(v.losable(v.Root, id), func(from algebra.ColID) bool { return !relied[from] })
}

// relied are the columns of tables that keys of groups are looked up by as never null.
func (v *view) relied() map[algebra.ColID]bool {
	relied := map[algebra.ColID]bool{}
	if v.Root == nil {
		return relied
	}
	algebra.Walk(v.Root, func(n algebra.Node) {
		if semi, ok := n.(*algebra.Semi); ok {
			for _, id := range semi.NeverNull {
				for _, from := range append(v.losable(semi.Left, id), v.losable(semi.Right, id)...) {
					relied[from] = true
				}
			}
		}
		var keys []algebra.ColID
		switch n := n.(type) {
		case *algebra.Top:
			keys = n.Keys
		case *algebra.Window:
			keys = n.KeyColumns()
		}
		if len(keys) > 0 {
			input := n.Inputs()[0]
			for _, id := range keys {
				if v.props.Of(input).NotNull(id) {
					for _, from := range v.losable(input, id) {
						relied[from] = true
					}
				}
			}
		}
		groups, ok := n.(*algebra.Aggregate)
		if !ok || v.groups != nil && groups == v.groups.Node && !v.storage.Hashed() {
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
func (v *view) losable(n algebra.Node, id algebra.ColID) []algebra.ColID {
	facts := v.props.Of(n)
	var from []algebra.ColID
	for _, s := range facts.Sources {
		for _, c := range s.Cols {
			if s.Table.Kind != catalog.StreamTable && !s.Table.Clock && slices.Contains(facts.Origins(id), c.ID) {
				from = append(from, c.ID)
			}
		}
	}
	return from
}
