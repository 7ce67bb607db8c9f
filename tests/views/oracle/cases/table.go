package cases

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// node is short for what everything is made of.
type node = tree.Node

func format(sort, text string, kids ...*node) *node { return tree.New(sort, text, kids...) }
func leaf(sort, text string) *node                  { return tree.Leaf(sort, text) }

// column is one of a table or of another relation.
type column struct {
	name      string // as SQL writes it
	sort      string
	notNull   bool
	generated string // the expression of a generated column
	standard  string // the default
	small     bool   // has the values that columns of its sort have in tables, so that joining by it finds something
}

// table is one that changes.
type table struct {
	schema   string // as SQL writes it, or nothing
	name     string // as SQL writes it, with its schema if it has one
	columns  []column
	key      []string // the columns of the primary key
	unique   []string // the columns of a unique index, of which some may be null
	parent   *table   // of a foreign key
	link     string   // the column of the foreign key
	onDelete string
	onUpdate string
	rows     int // about how many there are

	parts    []*table // its partitions, or the tables that inherit from it
	of       *table   // the table of which this is one
	bound    string   // the column that decides in which partition a row is
	low      bool     // in this partition it is less than split, else anything else
	attached bool     // as a table of its own, with its columns in another order
}

// parting is where partitions part.
const parting = 6

func (t *table) tag() string { return tableTag + t.name }

// columnTag is one for a column of a table and of its parts.
func (t *table) columnTag(column string) string {
	if t.of != nil {
		return t.of.columnTag(column)
	}
	return columnTag + t.name + "." + column
}

func (t *table) qualified() bool           { return t.schema != "" }
func (t *table) isKey(name string) bool    { return slices.Contains(t.key, name) }
func (t *table) isUnique(name string) bool { return t.isKey(name) || slices.Contains(t.unique, name) }

// column finds a column.
func (t *table) column(name string) column {
	return t.columns[slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })]
}

// written are the columns that statements give values.
func (t *table) written() []column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c column) bool { return c.generated != "" })
}

// conflict are the columns by which on conflict finds a row.
func (t *table) conflict() []string {
	if t.key != nil {
		return t.key
	}
	return t.unique
}

func (g *generator) makeTables() {
	columnNames := newNames(g.random, g.odd, plainColumns, oddColumns)
	g.makeColumns(columnNames)
	tableNames := newNames(g.random, g.odd, plainTables, oddTables)
	schema := ""
	if g.chance(15) {
		schema = g.one("app", `"Other Schema"`)
	}
	for range g.between(2, 4) {
		g.tables = append(g.tables, g.table(schema, tableNames.next()))
	}
	if g.chance(30) {
		g.addForeignKeys()
	}
	if g.chance(25) {
		g.addParts(g.tables[0], tableNames)
	}
}

// addParts partitions a table, or lets another one inherit from it.
func (g *generator) addParts(t *table, names *names) {
	if g.isParent(t) {
		return
	}
	name := func() string {
		if t.schema != "" {
			return t.schema + "." + names.next()
		}
		return names.next()
	}
	part := func() *table {
		p := *t
		p.name, p.of = name(), t
		t.parts = append(t.parts, &p)
		return &p
	}
	bound := ""
	for _, c := range t.written() {
		if c.sort == "int" && c.name != t.link && (t.key == nil || t.isKey(c.name)) {
			bound = c.name
		}
	}
	if bound == "" || g.chance(35) {
		child := part()
		child.key, child.unique, child.parent, child.link = nil, nil, nil, ""
		child.rows = 0
	} else {
		t.bound, t.unique = bound, nil
		for _, low := range []bool{true, false} {
			p := part()
			p.low, p.rows, p.attached = low, t.rows/2, t.parent == nil && g.chance(40)
			if p.attached {
				p.columns = some(g.random, p.columns, len(p.columns), len(p.columns))
			}
		}
	}
	g.tables = append(g.tables, t.parts...)
}

