package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

func newWhere() *node { return tree.NewList(tree.List{Open: " where ", Sep: " and "}) }

// insertSome inserts a few rows, now and then the same row twice.
func (ch *changes) insertSome(t *table) *Item {
	return ch.insertRows(t, weighted(ch.random, []choice[int]{{40, 1}, {25, 2}, {20, 3}, {15, 6}}))
}

func (ch *changes) insertRows(t *table, count int) *Item {
	rows := ch.newRows(t, count)
	if t.conflict() == nil && ch.chance(25) {
		rows = append(rows, rows[0])
	}
	conflict := ""
	if t.conflict() != nil && ch.chance(94) {
		conflict = "\non conflict do nothing"
	}
	t.rows += len(rows)
	return statement(t, ch.g.insert(t, rows, conflict))
}

// newRows makes rows of which no two have one key. Most keys are new to the table.
func (ch *changes) newRows(t *table, count int) []map[string]string {
	rows := ch.g.freshRows(t, count)
	for _, row := range rows {
		for _, name := range t.key {
			if t.column(name).sort == "int" && ch.chance(60) {
				row[name] = itoa(ch.between(1, 36))
			}
		}
		ch.g.keep(t, row)
	}
	return distinctRows(t, rows)
}

// insertDefaults gives values to some columns only.
func (ch *changes) insertDefaults(t *table) *Item {
	var columns []column
	for _, c := range t.written() {
		if c.notNull || ch.chance(50) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return statement(t, leaf("", "insert into "+t.name+" default values"))
	}
	t.rows++
	rows := ch.newRows(t, 1)
	n := format("", "insert into "+t.name+" (§)§§", namesOf(t, columns), valuesOf(t, columns, rows), optional(ch.ignore(t)))
	return statement(t, n)
}

func (ch *changes) ignore(t *table) string {
	if t.conflict() == nil {
		return ""
	}
	return "\non conflict do nothing"
}

// insertSelect copies rows of a table into it, without a key, or with another one.
func (ch *changes) insertSelect(t *table) *Item {
	columns := t.written()
	from := tree.NewList(tree.List{Sep: ", ", Min: 1, Fixed: true})
	for _, c := range columns {
		text := c.name
		if t.isKey(c.name) && c.sort == "int" {
			text += " + " + itoa(ch.between(12, 30))
		}
		from.Kids = append(from.Kids, leaf("", text).Tagged(t.columnTag(c.name)))
	}
	t.rows += t.rows / 2
	text := "insert into " + t.name + " (§) select § from " + t.name + "§§"
	return statement(t, format("", text, namesOf(t, columns), from, ch.where(t, ""), optional(ch.ignore(t))))
}

// upsert inserts rows and changes those that are there.
func (ch *changes) upsert(t *table) *Item {
	if t.conflict() == nil {
		return nil
	}
	rows := ch.newRows(t, ch.between(1, 5))
	for _, row := range rows { // keys that are there
		if name := t.conflict()[0]; t.column(name).sort == "int" && ch.chance(60) {
			row[name] = itoa(ch.between(1, 12))
		}
	}
	rows = distinctRows(t, rows)
	sets := tree.NewList(tree.List{Sep: ", ", Min: 1})
	for _, c := range some(ch.random, t.written(), 1, 2) {
		if !t.isUnique(c.name) {
			sets.Kids = append(sets.Kids, leaf("", c.name+" = excluded."+c.name).Tagged(t.columnTag(c.name)))
		}
	}
	if len(sets.Kids) == 0 {
		return nil
	}
	columns := t.written()
	where := ""
	if c := pick(ch.random, columns); ch.chance(25) && !sortOf(c.sort).opaque {
		where = " where x." + c.name + " is distinct from excluded." + c.name
	}
	text := "insert into " + t.name + " as x (§)§\non conflict (§) do update set §§"
	return statement(t, format("", text, namesOf(t, columns), valuesOf(t, columns, rows), columnList(t, t.conflict()), sets, optional(where)))
}

// distinctRows leaves one of the rows of each key.
func distinctRows(t *table, rows []map[string]string) []map[string]string {
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(row map[string]string) bool {
		key, unique := keyOf(t, row, t.conflict())
		again := unique && seen[key]
		seen[key] = true
		return again
	})
}

// copyRows inserts as COPY does.
func (ch *changes) copyRows(t *table) *Item {
	rows := ch.newRows(t, ch.between(1, 5))
	for i, row := range rows {
		if len(t.key) > 0 && t.column(t.key[0]).sort == "int" {
			row[t.key[0]] = itoa(100 + 10*ch.IntN(30) + i) // as COPY cannot pass over rows that are there
		}
	}
	data := tree.NewList(tree.List{Min: 1})
	for _, row := range rows {
		cells := tree.NewList(tree.List{Sep: "\t", Close: "\n", Min: 1, Fixed: true})
		for _, c := range t.written() {
			text := `\N`
			if row[c.name] != null {
				text = sortOf(c.sort).copied(row[c.name])
			}
			cells.Kids = append(cells.Kids, leaf("", text).Tagged(t.columnTag(c.name)))
		}
		data.Kids = append(data.Kids, cells)
	}
	t.rows += len(rows)
	item := statement(t, format("", "copy "+t.name+" (§) from stdin", namesOf(t, t.written())))
	item.Kind, item.Data = Copy, data
	return item
}
