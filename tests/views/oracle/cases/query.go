package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// relation is what a query may read.
type relation struct {
	name    string
	tag     string
	columns []column
	key     []string // of a table
	rows    int      // about how many, rather fewer
	most    int      // about how many, rather more
	kind    string   // the feature that reading it is, if it is no table
	table   *table
}

// result is a query, and what is known of it.
type result struct {
	node    *node
	columns []column
	rows    int
	most    int
}

// queries makes one query with all that is below it.
type queries struct {
	builder
	g       *generator
	streams []*relation
	ctes    []*relation
	named   bool // every column gets a name
	aliases int
	tests   int // within each other, around what is being made
	levels  int // of subqueries around an aggregate
}

func (g *generator) queries(r random, streams []*relation) *queries {
	return &queries{
		builder: builder{random: r, options: g.options, features: map[string]bool{}, values: g.values},
		g:       g, streams: streams,
	}
}

// selection is a select statement in the making.
type selection struct {
	with, distinct, outputs, from, where, group, having, tail *node
	columns                                                   []column
	rows, most                                                int
}

func newSelection() *selection {
	list := func(open, sep string, min int) *node { return tree.NewList(tree.List{Open: open, Sep: sep, Min: min}) }
	return &selection{
		with: tree.NewList(tree.List{Open: "with ", Sep: ",\n", Close: "\n"}), distinct: list("", "", 0), outputs: list(" ", ", ", 1),
		from: list("\nfrom ", ", ", 0), where: list("\nwhere ", "\n  and ", 0), group: list("\ngroup by ", ", ", 0),
		having: list("\nhaving ", "\n   and ", 0), tail: list("", "", 0),
	}
}

// Parts of a query's node of sort query, by their place among its kids.
const (
	WithPart = iota
	DistinctPart
	OutputsPart
	FromPart
	WherePart
	GroupPart
	HavingPart
	TailPart
)

func (s *selection) result() result {
	n := format("query", "§select§§§§§§§", s.with, s.distinct, s.outputs, s.from, s.where, s.group, s.having, s.tail)
	return result{n, s.columns, max(s.rows, 1), max(s.most, 1)}
}

// query makes a query of any kind.
func (q *queries) query(depth int) result {
	if depth > 0 && q.chance(14) {
		return q.with(depth)
	}
	if rest := q.rest(depth); rest != nil {
		return rest()
	}
	windows := 16
	if q.options.Simple {
		windows = 0
	}
	return weighted(q.random, []choice[func(int) result]{
		{38, q.plain}, {30, q.grouped}, {14, q.overGroups}, {8, q.total}, {8, q.distinct}, {10, q.union}, {8, q.setOperation}, {8, q.lateral}, {1, q.constant},
		{windows * 5 / 8, q.window}, {windows * 3 / 8, q.ranked},
	})(depth)
}

// plain reads rows, drops some, and computes columns.
func (q *queries) plain(depth int) result {
	s, terms := q.source(depth, 4)
	q.outputs(s, terms, q.between(1, 5))
	if !q.options.Simple && q.chance(5) {
		taken := map[string]bool{}
		for _, c := range s.columns {
			taken[c.name] = true
		}
		q.setOutput(s, terms, taken)
	}
	return s.result()
}

// source begins a select statement: from and where.
func (q *queries) source(depth, members int) (*selection, scope) {
	s := newSelection()
	count := min(weighted(q.random, []choice[int]{{42, 1}, {36, 2}, {16, 3}, {6, 4}}), members)
	if q.options.Simple {
		count = 1
	}
	terms := q.from(s, count, depth)
	for range weighted(q.random, []choice[int]{{40, 0}, {42, 1}, {18, 2}}) {
		if s.rows > few || q.chance(5) {
			q.where(s, q.filter(terms, 1))
		}
	}
	if !q.options.Simple && q.chance(25) {
		q.subqueryFilter(s, terms)
	}
	return s, terms
}

// few is about how many rows a query should still have when it gets one more condition: comparisons of nothing with nothing
// find nothing.
const few = 8

func (q *queries) where(s *selection, condition *node) {
	q.use("filter")
	s.where.Kids = append(s.where.Kids, condition)
	s.rows = s.rows / 2
}

// outputs computes columns: terms as they are, and expressions over them.
func (q *queries) outputs(s *selection, terms scope, count int) {
	taken := map[string]bool{}
	for range count {
		if !q.options.Simple && q.chance(10) && q.scalarOutput(s, terms, taken) {
			continue
		}
		if !q.options.Simple && q.chance(6) {
			if test := q.test(terms); test != nil {
				q.use("test in expression")
				q.output(s, test, "bool", "", taken)
				continue
			}
		}
		t := pick(q.random, terms)
		if q.chance(60) {
			q.output(s, t.node.Clone(), t.sort, t.name, taken)
			s.columns[len(s.columns)-1].small = t.small
			continue
		}
		n, sort := q.over(terms, t, 2)
		q.use("expression")
		q.output(s, n, sort, "", taken)
	}
}

// output adds a column, under the name of what it reads if that is free.
func (q *queries) output(s *selection, n *node, sort, name string, taken map[string]bool) {
	free := name != "" && !taken[name]
	if free && !q.named && q.chance(60) {
		s.outputs.Kids = append(s.outputs.Kids, n)
	} else {
		if !free || q.chance(30) {
			name = q.columnName(taken)
		}
		s.outputs.Kids = append(s.outputs.Kids, format("", "§ as "+name, n))
	}
	taken[name] = true
	s.columns = append(s.columns, column{name: name, sort: sort})
}

// columnName is a name that the query has not used yet.
func (q *queries) columnName(taken map[string]bool) string {
	for _, c := range some(q.random, q.g.columns, len(q.g.columns), len(q.g.columns)) {
		if !taken[c.name] {
			return c.name
		}
	}
	for n := 1; ; n++ {
		if name := "c" + itoa(n); !taken[name] {
			return name
		}
	}
}

// distinct leaves one of equal rows.
func (q *queries) distinct(depth int) result {
	s, terms := q.source(depth, 3)
	if terms = terms.usable(); len(terms) == 0 {
		return q.plain(depth)
	}
	q.use("distinct")
	s.distinct.Kids = append(s.distinct.Kids, leaf("", " distinct"))
	q.outputs(s, terms, q.between(1, 3))
	q.settle(s)
	s.rows = min(s.rows, 20)
	return s.result()
}

// settled is the sort of values of which any one stands for all that are equal: the digits of a number are not sure any more.
func (b *builder) settled(sort string) string {
	if sort == "scaled" {
		return "ratio"
	}
	return sort
}

// settle is for a query that keeps one of rows that are equal.
func (b *builder) settle(s *selection) {
	for i := range s.columns {
		s.columns[i].sort = b.settled(s.columns[i].sort)
	}
}

// constant reads no table.
func (q *queries) constant(int) result {
	s := newSelection()
	q.use("no table")
	taken := map[string]bool{}
	for range q.between(1, 3) {
		kind := q.valueSort()
		q.output(s, leaf(kind.name, kind.typed(pick(q.random, kind.values))), kind.name, "", taken)
	}
	s.rows, s.most = 1, 1
	return s.result()
}

// valueSort is a sort that has values and equality.
func (b *builder) valueSort() *sort {
	for {
		if s := pick(b.random, sorts); s.weight > 0 && !s.opaque {
			return s
		}
	}
}

func hasOpaque(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return sortOf(c.sort).opaque })
}
