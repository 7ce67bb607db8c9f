package cases

// overGroups reads groups by what they counted: grouped again, distinct, joined with the rows of the groups, or beside others. A row that is
// inserted below deletes a row there and inserts another.
func (q *queries) overGroups(int) result {
	q.use("groups over groups")
	s := newSelection()
	table := q.reading(q.table())
	inner, keys, ok := q.countedGroups(table)
	if !ok {
		return q.total(0)
	}
	m := q.subquery(inner)
	counted := m.terms[keys:]
	if q.chance(30) {
		q.use("join with own groups")
		left := q.reading(table.of)
		m = q.ownGroups(left, m, inner.columns[:keys])
	}
	s.from.Kids, s.rows, s.most = []*node{m.node}, max(m.rows, few+1), m.most
	return q.overCounts(s, m.terms, counted.usable())
}

// countedGroups are groups of one table with their keys, how many rows they have and one more aggregate, all under names. It describes how many keys
// there are.
func (q *queries) countedGroups(m member) (inner result, keys int, ok bool) {
	if m.of.table == nil || len(m.terms.usable()) == 0 {
		return result{}, 0, false
	}
	named := q.named
	q.named = true
	defer func() { q.named = named }()
	s := newSelection()
	if q.chance(25) {
		m = q.join(s, m, q.reading(q.table()))
	}
	s.from.Kids, s.rows, s.most = []*node{m.node}, m.rows, m.most
	groups := q.keys(s, m.terms.usable())
	keys = len(groups)
	groups = append(groups, term{sort: "bigint", node: leaf("bigint", "count(*)"), small: true}, q.aggregate(m.terms))
	if q.chance(20) {
		q.having(s, groups)
	}
	taken := map[string]bool{}
	for _, g := range groups {
		q.output(s, g.node.Clone(), g.sort, g.name, taken)
		s.columns[len(s.columns)-1].small = g.small
	}
	s.rows, s.most = 7, min(s.most, 100)
	inner = s.result()
	if q.chance(15) { // beside the groups of another table that have the same columns
		q.use("union all")
		inner = q.combine(inner, "union all", q.branch(0, inner.columns, false))
	}
	return inner, keys, true
}

// ownGroups joins a table with its groups by the first of their keys that is a column of it, or all with all.
func (q *queries) ownGroups(left, groups member, keys []column) member {
	for i, k := range keys {
		for _, t := range left.terms {
			if t.name == k.name && t.sort == k.sort {
				on := format("bool", q.one("§ = §", "§ = §", "§ is not distinct from §"), t.node.Clone(), groups.terms[i].node.Clone())
				return joined(format("from", "§\n  join § on §", left.node, groups.node, on), left, groups, 6)
			}
		}
	}
	q.use("cross join")
	return joined(format("from", "§ cross join §", left.node, groups.node), left, groups, 1)
}

// overCounts groups by what groups counted, or shows it.
func (q *queries) overCounts(s *selection, terms, counted scope) result {
	if q.chance(25) {
		q.where(s, q.filter(terms, 0))
	}
	taken := map[string]bool{}
	switch n := q.IntN(100); {
	case n < 12:
		q.use("distinct")
		s.distinct.Kids = append(s.distinct.Kids, leaf("", " distinct"))
		for _, t := range some(q.random, counted, 1, 2) {
			q.output(s, t.node.Clone(), q.settled(t.sort), "", taken)
		}
		return s.result()
	case n < 24:
		q.outputs(s, terms, q.between(1, 4))
		return s.result()
	}
	q.use("group by", "aggregate over aggregate")
	groups := q.keys(s, counted)
	keys := len(groups)
	for range q.between(1, 2) {
		groups = append(groups, q.aggregate(terms))
	}
	if q.chance(25) {
		q.having(s, groups)
	}
	q.shown(s, groups, keys)
	s.rows, s.most = min(s.rows, 9), min(s.most, 400)
	return s.result()
}
