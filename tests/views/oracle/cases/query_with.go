package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// with is a query with a with clause, whose parts it reads.
func (q *queries) with(depth int) result {
	outer := q.ctes
	defer func() { q.ctes = outer }()
	list := tree.NewList(tree.List{Open: "with ", Sep: ",\n", Close: "\n"})
	for range weighted(q.random, []choice[int]{{75, 1}, {25, 2}}) {
		part := q.part(list, depth)
		q.ctes = append(slices.Clone(q.ctes), part)
	}
	q.use("with")
	body := q.readingParts(q.ctes[len(outer):], depth)
	body.with = list
	return body.result()
}

// part adds a query to the with clause, now and then under the name of a table.
func (q *queries) part(list *node, depth int) *relation {
	named := q.named
	q.named = true
	r := q.query(depth - 1)
	q.named = named
	name := q.partName()
	q.aliases++
	how := "as"
	if q.chance(15) {
		q.use("with materialized")
		how = q.one("as materialized", "as not materialized")
	}
	list.Kids = append(list.Kids, format("", name+" "+how+" (\n§\n)", r.node))
	return &relation{name: name, columns: r.columns, rows: r.rows, most: r.most}
}

func (q *queries) partName() string {
	t := pick(q.random, q.g.tables)
	taken := slices.ContainsFunc(q.ctes, func(c *relation) bool { return c.name == t.name })
	if q.chance(18) && !taken && !t.qualified() {
		q.use("with shadows")
		return t.name
	}
	return "part" + itoa(q.aliases)
}

// readingParts is a select that reads each of the parts, one of them perhaps twice.
func (q *queries) readingParts(parts []*relation, depth int) *selection {
	s := newSelection()
	m := q.reading(parts[len(parts)-1])
	if len(parts) > 1 {
		m = q.join(s, m, q.reading(parts[0]))
	}
	switch {
	case q.chance(35):
		q.use("with twice")
		m = q.join(s, m, q.reading(parts[0]))
	case q.chance(40):
		m = q.join(s, m, q.member(depth-1))
	}
	s.from.Kids, s.rows, s.most = []*node{m.node}, m.rows, m.most
	return q.finish(s, m.terms)
}

// finish computes columns or groups.
func (q *queries) finish(s *selection, terms scope) *selection {
	if q.chance(40) && s.rows > few {
		q.where(s, q.filter(terms, 1))
	}
	usable := terms.usable()
	if q.chance(60) || len(usable) == 0 {
		q.outputs(s, terms, q.between(1, 4))
		return s
	}
	q.use("group by")
	groups := q.keys(s, usable)
	keys := len(groups)
	groups = append(groups, q.aggregate(terms))
	q.noteNesting(s)
	q.shown(s, groups, keys)
	s.rows, s.most = min(s.rows, 9), min(s.most, 400)
	return s
}

// shadowed reports whether a part of a with clause has the name of a table here.
func (q *queries) shadowed() bool {
	return slices.ContainsFunc(q.ctes, func(c *relation) bool {
		return slices.ContainsFunc(q.g.tables, func(t *table) bool { return t.name == c.name })
	})
}
