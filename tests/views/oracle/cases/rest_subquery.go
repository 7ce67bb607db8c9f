package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// below is a relation that a subquery reads: with a condition that ties it to the rows outside, if correlated.
func (q *queries) below(outer scope, correlated bool) (m member, where *node, ok bool) {
	m = q.member(0)
	where = tree.NewList(tree.List{Open: " where ", Sep: " and "})
	if correlated {
		if slices.ContainsFunc(outer, term.unqualified) { // so that a name would be that of a column within
			return m, where, false
		}
		if q.chance(15) {
			m = q.derived(outer, m)
		}
		tie := q.equal(member{terms: outer}, m)
		if tie == nil {
			return m, where, false
		}
		where.Kids = append(where.Kids, tie)
	}
	if q.chance(30) {
		where.Kids = append(where.Kids, q.filter(m.terms, 0))
	}
	if q.chance(25) && q.tests < 2 && !slices.ContainsFunc(m.terms, term.unqualified) {
		q.tests++
		within := m.terms
		if correlated {
			within = slices.Concat(outer, within)
		}
		if test := q.test(within); test != nil {
			q.use("nested test")
			where.Kids = append(where.Kids, test)
		}
		q.tests--
	}
	return m, where, true
}

// ofGroups has a subquery read some groups of its rows, by a column of it: where it is shown, that is what is shown.
func (q *queries) ofGroups(by *node) *node {
	q.use("groups in test")
	return format("", " group by §"+q.one("", " having count(*) > 1", " having count(*) = 1"), by)
}

// subqueryFilter adds a condition with a subquery.
func (q *queries) subqueryFilter(s *selection, terms scope) {
	if condition := q.test(terms); condition != nil {
		if q.chance(25) {
			q.use("test in expression")
			condition = format("bool", q.one("(§ or §)", "not (§ and §)", "case when § then true else § end"), condition, q.filter(terms, 0))
		}
		s.where.Kids = append(s.where.Kids, condition)
		s.rows = s.rows * 2 / 3
	}
}

// test is a condition with a subquery.
func (q *queries) test(terms scope) *node {
	return weighted(q.random, []choice[func(scope) *node]{{4, q.exists}, {4, q.in}, {3, q.quantified}, {4, q.comparedWithOne}})(terms)
}

// exists is a semi or anti join.
func (q *queries) exists(terms scope) *node {
	m, where, ok := q.below(terms, true)
	if !ok {
		return nil
	}
	word := q.one("exists", "not exists")
	q.use(word)
	if usable := m.terms.usable(); len(usable) > 0 && q.chance(15) {
		return format("bool", word+" (select 1 from §§§)", m.node, where, q.ofGroups(pick(q.random, usable).node.Clone()))
	}
	return format("bool", word+" (select 1 from §§)", m.node, where)
}

// in compares with all rows of a subquery, which may have nulls.
func (q *queries) in(terms scope) *node {
	m, where, ok := q.below(terms, q.chance(20))
	both := pairs(terms, m.terms)
	if !ok || len(both) == 0 {
		return nil
	}
	p := pick(q.random, both)
	word := q.one("in", "in", "not in")
	q.use(word)
	if word == "not in" {
		where.Kids = append(where.Kids, format("bool", "§ > "+q.comparable(p[1].sort), p[1].node.Clone()))
	}
	if q.chance(15) {
		return format("bool", "§ "+word+" (select § from §§§)", p[0].node.Clone(), p[1].node.Clone(), m.node, where, q.ofGroups(p[1].node.Clone()))
	}
	return format("bool", "§ "+word+" (select § from §§)", p[0].node.Clone(), p[1].node.Clone(), m.node, where)
}

// comparable is a value that most others of the sort are smaller than.
func (q *queries) comparable(sort string) string {
	values := sortOf(sort).values
	return sortOf(sort).literal(values[len(values)/2])
}

func (q *queries) quantified(terms scope) *node {
	m, where, ok := q.below(terms, q.chance(50))
	both := pairs(terms, m.terms)
	if !ok || len(both) == 0 {
		return nil
	}
	p := pick(q.random, both)
	word := q.one("any", "all")
	q.use(word)
	return format("bool", "§ "+q.one(">=", "<=", "<>")+" "+word+" (select § from §§)", p[0].node.Clone(), p[1].node.Clone(), m.node, where)
}

// one is a subquery with one value, and its sort.
func (q *queries) oneValue(terms scope) (*node, string) {
	correlated := q.chance(50)
	m, where, ok := q.below(terms, correlated)
	if !ok {
		return nil, ""
	}
	q.use("scalar subquery")
	if correlated {
		q.use("correlated subquery")
	}
	a := q.aggregate(m.terms)
	return format(a.sort, "(select § from §§)", a.node, m.node, where), a.sort
}

func (q *queries) comparedWithOne(terms scope) *node {
	n, sort := q.oneValue(terms)
	if n == nil {
		return nil
	}
	for _, t := range terms {
		if t.sort == sort || sort == "bigint" && t.sort == "int" {
			return format("bool", "§ "+q.one("<=", ">=", "<", ">", "=", "<>")+" §", t.node.Clone(), n)
		}
	}
	return format("bool", "§ is not null", n)
}

// scalarOutput adds a column that is a subquery.
func (q *queries) scalarOutput(s *selection, terms scope, taken map[string]bool) bool {
	n, sort := q.oneValue(terms)
	if n == nil {
		return false
	}
	q.output(s, n, sort, "", taken)
	return true
}
