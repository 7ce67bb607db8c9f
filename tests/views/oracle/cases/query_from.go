package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// member is a relation in from, or several that are joined.
type member struct {
	node  *node
	terms scope
	rows  int      // about how many, rather fewer
	most  int      // about how many, rather more
	key   []string // of a table, to group by it
	alias string
	of    *relation
	comma bool // several, with commas between
}

// from fills the from clause with so many relations.
func (q *queries) from(s *selection, count, depth int) scope {
	m := q.member(depth)
	if count == 1 && m.of != nil {
		q.use("one table")
		if q.chance(40) {
			q.unqualified(&m)
		}
	}
	for n := 1; n < count; n++ {
		right := q.rightSide(m, depth)
		if count-n > 1 && q.chance(15) {
			n++
			right = q.nested(right, q.member(0))
		}
		m = q.join(s, m, right)
	}
	s.from.Kids = append(s.from.Kids, m.node)
	s.rows, s.most = m.rows, m.most
	return m.terms
}

// unqualified lets a query name the columns of the one relation that it reads without an alias, and perhaps do without one.
func (q *queries) unqualified(m *member) {
	q.use("unqualified")
	if m.of.kind != "stream table" && q.chance(60) { // as Case.Truth puts a query there
		m.node = format("from", "§", m.node.Kids[0])
	}
	for i := range m.terms {
		m.terms[i].node.Text = []string{m.terms[i].name}
	}
}

// rightSide is a relation to join with, now and then the same table once more.
func (q *queries) rightSide(left member, depth int) member {
	if left.of != nil && left.of.table != nil && q.chance(18) {
		q.use("self join")
		return q.reading(left.of)
	}
	return q.member(depth)
}

func (q *queries) nested(a, b member) member {
	q.use("nested join")
	inner := q.equiJoin(a, b)
	inner.node = format("from", "(§)", inner.node)
	return inner
}

// member is a table, view, stream table, part of a with clause, subquery or list of values.
func (q *queries) member(depth int) member {
	ways := []choice[func() member]{{60, func() member { return q.reading(q.table()) }}, {4, q.valuesList}}
	add := func(weight int, from []*relation) {
		from = slices.DeleteFunc(slices.Clone(from), func(r *relation) bool { return r.rows < few/2 && q.chance(60) })
		if len(from) > 0 {
			ways = append(ways, choice[func() member]{weight, func() member { return q.reading(pick(q.random, from)) }})
		}
	}
	add(60, q.ctes)
	add(12, q.g.views)
	if !q.shadowed() { // as Case.Truth puts its query here, among other names
		add(14, q.streams)
	}
	if depth > 0 {
		ways = append(ways, choice[func() member]{20, func() member { return q.subquery(q.query(depth - 1)) }})
	}
	return weighted(q.random, ways)()
}

// table is one of the tables that no part of a with clause shadows.
func (q *queries) table() *relation {
	var seen []*relation
	for _, t := range q.g.tables {
		shadowed := slices.ContainsFunc(q.ctes, func(c *relation) bool { return c.name == t.name })
		if !shadowed {
			seen = append(seen, &relation{name: t.name, tag: t.tag(), columns: t.columns, key: t.key, rows: 13, most: 35, table: t, kind: t.kind()})
		}
	}
	if len(seen) == 0 {
		return pick(q.random, q.ctes)
	}
	return pick(q.random, seen)
}

func (q *queries) alias() string {
	q.aliases++
	name := string(rune('a' + (q.aliases-1)%26))
	if q.aliases > 26 {
		name += itoa((q.aliases - 1) / 26)
	}
	if q.g.odd && q.chance(20) {
		return quote(q.one("Odd ", "new", `"`, "%") + name)
	}
	return name
}

// reading is a relation under an alias.
func (q *queries) reading(r *relation) member {
	if r.kind != "" {
		q.use(r.kind)
	}
	alias := q.alias()
	body := leaf("relation", r.name).Tagged(r.tag)
	m := member{node: format("from", "§ "+q.one("", "as ")+alias, body), rows: r.rows, most: r.most, key: r.key, alias: alias, of: r}
	m.terms = terms(alias, r.columns)
	if r.table != nil {
		for i, c := range r.columns {
			m.terms[i].node.Tag = r.table.columnTag(c.name)
			m.terms[i].small = c.generated == ""
		}
	}
	return m
}

func terms(alias string, columns []column) scope {
	var s scope
	for _, c := range columns {
		s = append(s, term{sort: c.sort, node: leaf(c.sort, alias+"."+c.name), name: c.name, from: alias, small: c.small})
	}
	return s
}

func (q *queries) subquery(r result) member {
	q.use("subquery")
	alias := q.alias()
	m := member{node: format("from", "§ as "+alias, format("relation", "(§)", r.node)), rows: r.rows, most: r.most, alias: alias}
	if q.chance(15) { // other names for the columns
		names := tree.NewList(tree.List{Open: "(", Sep: ", ", Close: ")", Fixed: true})
		taken := map[string]bool{}
		r.columns = slices.Clone(r.columns)
		for i := range r.columns {
			r.columns[i].name = q.columnName(taken)
			taken[r.columns[i].name] = true
			names.Kids = append(names.Kids, leaf("", r.columns[i].name))
		}
		m.node = format("from", "§ as "+alias+"§", m.node.Kids[0], names)
	}
	m.terms = terms(alias, r.columns)
	return m
}

// valuesList is a small table of its own in the query.
func (q *queries) valuesList() member {
	q.use("values")
	columns := []column{{name: "k", sort: "int", small: true}, {name: "label", sort: q.valueSort().name}}
	list := tree.NewList(tree.List{Sep: ", ", Min: 1})
	keys := append(some(q.random, sortOf("int").values[:8], 3, 7), q.one("1", "2", "null"))
	for n, key := range keys {
		s := sortOf(columns[1].sort)
		label := s.typed(pick(q.random, s.values))
		if n > 0 && q.chance(12) {
			label = "null"
		}
		list.Kids = append(list.Kids, leaf("", "("+key+", "+label+")"))
	}
	alias := q.alias()
	return member{node: format("from", "(values §) as "+alias+" (k, label)", list), terms: terms(alias, columns), rows: 6, most: 8, alias: alias}
}
