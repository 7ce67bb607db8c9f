package upgrade

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// renameValues brings names in tables of the catalog up to date: keys of rows that scripts made, and what is noted at run time.
func (d *differ) renameValues() string {
	var out string
	values := map[string][]move{}
	add := func(table, column, from, to string, key bool) {
		space := table + "." + column
		values[space] = append(values[space], move{space, from, to, func(old, new string) string {
			old, new = literalOf(old), literalOf(new)
			if key {
				return fmt.Sprintf("update %[1]s set %[2]s = %[2]s - %[3]s || jsonb_build_object(%[4]s, %[2]s -> %[3]s) where %[2]s ? %[3]s;\n", table, column, old, new)
			}
			return fmt.Sprintf("update %s set %s = %s where %s = %s;\n", table, column, new, column, old)
		}})
	}
	for _, o := range d.from.Objects {
		now, stays := d.new[o.identity()]
		if o.Kind != "row" || !stays || o.ID() == now.ID() {
			continue
		}
		old, ok := sqltext.DescribeInsert(o.SQL)
		new, both := sqltext.DescribeInsert(now.SQL)
		if !ok || !both || old.Table != new.Table {
			continue
		}
		if key := keyOf(d.old["table "+old.Table]); len(key) == 1 {
			add(old.Table, sqltext.Ident(key[0]), old.Values[slices.Index(old.Columns, key[0])], new.Values[slices.Index(new.Columns, key[0])], false)
		} else {
			out += d.deleteRow(o) // and inserted again
		}
	}
	for _, n := range d.to.Named {
		before, _ := identifiedAs(d.from.Named, n.identity())
		for _, new := range n.Values {
			// Not by place: which tables there are depends on the options of a version.
			table := d.kept[new.Table]
			at := slices.IndexFunc(before.Values, func(old Value) bool { return old.Table == table && old.Column == new.Column })
			if at >= 0 {
				add(new.Table, new.Column, before.Values[at].Value, new.Value, new.Key)
			}
		}
	}
	for _, space := range slices.Sorted(maps.Keys(values)) {
		out += inOrder(values[space])
	}
	return out
}

// literalOf is a value as SQL: what is set aside is a name.
func literalOf(value string) string {
	if strings.HasPrefix(value, "pgt_aside_") {
		return sqltext.Literal(value)
	}
	return value
}

// keptTables are the tables that both versions have, by their names in either: what the older version calls them.
func (d *differ) keptTables() map[string]string {
	kept := map[string]string{}
	for _, o := range slices.Concat(d.from.Objects, d.to.Objects) {
		before, was := d.old[o.identity()]
		if _, stays := d.new[o.identity()]; o.Kind == "table" && was && stays {
			kept[o.Signature] = before.Signature
		}
	}
	return kept
}
