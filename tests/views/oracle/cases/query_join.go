package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// many rows take too long.
const many = 4000

// join joins two relations in one of the ways there are. Some of them put a condition into where.
func (q *queries) join(s *selection, a, b member) member {
	ways := []choice[func(*selection, member, member) (member, bool)]{
		{40, func(_ *selection, a, b member) (member, bool) { return q.equiJoin(a, b), true }},
		{14, q.commaJoin}, {12, q.usingJoin}, {10, q.naturalJoin}, {8, q.crossJoin}, {8, q.nonEquiJoin}, {8, q.orJoin},
	}
	ways = append(ways, choice[func(*selection, member, member) (member, bool)]{30, q.outerJoin})
	if a.rows*b.rows < 12*few && q.chance(70) {
		ways = []choice[func(*selection, member, member) (member, bool)]{{1, q.crossJoin}, {1, q.nonEquiJoin}, {1, q.orJoin}}
	}
	if b.most > 40 && a.most*b.most/4 > 4*many {
		b = q.reading(q.table())
	}
	if b.most > 40 && a.most*b.most/4 > 4*many {
		b = q.valuesList()
	}
	if a.comma { // which binds less than join
		return q.commaJoins(s, a, b)
	}
	if m, ok := weighted(q.random, ways)(s, a, b); ok {
		return m
	}
	return q.equiJoin(a, b)
}

// pairs are columns, one of each side, that may be compared: of those, if there are any, that have values in common.
func pairs(a, b scope) [][2]term {
	var found, small [][2]term
	for _, l := range a {
		for _, r := range b {
			if l.sort == r.sort && sortOf(l.sort).keys {
				found = append(found, [2]term{l, r})
			}
			if l.sort == r.sort && sortOf(l.sort).keys && l.small && r.small {
				small = append(small, [2]term{l, r})
			}
		}
	}
	if small != nil {
		return small
	}
	return found
}

// equal compares a column of each side, nil if no two can be.
func (q *queries) equal(a, b member) *node {
	both := pairs(a.terms, b.terms)
	if len(both) == 0 {
		return nil
	}
	p := pick(q.random, both)
	text := "§ = §"
	switch n := q.IntN(10); {
	case n == 0:
		q.use("null-safe join")
		text = "§ is not distinct from §"
	case n == 1 && p[0].sort == "int":
		text = "§ = § + 1"
	}
	return format("bool", text, p[0].node.Clone(), p[1].node.Clone())
}

// joined is a join in which one of so many pairs of rows matches: few in all if it is about few, many if it is about many.
func joined(n *node, a, b member, match int) member {
	return member{
		node: n, terms: append(slices.Clone(a.terms), b.terms...), rows: max(a.rows*b.rows/match, 1), most: max(a.most*b.most*3/(match+2), 1),
	}
}

// equiJoin joins by equal columns, or all with all if there are no columns to compare.
func (q *queries) equiJoin(a, b member) member {
	condition := q.equal(a, b)
	if condition == nil {
		if a.most*b.most > many {
			b = q.valuesList()
		}
		q.use("cross join")
		return joined(format("from", "§ cross join §", a.node, b.node), a, b, 1)
	}
	q.use("inner join")
	on := tree.NewList(tree.List{Open: " on ", Sep: " and ", Min: 1}, condition)
	m := joined(format("from", "§\n  join §§", a.node, b.node, on), a, b, 12)
	if m.most > 4*many {
		on.Kids = append(on.Kids, q.equal(a, b))
		m.rows, m.most = max(m.rows/6, 1), m.most/3
	} else if q.chance(25) && m.rows > few {
		m.rows /= 2
		on.Kids = append(on.Kids, q.filter(m.terms, 0))
	}
	return m
}

func (q *queries) commaJoin(s *selection, a, b member) (member, bool) {
	return q.commaJoins(s, a, b), true
}

// commaJoins compares two columns in where, if there are any.
func (q *queries) commaJoins(s *selection, a, b member) member {
	q.use("comma join")
	match := 1
	if condition := q.equal(a, b); condition != nil {
		match = 12
		s.where.Kids = append(s.where.Kids, condition)
	}
	m := joined(format("from", "§, §", a.node, b.node), a, b, match)
	m.comma = true
	return m
}

// common are the names that both sides have once. For using and natural they have to be of one sort.
func common(a, b scope) (names []string, ok bool) {
	ok = true
	for _, l := range a {
		for _, r := range b {
			if l.name == r.name {
				names = append(names, l.name)
				ok = ok && l.sort == r.sort && !sortOf(l.sort).opaque
			}
		}
	}
	count := len(names)
	slices.Sort(names)
	names = slices.Compact(names)
	return names, ok && len(names) == count
}

func (q *queries) usingJoin(_ *selection, a, b member) (member, bool) {
	names, ok := common(a.terms, b.terms)
	if !ok || len(names) == 0 {
		return member{}, false
	}
	q.use("using")
	names = names[:min(len(names), q.between(1, 2))]
	list := tree.NewList(tree.List{Open: " using (", Sep: ", ", Close: ")", Min: 1})
	for _, name := range names {
		list.Kids = append(list.Kids, leaf("", name))
	}
	return joined(format("from", "§\n  join §§", a.node, b.node, list), a, b, 12), true
}

func (q *queries) naturalJoin(_ *selection, a, b member) (member, bool) {
	names, ok := common(a.terms, b.terms)
	if !ok || len(names) > 2 || len(names) == 0 {
		if a.alias == "" {
			return member{}, false
		}
		a, b = q.narrow(), q.narrow()
		if names, ok = common(a.terms, b.terms); !ok || len(names) == 0 {
			return member{}, false
		}
	}
	q.use("natural join")
	return joined(format("from", "§\n  natural join §", a.node, b.node), a, b, 12), true
}

// narrow is a table with few columns, among them the first that a case has, as most tables have it.
func (q *queries) narrow() member {
	r := q.table()
	s := newSelection()
	m := q.reading(r)
	s.from.Kids, s.rows, s.most = []*node{m.node}, m.rows, m.most
	taken := map[string]bool{}
	for i, t := range m.terms {
		if len(s.columns) < 2 && (t.sort == "int" || i >= len(m.terms)-1) {
			taken[t.name] = true
			s.columns = append(s.columns, column{name: t.name, sort: t.sort})
			s.outputs.Kids = append(s.outputs.Kids, t.node.Clone())
		}
	}
	return q.subquery(s.result())
}

func (q *queries) crossJoin(_ *selection, a, b member) (member, bool) {
	if a.most*b.most > many {
		b = q.valuesList()
	}
	if a.most*b.most > many {
		return member{}, false
	}
	q.use("cross join")
	return joined(format("from", "§ cross join §", a.node, b.node), a, b, 1), true
}

func (q *queries) nonEquiJoin(_ *selection, a, b member) (member, bool) {
	both := pairs(a.terms, b.terms)
	if len(both) == 0 || a.most*b.most > many {
		return member{}, false
	}
	q.use("non-equi join")
	p := pick(q.random, both)
	on := format("bool", q.one("§ < §", "§ >= §", "§ <> §"), p[0].node.Clone(), p[1].node.Clone())
	return joined(format("from", "§\n  join § on §", a.node, b.node, on), a, b, 2), true
}

func (q *queries) orJoin(_ *selection, a, b member) (member, bool) {
	x, y := q.equal(a, b), q.equal(a, b)
	if x == nil || a.most*b.most > many {
		return member{}, false
	}
	q.use("or join")
	return joined(format("from", "§\n  join § on §", a.node, b.node, format("bool", "(§ or §)", x, y)), a, b, 6), true
}
