package cases

import "slices"

// union is a set of rows, or a bag, from two or three queries.
func (q *queries) union(depth int) result {
	word := q.one("union", "union all", "union all")
	q.use(word)
	first := q.branch(depth-1, nil, word == "union")
	for range q.between(1, 2) {
		next := q.branch(depth-1, first.columns, word == "union")
		first = q.combine(first, word, next)
	}
	return first
}

// setOperation is intersect or except, of queries that may have rows in common.
func (q *queries) setOperation(depth int) result {
	word := q.one("intersect", "except", "except", "intersect all", "except all")
	s, terms := q.source(depth, 2)
	usable := terms.usable().comparable()
	if len(usable) == 0 {
		return q.plain(depth)
	}
	q.use(word)
	taken := map[string]bool{}
	for range q.between(1, 3) {
		t := pick(q.random, usable)
		q.output(s, t.node.Clone(), q.settled(t.sort), t.name, taken)
	}
	return q.combine(s.result(), word, q.branch(depth-1, s.columns, true))
}

func (q *queries) combine(a result, word string, b result) result {
	columns := slices.Clone(a.columns)
	for i := range columns {
		columns[i].sort = wider(a.columns[i].sort, b.columns[i].sort)
		if word != "union all" {
			columns[i].sort = q.settled(columns[i].sort)
		}
	}
	return result{format("query", "§\n"+word+"\n§", a.node, b.node), columns, a.rows + b.rows, a.most + b.most}
}

// wider is the sort of a column of a union.
func wider(a, b string) string {
	if a != b && (a == "dec" || b == "dec") {
		return "numeric"
	}
	if i := slices.Index(numbers, b); i > slices.Index(numbers, a) {
		return b
	}
	return a
}

// numbers are sorts that a union brings to the last of them there is.
var numbers = []string{"smallint", "int", "bigint", "dec", "numeric"}

// branch is a query that may stand beside one with the columns given.
func (q *queries) branch(depth int, like []column, equality bool) result {
	if like == nil && depth > 0 && q.chance(25) {
		if r := q.grouped(depth); (!equality || !hasOpaque(r.columns)) && !hasRows(r.columns) {
			return r
		}
	}
	s, terms := q.source(depth, 2)
	terms = terms.comparable()
	if equality {
		terms = terms.usable()
	}
	if like == nil {
		if len(terms) == 0 {
			return q.constant(0)
		}
		q.outputs(s, terms, q.between(1, 4))
		return s.result()
	}
	taken := map[string]bool{}
	for _, c := range like {
		sort := q.like(c.sort)
		q.output(s, q.expr(terms, sort, 1), sort, "", taken)
	}
	return s.result()
}

// like is a sort that a union takes beside the one given.
func (q *queries) like(sort string) string {
	if slices.Contains(numbers, sort) && q.chance(20) {
		q.use("coercion")
		return pick(q.random, numbers)
	}
	return sort
}

// rowSort is that of rows of tables: each table has a type of its own.
const rowSort = "record"

// comparable are the terms that can stand beside others in a set operation: no rows, whose types may be other ones.
func (s scope) comparable() scope { return s.which(func(t term) bool { return t.sort != rowSort }) }

func hasRows(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.sort == rowSort })
}
