package cases

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// schema is the DDL of the types and tables.
func (g *generator) schema() []*node {
	statements := []*node{
		leaf("", "create type mood as enum ('sad', 'ok', 'happy')"),
		leaf("", "create domain posint as integer check (value > 0)"),
		leaf("", "create function joined_step(state text, value text) returns text language sql immutable return concat(state, '+', value)"),
		leaf("", "create aggregate joined(text) (sfunc = joined_step, stype = text)"),
		leaf("", "create function total_step(state bigint, value integer) returns bigint language sql immutable return state + coalesce(value % 1000, 7)"),
		leaf("", "create aggregate total(integer) (sfunc = total_step, stype = bigint, initcond = '0')"),
	}
	switch g.options.Folded {
	case "nocase":
		statements = append(statements, leaf("", "create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"))
	case "citext":
		statements = append(statements, leaf("", "create extension citext"))
	}
	if schema := g.tables[0].schema; schema != "" {
		statements = append(statements, leaf("", "create schema "+schema))
	}
	for _, t := range g.tables {
		if t.of != nil {
			statements = append(statements, g.createPart(t)...)
			continue
		}
		statements = append(statements, g.createTable(t))
		if t.unique != nil {
			statements = append(statements, format("", "create unique index on "+t.name+" (§)", columnList(t, t.unique)).Tagged(t.tag()))
		}
	}
	return statements
}

func (g *generator) createTable(t *table) *node {
	items := tree.NewList(tree.List{Open: "\n    ", Sep: ",\n    ", Close: "\n", Min: 1})
	for _, c := range t.columns {
		items.Kids = append(items.Kids, columnDefinition(t, c))
	}
	if t.key != nil {
		items.Kids = append(items.Kids, format("", "primary key (§)", columnList(t, t.key)))
	}
	if t.parent != nil {
		items.Kids = append(items.Kids, foreignKey(t))
	}
	tail := ""
	if t.bound != "" && t.of == nil {
		tail = " partition by range (" + t.bound + ")"
	}
	return format("", "create table "+t.name+" (§)"+tail, items).Tagged(t.tag())
}

// createPart makes a partition, or a table that inherits.
func (g *generator) createPart(t *table) []*node {
	if t.bound == "" {
		return []*node{leaf("", "create table "+t.name+" () inherits ("+t.of.name+")").Tagged(t.tag())}
	}
	rows := " default"
	if t.low {
		rows = " for values from (minvalue) to (" + itoa(parting) + ")"
	}
	if t.attached {
		return []*node{g.createTable(t), leaf("", "alter table "+t.of.name+" attach partition "+t.name+rows).Tagged(t.tag())}
	}
	return []*node{leaf("", "create table "+t.name+" partition of "+t.of.name+rows).Tagged(t.tag())}
}

func columnDefinition(t *table, c column) *node {
	text := c.name + " " + sortOf(c.sort).sql
	if c.generated != "" {
		text += " generated always as (" + c.generated + ") stored"
	}
	options := tree.NewList(tree.List{})
	if c.notNull && !t.isKey(c.name) {
		options.Kids = append(options.Kids, leaf("", " not null"))
	}
	if c.standard != "" {
		options.Kids = append(options.Kids, leaf("", " default "+c.standard))
	}
	definition := format("", tree.Hole+tree.Hole, leaf("", text), options)
	return definition.Tagged(t.columnTag(c.name))
}

func foreignKey(t *table) *node {
	text := " references " + t.parent.name + " on delete " + t.onDelete + " on update " + t.onUpdate
	return format("", "foreign key (§)§", columnList(t, []string{t.link}), leaf("", text))
}

// columnList is a list of columns that shrinks when a column goes.
func columnList(t *table, names []string) *node {
	list := tree.NewList(tree.List{Sep: ", ", Min: 1, Fixed: true})
	for _, name := range names {
		list.Kids = append(list.Kids, leaf("", name).Tagged(t.columnTag(name)))
	}
	return list
}

// firstRows fills the tables, parents first.
func (g *generator) firstRows() []*node {
	var statements []*node
	for _, t := range g.tables {
		if t.of != nil && t.bound != "" {
			continue
		}
		count := g.between(10, 28)
		if g.chance(3) && !g.isParent(t) {
			count = g.between(1, 2)
		}
		statements = append(statements, g.insert(t, g.freshRows(t, count), ""))
		t.rows = count
	}
	return statements
}

func (g *generator) isParent(t *table) bool {
	return slices.ContainsFunc(g.tables, func(child *table) bool { return child.parent == t })
}

// freshRows makes rows of which no two have one key; of those that would, one is left out.
func (g *generator) freshRows(t *table, count int) []map[string]string {
	var rows []map[string]string
	seen := map[string]bool{}
	for n := range count {
		row := g.row(t)
		if t.key != nil {
			g.fresh(t, row, n)
		}
		g.keep(t, row)
		key, unique := keyOf(t, row, t.conflict())
		if !unique || !seen[key] {
			rows = append(rows, row)
		}
		seen[key] = true
	}
	return rows
}

// fresh gives the first number of a key the next value.
func (g *generator) fresh(t *table, row map[string]string, n int) {
	for _, name := range t.key {
		if t.column(name).sort == "int" {
			row[name] = itoa(n + 1)
			return
		}
	}
}

// keyOf is a text that rows of one key share, and whether the key is unique: without columns, or with a null, it is not.
func keyOf(t *table, row map[string]string, columns []string) (key string, unique bool) {
	for _, name := range columns {
		if row[name] == null {
			return "", false
		}
		value := row[name]
		if sort := t.column(name).sort; sort == "nocase" || sort == "citext" {
			value = strings.ToLower(value)
		}
		key += value + "\x00"
	}
	return key, columns != nil
}