// kind is the feature that reading a table is.
func (t *table) kind() string {
	switch {
	case t.of != nil && t.of.bound != "":
		return "partition"
	case t.of != nil:
		return "child table"
	case t.bound != "":
		return "partitioned table"
	case t.parts != nil:
		return "parent table"
	}
	return ""
}

// keep gives a row of a partition a value of its own, most of the time.
func (g *generator) keep(t *table, row map[string]string) {
	if t.of == nil || t.bound == "" || g.chance(4) {
		return
	}
	value, err := strconv.Atoi(row[t.bound])
	if err != nil { // null
		if t.low {
			row[t.bound] = itoa(g.IntN(parting))
		}
		return
	}
	if in := value < parting; in && !t.low {
		row[t.bound] = itoa(parting + (value+100)%parting*3)
	} else if !in && t.low {
		row[t.bound] = itoa(value % parting)
	}
}

// makeColumns decides the names that there are, and of which sort columns of each name are.
func (g *generator) makeColumns(names *names) {
	for range 4 {
		g.columns = append(g.columns, column{name: names.next(), sort: "int"})
	}
	for range 10 {
		var choices []choice[*sort]
		for _, s := range sorts {
			choices = append(choices, choice[*sort]{s.weight, s})
		}
		sort := weighted(g.random, choices).name
		if g.options.Folded != "" && (sort == "text" || g.chance(20)) {
			sort = g.options.Folded
		}
		g.columns = append(g.columns, column{name: names.next(), sort: sort})
	}
}

func (g *generator) table(schema, name string) *table {
	t := &table{schema: schema, name: name}
	if schema != "" {
		t.name = schema + "." + name
	}
	t.columns = append(some(g.random, g.columns[:4], 1, 3), some(g.random, g.columns[4:], 2, 5)...)
	g.addKey(t)
	for i := range t.columns {
		c := &t.columns[i]
		c.notNull = c.notNull || g.chance(12)
		if g.chance(8) && len(sortOf(c.sort).values) > 0 && !t.isKey(c.name) {
			c.standard = sortOf(c.sort).literal(pick(g.random, sortOf(c.sort).values))
		}
	}
	if c := t.columns[0]; g.chance(8) {
		t.columns = append(t.columns, column{name: "twice", sort: "int", generated: fmt.Sprintf("%s * 2", c.name)})
	}
	g.Shuffle(len(t.columns), func(i, j int) { t.columns[i], t.columns[j] = t.columns[j], t.columns[i] })
	return t
}

// addKey gives most tables a primary key, and some a unique index.
func (g *generator) addKey(t *table) {
	var may []string
	for _, c := range t.columns {
		if sortOf(c.sort).keys {
			may = append(may, c.name)
		}
	}
	switch n := g.IntN(100); {
	case n < 40: // a number
		t.key = may[:1]
	case n < 58 && len(may) > 1:
		t.key = some(g.random, may, 2, 2)
	case n < 62:
		t.key = some(g.random, may, 1, 1)
	case n < 75:
		t.unique = some(g.random, may, 1, 2)
	}
	for i := range t.columns {
		t.columns[i].notNull = t.isKey(t.columns[i].name)
	}
}

// addForeignKeys lets tables refer to the one before them, if that has a number as its key.
func (g *generator) addForeignKeys() {
	for i, t := range g.tables[1:] {
		parent := g.tables[i]
		if len(parent.key) != 1 || parent.column(parent.key[0]).sort != "int" {
			continue
		}
		for _, c := range t.written() {
			if c.sort == "int" && !t.isKey(c.name) && t.link == "" {
				t.parent, t.link = parent, c.name
				t.onUpdate = g.one("cascade", "cascade", "no action")
				t.onDelete = g.one("cascade", "cascade", "no action")
				if !c.notNull {
					t.onDelete = g.one("cascade", "set null", "set null", "set default")
				}
			}
		}
	}
}
