package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// update changes columns that are no key.
func (ch *changes) update(t *table) *Item {
	columns := slices.DeleteFunc(t.written(), func(c column) bool { return t.isUnique(c.name) })
	if len(columns) == 0 {
		return nil
	}
	picked := some(ch.random, columns, 1, 3)
	slices.SortStableFunc(columns, func(a, b column) int { return ch.unread(t, a) - ch.unread(t, b) })
	if ch.unread(t, columns[0]) == 0 && !slices.Contains(picked, columns[0]) && ch.chance(50) {
		picked = append(picked, columns[0])
	}
	return ch.updateColumns(t, picked)
}

// unread is 1 if no view reads the column.
func (ch *changes) unread(t *table, c column) int {
	if ch.read[t.columnTag(c.name)] {
		return 0
	}
	return 1
}

// updateUnread changes columns that no view reads.
func (ch *changes) updateUnread(t *table) *Item {
	columns := slices.DeleteFunc(t.written(), func(c column) bool { return t.isUnique(c.name) || ch.read[t.columnTag(c.name)] })
	if len(columns) == 0 {
		return nil
	}
	return ch.updateColumns(t, some(ch.random, columns, 1, 2))
}

func (ch *changes) updateColumns(t *table, columns []column) *Item {
	sets := tree.NewList(tree.List{Open: " set ", Sep: ", ", Min: 1})
	for _, c := range columns {
		sets.Kids = append(sets.Kids, leaf("", c.name+" = "+ch.newValue(t, c)).Tagged(t.columnTag(c.name)))
	}
	where := ch.where(t, "")
	if ch.chance(5) {
		where = newWhere()
	}
	return statement(t, format("", "update "+t.name+"§§", sets, where))
}

// newValue is a value, another column, or a little more than before.
func (ch *changes) newValue(t *table, c column) string {
	r := ch.random
	for _, other := range t.columns {
		if other.sort == c.sort && other.name != c.name && t.link != c.name && !c.notNull && r.chance(20) {
			return other.name
		}
	}
	if r.chance(35) && t.link != c.name {
		switch c.sort {
		case "int":
			return "(" + c.name + r.one(" + 1", " - 2", " * 2") + ") % 50"
		case "numeric":
			return c.name + r.one(" + 1", " * 1.0", " - 0.5")
		case "scaled":
			return r.one(c.name+" + 1", c.name+" * 1.000000", "trunc("+c.name+", 1)", "round("+c.name+", 30)")
		case "text":
			return r.one("upper(", "lower(", "reverse(") + c.name + ")"
		case "bool":
			return "not " + c.name
		case "date":
			return c.name + " + 1"
		}
	}
	return literalOf(c.sort, ch.g.value(t, c))
}

// updateKey changes a key: to a value that is free, or all by as much.
func (ch *changes) updateKey(t *table) *Item {
	for _, name := range t.conflict() {
		if t.column(name).sort != "int" {
			continue
		}
		old, value := itoa(ch.between(1, 14)), itoa(ch.between(1, 30))
		set, where := name+" = "+value, name+" = "+old+" and not exists (select 1 from "+t.name+" as y where y."+name+" = "+value+")"
		switch ch.IntN(6) {
		case 0:
			// None of these has a key that another of them gets: whether that fails hangs on the order in which rows are stored.
			set, where = name+" = "+name+" + 40", name+" > "+old+" and "+name+" <= 40"
		case 1:
			set, where = name+" = -"+name, name+" between 1 and "+old
		case 2: // which fails if there are two such rows
			where = name + " = " + old
		}
		return statement(t, leaf("", "update "+t.name+" set "+set+" where "+where).Tagged(t.columnTag(name)))
	}
	return nil
}

// updateNothing gives columns the values that they have.
func (ch *changes) updateNothing(t *table) *Item {
	c := pick(ch.random, t.written())
	set := leaf("", c.name+" = "+c.name).Tagged(t.columnTag(c.name))
	return statement(t, format("", "update "+t.name+" set §", set))
}

