package cases

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// rest is a way to make a query with less common SQL, nil most of the time.
func (q *queries) rest(depth int) func() result {
	seldom := 90
	if q.options.All {
		seldom = 60
	}
	if q.options.Recursive && q.chance(40) {
		if r, ok := q.recursive(depth); ok {
			return func() result { return r }
		}
	}
	if q.options.Simple || q.chance(seldom) {
		return nil
	}
	makes := []choice[func(int) (result, bool)]{{3, q.distinctOn}, {3, q.top}, {2, q.wholeRow}, {1, q.rowFields}}
	if q.options.All {
		makes = append(makes, choice[func(int) (result, bool)]{2, q.recursive})
	}
	r, ok := weighted(q.random, makes)(depth)
	if !ok {
		return nil
	}
	return func() result { return r }
}

// outerJoin keeps rows without a match of one side or of both.
func (q *queries) outerJoin(_ *selection, a, b member) (member, bool) {
	condition := q.equal(a, b)
	if condition == nil {
		return member{}, false
	}
	kind := weighted(q.random, []choice[string]{{60, "left join"}, {15, "right join"}, {25, "full join"}})
	if condition.Text[1] != " = " {
		kind = "left join"
	}
	q.use(kind)
	on := tree.NewList(tree.List{Open: " on ", Sep: " and ", Min: 1}, condition)
	if q.chance(25) && kind != "full join" {
		on.Kids = append(on.Kids, q.filter(append(slices.Clone(a.terms), b.terms...), 0))
	}
	if q.chance(20) && kind != "full join" {
		if test := q.test(append(slices.Clone(a.terms), b.terms...)); test != nil {
			q.use("test in outer join")
			on.Kids = append(on.Kids, test)
		}
	}
	m := joined(format("from", "§\n  "+kind+" §§", a.node, b.node, on), a, b, 12)
	m.rows = max(m.rows, a.rows, b.rows)
	return m, true
}

// positions is a list of the numbers of the columns, each by chance up or down.
func (q *queries) positions(count int) string {
	var order []string
	for n := range count {
		order = append(order, itoa(n+1)+q.one("", "", " desc", " nulls first"))
	}
	return strings.Join(order, ", ")
}

// top is the first rows of a total order, or all in that order.
func (q *queries) top(depth int) (result, bool) {
	s, terms := q.source(depth, 2)
	if terms = terms.usable(); len(terms) == 0 {
		return result{}, false
	}
	q.outputs(s, terms, q.between(2, 4))
	order := "\norder by " + q.positions(len(s.columns))
	if q.chance(25) {
		q.use("order by")
		s.tail.Kids = append(s.tail.Kids, leaf("", order))
		return s.result(), true
	}
	q.use("top n")
	if q.chance(30) { // by something else first
		order = "\norder by " + pick(q.random, terms).node.String() + "," + strings.TrimPrefix(order, "\norder by")
	}
	limit := "\nlimit " + itoa(q.between(1, 6)) + q.one("", "", " offset 2")
	if q.chance(15) {
		limit = "\n" + q.one("", "", "offset 1 ") + "fetch first 2 rows with ties"
	}
	s.tail.Kids = append(s.tail.Kids, leaf("", order+limit))
	s.rows, s.most = 4, 6
	q.settle(s)
	// In parentheses, so that it may stand in a union.
	r := s.result()
	r.node = format("query", "(§)", r.node)
	return r, true
}

// distinctOn is the first row of each group.
func (q *queries) distinctOn(depth int) (result, bool) {
	s, terms := q.source(depth, 2)
	if terms = terms.usable(); len(terms) < 2 {
		return result{}, false
	}
	q.use("distinct on")
	key := pick(q.random, terms)
	on := key.node.Clone()
	if key.name == key.node.String() { // a bare name would be that of an output, as in order by
		on = leaf("", "1")
	}
	s.distinct.Kids = append(s.distinct.Kids, format("", " distinct on (§)", on))
	q.output(s, key.node.Clone(), key.sort, "", map[string]bool{})
	q.outputs(s, terms, q.between(1, 3))
	for i := range s.columns { // names may meet: outputs does not know the first
		s.columns[i].name = "c" + itoa(i+1)
		s.outputs.Kids[i] = format("", "§ as c"+itoa(i+1), unnamed(s.outputs.Kids[i]))
	}
	s.tail.Kids = append(s.tail.Kids, leaf("", "\norder by "+q.positions(len(s.columns))))
	s.rows = min(s.rows, 8)
	q.settle(s)
	return s.result(), true
}

func unnamed(output *node) *node {
	if output.Sort == "" && len(output.Kids) == 1 {
		return output.Kids[0]
	}
	return output
}
