package cases

import (
	"strings"

	"github.com/pgsluice/sluice/tests/oracle/tree"
)

// window is a query with window functions. Those that distinguish rows of one place in the order get an order by all columns
// there are, so that the result is the same whichever of equal rows comes first.
func (q *queries) window(depth int) (result, bool) {
	s, terms := q.source(depth, 2)
	usable := terms.usable()
	if len(usable) == 0 {
		return result{}, false
	}
	q.use("window")
	taken := map[string]bool{}
	for range q.between(1, 2) {
		t := pick(q.random, terms)
		q.output(s, t.node.Clone(), t.sort, t.name, taken)
	}
	for range q.between(1, 2) {
		n, sort := q.windowCall(usable, len(usable) == len(terms))
		q.output(s, n, sort, "", taken)
	}
	return s.result(), true
}

func (q *queries) windowCall(terms scope, total bool) (*node, string) {
	t := pick(q.random, terms)
	partition, order := pick(q.random, terms).node.String(), pick(q.random, terms).node.String()
	by := q.one("partition by "+partition+" ", "partition by "+partition+" ", "")
	kinds := []string{"rank", "aggregate", "running"}
	if total {
		kinds = append(kinds, "number", "neighbour")
	}
	switch pick(q.random, kinds) {
	case "rank":
		return leaf("bigint", q.one("rank()", "dense_rank()")+" over ("+by+"order by "+order+")"), "bigint"
	case "running":
		return leaf("bigint", "count(*) over ("+by+"order by "+order+")"), "bigint"
	case "number":
		return leaf("bigint", "row_number() over ("+by+"order by "+all(terms)+")"), "bigint"
	case "neighbour":
		call := q.one("lag(§)", "lead(§)", "first_value(§)") + " over (" + by + "order by " + all(terms) + ")"
		return format(t.sort, call, t.node.Clone()), t.sort
	}
	a := q.aggregate(terms)
	for strings.Contains(a.node.String(), "distinct") || strings.Contains(a.node.String(), "order by") {
		a = q.aggregate(terms)
	}
	return format(a.sort, "§ over ("+strings.TrimSpace(by)+")", a.node), a.sort
}

func all(terms scope) string {
	var names []string
	for _, t := range terms {
		names = append(names, t.node.String())
	}
	return strings.Join(names, ", ")
}

// groupingSets groups in several ways at once.
func (q *queries) groupingSets(s *selection) bool {
	if len(s.group.Kids) == 0 {
		return false
	}
	q.use("grouping sets")
	keys := tree.NewList(tree.List{Sep: ", ", Min: 1}, s.group.Kids...)
	text := q.one("rollup (§)", "cube (§)", "grouping sets ((§), ())")
	s.group.Kids = []*node{format("", text, keys)}
	return true
}

// lateral is a query whose from clause reads what stands to the left.
func (q *queries) lateral(depth int) (result, bool) {
	s, left := newSelection(), q.member(depth-1)
	right, ok := q.unnested(left)
	if q.chance(60) || !ok {
		if right, ok = q.lateralQuery(left); !ok {
			return result{}, false
		}
	}
	s.from.Kids, s.rows, s.most = []*node{right.node}, right.rows, right.most
	return q.finish(s, right.terms).result(), true
}

func (q *queries) lateralQuery(left member) (member, bool) {
	m, where, ok := q.below(left.terms, true)
	if !ok {
		return m, false
	}
	q.use("lateral")
	a, alias := q.aggregate(m.terms), q.alias()
	text := "§ cross join lateral (select § as n from §§) as " + alias
	if q.chance(40) {
		text = "§ left join lateral (select § as n from §§) as " + alias + " on true"
	}
	n := format("from", text, left.node, a.node, m.node, where)
	return joined(n, left, member{terms: terms(alias, []column{{name: "n", sort: a.sort}}), rows: 1, most: 1}, 1), true
}

// unnested has a row for each part of a value.
func (q *queries) unnested(left member) (member, bool) {
	var calls []choice[[2]string]
	for _, t := range left.terms {
		text := t.node.String()
		switch t.sort {
		case "ints":
			calls = append(calls, choice[[2]string]{3, [2]string{"unnest(" + text + ")", "int"}})
		case "texts":
			calls = append(calls, choice[[2]string]{3, [2]string{"unnest(" + text + ")", "text"}})
		case "int":
			calls = append(calls, choice[[2]string]{1, [2]string{"generate_series(1, " + text + " % 4)", "int"}})
		case "text":
			calls = append(calls, choice[[2]string]{1, [2]string{"regexp_split_to_table(" + text + ", '-')", "text"}})
		}
	}
	if len(calls) == 0 {
		return member{}, false
	}
	q.use("set-returning function")
	call, alias := weighted(q.random, calls), q.alias()
	n := format("from", "§ cross join lateral "+call[0]+" as "+alias+" (n)", left.node)
	return joined(n, left, member{terms: terms(alias, []column{{name: "n", sort: call[1]}}), rows: 2, most: 3}, 1), true
}