// swap exchanges two columns of a sort.
func (ch *changes) swap(t *table) *Item {
	columns := t.written()
	for i, a := range columns {
		for _, b := range columns[i+1:] {
			if a.sort == b.sort && a.notNull == b.notNull && !t.isUnique(a.name) && !t.isUnique(b.name) && t.link != a.name && t.link != b.name {
				return statement(t, format("", "update "+t.name+" set "+a.name+" = "+b.name+", "+b.name+" = "+a.name+"§", ch.where(t, "")))
			}
		}
	}
	return nil
}

// partner is another table with a column to compare with one of this one.
func (ch *changes) partner(t *table) (other *table, on string) {
	r := ch.random
	for range 5 {
		other = pick(r, ch.g.tables)
		a, b := pick(r, t.columns), pick(r, other.columns)
		if a.sort == b.sort && sortOf(a.sort).keys {
			return other, "x." + a.name + " = y." + b.name
		}
	}
	return nil, ""
}

// updateFrom changes rows that have a partner in another table, or in this one.
func (ch *changes) updateFrom(t *table) *Item {
	other, on := ch.partner(t)
	columns := slices.DeleteFunc(t.written(), func(c column) bool { return t.isUnique(c.name) || t.link == c.name })
	if other == nil || len(columns) == 0 {
		return nil
	}
	c := pick(ch.random, columns)
	value := literalOf(c.sort, ch.g.value(t, c))
	text := "update " + t.name + " as x set " + c.name + " = " + value + " from " + other.name + " as y where " + on + "§"
	return statement(t, format("", text, ch.and(other, "y.")))
}

// and is a condition more, or none.
func (ch *changes) and(t *table, prefix string) *node {
	list := tree.NewList(tree.List{Open: " and ", Sep: " and "})
	if ch.chance(60) {
		list.Kids = ch.where(t, prefix).Kids[:1]
	}
	return list
}

func (ch *changes) delete(t *table) *Item {
	t.rows -= 1 + t.rows/5
	only := ""
	if t.parts != nil && t.bound == "" && ch.chance(30) {
		only = "only "
	}
	for _, child := range ch.g.tables {
		if child.parent == t {
			child.rows -= 1 + child.rows/4
		}
	}
	return statement(t, format("", "delete from "+only+t.name+"§", ch.where(t, "")))
}

// shrink deletes most rows.
func (ch *changes) shrink(t *table) *Item {
	t.rows /= 2
	for _, c := range t.columns {
		if c.sort == "int" {
			return statement(t, leaf("", "delete from "+t.name+" where "+c.name+" % 2 = 0 or "+c.name+" > 10"))
		}
	}
	return ch.delete(t)
}

// deleteOne deletes one row, perhaps one of several that are equal.
func (ch *changes) deleteOne(t *table) *Item {
	order := ""
	for i, c := range t.columns {
		if i > 0 {
			order += ", "
		}
		order += c.name
		if sortOf(c.sort).opaque {
			order += "::text"
		}
	}
	t.rows = max(t.rows-1, 0)
	offset := " offset " + itoa(ch.IntN(8))
	return statement(t, leaf("", "delete from "+t.name+" where (tableoid, ctid) = (select tableoid, ctid from "+t.name+" order by "+order+" limit 1"+offset+")"))
}

func (ch *changes) deleteUsing(t *table) *Item {
	other, on := ch.partner(t)
	if other == nil {
		return nil
	}
	t.rows -= t.rows / 2
	text := "delete from " + t.name + " as x using " + other.name + " as y where " + on + "§"
	return statement(t, format("", text, ch.and(other, "y.")))
}

func (ch *changes) deleteAll(t *table) *Item {
	ch.gone(t)
	return statement(t, leaf("", "delete from "+t.name))
}

// truncate empties a table, and those that refer to it, or two.
func (ch *changes) truncate(t *table) *Item {
	names, cascade := t.name, ""
	ch.gone(t)
	if other := pick(ch.random, ch.g.tables); other != t && ch.chance(30) {
		names += ", " + other.name
		ch.gone(other)
	}
	if ch.g.isParent(t) || ch.chance(20) {
		cascade = " cascade"
	}
	return statement(t, leaf("", "truncate "+names+cascade))
}

// gone notes that a table is empty, and tables that refer to it too.
func (ch *changes) gone(t *table) {
	t.rows = 0
	for _, child := range ch.g.tables {
		if child.parent == t && child.rows > 0 {
			ch.gone(child)
		}
	}
}
