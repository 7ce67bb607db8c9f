package cases

import (
	"github.com/pgsluice/sluice/tests/oracle/tree"
)

// groupingSets groups in several ways at once.
func (q *queries) groupingSets(s *selection) bool {
	if len(s.group.Kids) == 0 {
		return false
	}
	q.use("grouping sets")
	list := func() *node { return tree.NewList(tree.List{Sep: ", ", Min: 1}, clones(s.group.Kids)...) }
	first := func() *node { return tree.NewList(tree.List{Sep: ", ", Min: 1}, s.group.Kids[0].Clone()) }
	switch text := q.one("rollup (§)", "cube (§)", "grouping sets ((§), ())", "", "", ""); {
	case text != "":
		s.group.Kids = []*node{format("", text, list())}
	case q.chance(50):
		text := q.one("grouping sets ((§), (§))", "grouping sets ((§), (), (§))", "§, rollup (§)", "distinct rollup (§), cube (§)", "rollup (§), grouping sets ((§), ())", "grouping sets (rollup (§), (§))")
		s.group.Kids = []*node{format("", text, list(), first())}
	default:
		s.group.Kids = []*node{format("", q.one("grouping sets ((§), (§), (§))", "cube ((§), §), grouping sets (§, ())"), list(), first(), first())}
	}
	return true
}

func clones(nodes []*node) []*node {
	var all []*node
	for _, n := range nodes {
		all = append(all, n.Clone())
	}
	return all
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
