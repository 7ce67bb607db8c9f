package cases

import "slices"

// lateral is a query whose from clause reads what stands to the left.
func (q *queries) lateral(depth int) result {
	s, left := newSelection(), q.member(depth-1)
	right, ok := q.unnested(left)
	if q.chance(60) || !ok {
		if right, ok = q.lateralQuery(left); !ok {
			return q.plain(depth)
		}
	}
	s.from.Kids, s.rows, s.most = []*node{right.node}, right.rows, right.most
	return q.finish(s, right.terms).result()
}

func (q *queries) lateralQuery(left member) (member, bool) {
	m, where, ok := q.below(left.terms, true)
	if !ok {
		return m, false
	}
	q.use("lateral")
	if q.chance(40) {
		return q.lateralRows(left, m, where), true
	}
	a, alias := q.aggregate(m.terms), q.alias()
	text := "§ cross join lateral (select § as n from §§) as " + alias
	if q.chance(40) {
		text = "§ left join lateral (select § as n from §§) as " + alias + " on true"
	}
	n := format("from", text, left.node, a.node, m.node, where)
	return joined(n, left, member{terms: terms(alias, []column{{name: "n", sort: a.sort}}), rows: 1, most: 1}, 1), true
}

// lateralRows are rows of another relation that are found by those to the left.
func (q *queries) lateralRows(left, m member, where *node) member {
	t, alias := pick(q.random, m.terms), q.alias()
	first := q.first(left, t, where)
	distinct, sort := q.one("", "", "distinct "), t.sort
	text := "§ cross join lateral (select " + distinct + "§ as n from §§" + first + ") as " + alias
	if distinct != "" {
		sort = q.settled(sort)
	}
	if sortOf(t.sort).opaque {
		text = "§ cross join lateral (select § as n from §§) as " + alias
	}
	if q.chance(40) {
		text = "§ left join lateral (select § as n from §§" + first + ") as " + alias + " on true"
	}
	n := format("from", text, left.node, t.node.Clone(), m.node, where)
	return joined(n, left, member{terms: terms(alias, []column{{name: "n", sort: sort}}), rows: m.rows, most: m.most}, 4)
}

// first leaves the first rows in the order of t, where equal values of it are the same, and may compare it with the rows to the left instead of what finds rows.
func (q *queries) first(left member, t term, where *node) string {
	if !slices.Contains([]string{"int", "bigint", "smallint", "text", "date", "uuid"}, t.sort) || !q.chance(50) {
		return ""
	}
	q.use("first rows of each")
	for _, of := range left.terms {
		if of.sort == t.sort && q.chance(60) {
			where.Kids = []*node{format("bool", "§ "+q.one("<", ">=", "<>")+" §", t.node.Clone(), of.node.Clone())}
			break
		}
	}
	return " order by n" + q.one("", " desc") + q.one(" limit 1", " limit 2", " limit 2 offset 1")
}

// setOutput adds a column of a function that returns rows.
func (q *queries) setOutput(s *selection, terms scope, taken map[string]bool) {
	for _, t := range some(q.random, terms, len(terms), len(terms)) {
		text := t.node.String()
		call, sort := "", ""
		switch t.sort {
		case "ints":
			call, sort = "unnest("+text+")", "int"
		case "texts":
			call, sort = "unnest("+text+")", "text"
		case "int":
			call, sort = "generate_series(1, "+text+" % 4)", "int"
		default:
			continue
		}
		q.use("set-returning function")
		q.output(s, leaf(sort, call), sort, "", taken)
		return
	}
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
			document := "xmlelement(name r, xmlelement(name v, " + text + "), xmlelement(name v, lower(" + text + ")))"
			calls = append(calls, choice[[2]string]{1, [2]string{"xmltable('/r/v' passing " + document + " columns n text path '.')", "text"}})
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
