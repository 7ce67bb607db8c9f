package cases

import "slices"

// derived is a relation whose rows are made of those of another one and of the rows outside.
func (q *queries) derived(outer scope, m member) member {
	q.use("derived in test")
	defer func(named bool) { q.named = named }(q.named)
	q.named = true
	s := newSelection()
	if m.most <= 40 && q.chance(25) {
		m = q.equiJoin(m, q.member(0))
	}
	s.from.Kids, s.rows, s.most = []*node{m.node}, m.rows, m.most
	if tie := q.equal(member{terms: outer}, m); tie != nil && q.chance(40) {
		s.where.Kids = append(s.where.Kids, tie)
	}
	if q.chance(30) {
		s.where.Kids = append(s.where.Kids, q.filter(slices.Concat(outer, m.terms), 0))
	}
	usable := m.terms.usable()
	way := q.IntN(100)
	if len(usable) == 0 {
		way = 99
	}
	switch {
	case way < 20:
		s.distinct.Kids = append(s.distinct.Kids, leaf("", " distinct"))
		q.mixed(s, outer.usable(), usable)
		q.settle(s)
		if hasOpaque(s.columns) {
			s.distinct.Kids = nil
		}
	case way < 40: // an aggregate of nothing but the rows outside would be theirs
		key := pick(q.random, usable)
		s.group.Kids = append(s.group.Kids, key.node.Clone())
		key.sort = q.settled(key.sort)
		q.mixed(s, outer, scope{key, q.aggregate(m.terms)})
	case way < 55:
		q.mixed(s, outer.usable(), usable)
		if !hasOpaque(s.columns) {
			word := q.one("union", "union all")
			return q.subquery(q.combine(s.result(), word, q.branch(0, s.columns, word == "union")))
		}
	default:
		q.mixed(s, outer, m.terms)
	}
	return q.subquery(s.result())
}

// mixed has terms of a query as columns, and perhaps one that is computed from these and the rows outside.
func (q *queries) mixed(s *selection, outer, own scope) {
	taken := map[string]bool{}
	for _, t := range some(q.random, own, 1, 3) {
		q.output(s, t.node.Clone(), t.sort, t.name, taken)
	}
	if len(outer) > 0 && q.chance(75) {
		n, sort := q.over(slices.Concat(outer, own), pick(q.random, outer), 1)
		q.output(s, n, sort, "", taken)
	}
}
