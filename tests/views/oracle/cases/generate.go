package cases

import (
	"fmt"
	"slices"
)

// generator makes a case.
type generator struct {
	random
	options Options
	seed    uint64
	odd     bool                // names that one could trip over
	values  map[string][]string // by sort, where they are others than usual
	tables  []*table
	views   []*relation // plain views
	columns []column    // the names that columns of this case have; a name is of one sort in all tables
}

// The parts of a case, each of which has a stream of choices of its own.
const (
	schemaPart = iota + 1
	rowsPart
	changesPart
	viewsPart // and one more for each view
)

// Generate makes the case of a seed.
func Generate(seed uint64, options Options) *Case {
	g := &generator{random: newRandom(seed, schemaPart), options: options, seed: seed, values: map[string][]string{}}
	g.odd = g.chance(30)
	if g.chance(25) || options.Special {
		for name, values := range specials {
			g.values[name] = append(slices.Clone(sortOf(name).values), values...)
		}
	}
	g.makeTables()
	c := &Case{Seed: seed, Schema: g.schema()}
	c.Schema = append(c.Schema, g.plainViews()...)
	g.random = newRandom(seed, rowsPart)
	c.Rows = g.firstRows()
	streams := []*relation{}
	for n := range options.Views {
		v, relation := g.view(n, streams)
		c.Views = append(c.Views, v)
		streams = append(streams, relation)
	}
	c.Steps = g.changes(c)
	return c
}

// view makes the definition of a stream table, which may read the ones before it.
func (g *generator) view(n int, streams []*relation) (*View, *relation) {
	q := g.queries(newRandom(g.seed, uint64(viewsPart+n)), streams)
	depth := 2
	if g.options.Simple {
		depth = 0
	}
	result := q.query(depth)
	name := fmt.Sprintf("v%d", n+1)
	v := &View{Name: name, Query: result.node}
	for f := range q.features {
		v.Features = append(v.Features, f)
	}
	slices.Sort(v.Features)
	return v, &relation{name: name, tag: viewTag + name, columns: result.columns, rows: result.rows, most: result.most, kind: "stream table"}
}

// plainViews makes views that stream tables may read.
func (g *generator) plainViews() []*node {
	var statements []*node
	for n := range g.between(0, 2) {
		q := g.queries(g.random, nil)
		q.named = true
		result := q.query(0)
		name := fmt.Sprintf("plain%d", n+1)
		statements = append(statements, format("", "create view "+name+" as\n§", result.node).Tagged(plainTag+name))
		g.views = append(g.views, &relation{name: name, tag: plainTag + name, columns: result.columns, rows: result.rows, most: result.most, kind: "plain view"})
	}
	return statements
}
