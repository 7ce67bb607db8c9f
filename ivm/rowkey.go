package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// rowKey are columns of the output that no two rows of the view share, none of them null; nil if there are none.
func (v *View) rowKey() []Key {
	facts, names := v.props.Of(v.Root), map[algebra.ColID]string{}
	var output []algebra.ColID
	for _, o := range v.Output {
		output = append(output, o.ID)
		names[o.ID] = o.Name
	}
	var keys []Key
	for _, id := range facts.Key(output) {
		keys = append(keys, Key{Name: names[id], id: facts.Origins(id)[0]})
	}
	return keys
}

// UniqueOn are the columns of a table that no two of its rows share, where stored rows are found because of that; none if they are found otherwise.
func (v *View) UniqueOn(table *catalog.Relation) []string {
	if v.Strategy() != MergeRows || v.Storage().Repeats {
		return nil
	}
	var names []string
	for _, attr := range table.Key {
		names = append(names, table.Columns[attr].Name)
	}
	return names
}
