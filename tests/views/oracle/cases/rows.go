package cases

import (
	"strconv"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// null stands for NULL among values.
const null = "\x00null"

func itoa(n int) string { return strconv.Itoa(n) }

// row makes values for the columns of a table that take some.
func (g *generator) row(t *table) map[string]string {
	row := map[string]string{}
	for _, c := range t.written() {
		row[c.name] = g.value(t, c)
	}
	return row
}

// value is one that the column may have.
func (g *generator) value(t *table, c column) string {
	values := sortOf(c.sort).values
	if special := g.values[c.sort]; special != nil {
		values = special
	}
	switch {
	case !c.notNull && g.chance(14):
		return null
	case t.link == c.name:
		return itoa(g.between(1, 8))
	case t.isKey(c.name) && c.sort == "int" && g.chance(70):
		return itoa(g.between(1, 24))
	}
	return pick(g.random, values)
}

func literalOf(sort, value string) string {
	if value == null {
		return "null"
	}
	return sortOf(sort).literal(value)
}

// insert writes rows into a table.
func (g *generator) insert(t *table, rows []map[string]string, conflict string) *node {
	columns := t.written()
	return format("", "insert into "+t.name+" (§)§§", namesOf(t, columns), valuesOf(t, columns, rows), optional(conflict)).Tagged(t.tag())
}

func namesOf(t *table, columns []column) *node {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return columnList(t, names)
}

// valuesOf is a list of rows.
func valuesOf(t *table, columns []column, rows []map[string]string) *node {
	list := tree.NewList(tree.List{Open: " values\n    ", Sep: ",\n    ", Min: 1})
	if len(rows) == 1 {
		list.List.Open = " values "
	}
	for _, row := range rows {
		cells := tree.NewList(tree.List{Open: "(", Sep: ", ", Close: ")", Min: 1, Fixed: true})
		for _, c := range columns {
			cells.Kids = append(cells.Kids, leaf("", literalOf(c.sort, row[c.name])).Tagged(t.columnTag(c.name)))
		}
		list.Kids = append(list.Kids, cells)
	}
	return list
}

// optional is text that may be left out.
func optional(text string) *node {
	list := tree.NewList(tree.List{})
	if text != "" {
		list.Kids = append(list.Kids, leaf("", text))
	}
	return list
}
