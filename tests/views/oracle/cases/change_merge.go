package cases

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// merge updates, deletes or inserts, by the rows of a list.
func (ch *changes) merge(t *table) *Item {
	columns := t.written()
	others := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return t.isUnique(c.name) })
	if t.key == nil || len(others) == 0 {
		return nil
	}
	if t.kind() == "parent table" && len(columns) < len(t.columns) {
		return nil // PostgreSQL gives no values to the generated columns of what it inserts, if there is any trigger for statements
	}
	source := typedRows(t, columns, ch.newRows(t, ch.between(2, 5)))
	text := "merge into " + t.name + " as x using (values §) as y (§)\non " + matchOf(t) + "§"
	item := statement(t, format("", text, source, namesOf(t, columns), ch.whens(t, columns, others)))
	item.Since = 15
	return item
}

func matchOf(t *table) string {
	var match []string
	for _, name := range t.key {
		match = append(match, "x."+name+" = y."+name)
	}
	return strings.Join(match, " and ")
}

// whens says what merge does.
func (ch *changes) whens(t *table, columns, others []column) *node {
	list := tree.NewList(tree.List{Min: 1})
	if c := pick(ch.random, others); ch.chance(50) {
		list.Kids = append(list.Kids, leaf("", "\nwhen matched and y."+c.name+" is null then delete"))
	}
	if c := pick(ch.random, others); ch.chance(80) {
		list.Kids = append(list.Kids, leaf("", "\nwhen matched then update set "+c.name+" = y."+c.name))
	}
	if ch.chance(80) || len(list.Kids) == 0 {
		from := tree.NewList(tree.List{Sep: ", ", Min: 1, Fixed: true})
		for _, c := range columns {
			from.Kids = append(from.Kids, leaf("", "y."+c.name).Tagged(t.columnTag(c.name)))
		}
		list.Kids = append(list.Kids, format("", "\nwhen not matched then insert (§) values (§)", namesOf(t, columns), from))
	}
	return list
}

// typedRows is a list of values that stands where no column says their type.
func typedRows(t *table, columns []column, rows []map[string]string) *node {
	list := tree.NewList(tree.List{Sep: ", ", Min: 1})
	for _, row := range rows {
		cells := tree.NewList(tree.List{Open: "(", Sep: ", ", Close: ")", Min: 1, Fixed: true})
		for _, c := range columns {
			text := sortOf(c.sort).null()
			if row[c.name] != null {
				text = sortOf(c.sort).typed(row[c.name])
			}
			cells.Kids = append(cells.Kids, leaf("", text).Tagged(t.columnTag(c.name)))
		}
		list.Kids = append(list.Kids, cells)
	}
	return list
}
