package cases

import (
	"slices"
	"strings"
)

// aggregate is one over the scope, now and then within a subquery: it stays an aggregate of the query that the scope is of.
func (q *queries) aggregate(s scope) term {
	a := q.builder.aggregate(s)
	if q.options.Simple || q.levels > 0 || !readsColumns(a, s) || !q.chance(14) {
		return a
	}
	q.levels++
	defer func() { q.levels-- }()
	below := q.inSubquery(a, !slices.ContainsFunc(s, term.unqualified))
	q.use("aggregate in subquery")
	return below
}

// readsColumns reports whether an aggregate reads a column of the scope, and so is one of its query wherever it stands.
func readsColumns(a term, s scope) bool {
	for n := range a.node.All() {
		if len(n.Kids) == 0 && n.List == nil && slices.ContainsFunc(s, func(t term) bool { return t.node.String() == n.String() }) {
			return true
		}
	}
	return false
}

// inSubquery is a subquery that shows an aggregate of the query around it, or finds its rows by it. One whose columns have no table's name can only stand where no
// other table is read, so that they are not taken for columns of that.
func (q *queries) inSubquery(a term, qualified bool) term {
	if !qualified || q.chance(40) {
		return q.alone(a)
	}
	m := q.member(0)
	var alike []term
	if !sortOf(a.sort).opaque {
		alike = m.terms.which(func(t term) bool { return t.sort == a.sort || a.sort == "bigint" && t.sort == "int" })
	}
	if len(alike) == 0 {
		return q.alone(a)
	}
	t, is := pick(q.random, alike), q.one("=", "<=", ">=", "<>")
	value := a.node
	if q.chance(25) {
		value = format(a.sort, "(select §)", value)
	}
	condition := format("bool", "§ "+is+" §", t.node.Clone(), value)
	other := q.builder.aggregate(m.terms)
	switch n := q.IntN(100); {
	case n < 45:
		return term{sort: other.sort, node: format(other.sort, "(select § from § where §)", other.node, m.node, condition)}
	case n < 60:
		return term{sort: "bigint", node: format("bigint", "(select count(*) filter (where §) from §)", condition, m.node)}
	case n < 75:
		return term{sort: "bool", node: format("bool", "("+q.one("exists", "not exists")+" (select 1 from § where §))", m.node, condition)}
	case n < 85 && len(sortOf(t.sort).values) > 0:
		return term{sort: "bool", node: format("bool", "("+sortOf(t.sort).typed(pick(q.random, sortOf(t.sort).values))+q.one(" in", " not in", " = any")+" (select § from § where §))", t.node.Clone(), m.node, condition)}
	case slices.Contains(sortable, t.sort):
		return term{sort: t.sort, node: format(t.sort, "(select § from § order by §, 1 limit 1)", t.node.Clone(), m.node, condition)}
	}
	return term{sort: other.sort, node: format(other.sort, "(select § from § having §)", other.node, m.node, format("bool", "(count(*) > 3 or § is not null)", a.node.Clone()))}
}

// sortable are sorts whose values are the same where neither sorts before the other.
var sortable = []string{"int", "bigint", "smallint", "text", "date", "uuid"}

// alone is an aggregate in a subquery that reads no table.
func (q *queries) alone(a term) term {
	as := func(text string) term { return term{sort: a.sort, node: format(a.sort, text, a.node)} }
	alias := q.alias()
	switch n := q.IntN(100); {
	case n < 40:
		return as("(select §)")
	case n < 60:
		n, sort := q.over(scope{a}, a, 1)
		return term{sort: sort, node: format(sort, "(select §)", n)}
	case n < 68:
		return as("(values (§))")
	case n < 78:
		return as("(select " + alias + ".n from (select § as n) as " + alias + ")")
	case n < 88:
		return as("(with " + alias + " as (select § as n) select n from " + alias + ")")
	case n < 94:
		return as("(select (select §))")
	case sortOf(a.sort).opaque:
		return as("(select § union all select null limit 1)")
	}
	return term{sort: q.settled(a.sort), node: format(a.sort, "(select § union select §)", a.node, q.twin(a.node))}
}

// groupingInSubquery is GROUPING of a key within a subquery, which says it of the groups around.
func (q *queries) groupingInSubquery(key string) *node {
	q.use("grouping in subquery")
	call := "grouping(" + key + ")"
	if q.chance(50) {
		return leaf("int", "(select "+call+")")
	}
	m := q.member(0)
	return format("bigint", "(select count(*) from § where "+call+" = 0)", m.node)
}

// plainKeys are the keys that are columns under a table's name, which subqueries may read.
func plainKeys(keys scope) scope {
	return keys.which(func(t term) bool {
		return t.from != "" && len(t.node.Kids) == 0 && strings.HasSuffix(t.node.String(), "."+t.name)
	})
}

// firstGroups keeps the first groups in the order of an aggregate, which is not shown.
func (q *queries) firstGroups(s *selection, terms scope) result {
	q.use("top n of groups")
	t := pick(q.random, terms)
	order := q.one("count(*)", "count("+t.node.String()+")", "count(distinct "+t.node.String()+")")
	if slices.Contains(sortable, t.sort) && t.sort != "uuid" {
		order = q.one("min(", "max(") + t.node.String() + ")"
	}
	order = "\norder by " + order + q.one("", " desc") + ", " + q.positions(len(s.columns))
	s.tail.Kids = append(s.tail.Kids, leaf("", order+"\nlimit "+itoa(q.between(1, 5))))
	s.rows, s.most = 4, 5
	q.settle(s)
	r := s.result()
	r.node = format("query", "(§)", r.node)
	return r
}
