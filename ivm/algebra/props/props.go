// Package props derives what holds of the rows that a node makes, whatever its tables hold: output columns, columns that are never null, the
// columns of tables that they come from, equalities, keys, and outer columns.
//
// Facts are computed once for each node and asked everywhere. Each is a promise: what is not known to hold is left out.
//
// Files call downwards: props, keys, facts.
package props

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Props knows the facts of the nodes of one compilation. Nodes are immutable, so facts stay.
type Props struct {
	columns *algebra.Columns
	known   map[algebra.Node]*Facts
}

// New returns Props of nodes over these columns.
func New(columns *algebra.Columns) *Props {
	return &Props{columns: columns, known: map[algebra.Node]*Facts{}}
}

// Of returns the facts of a node.
func (p *Props) Of(n algebra.Node) *Facts {
	f := p.known[n]
	if f == nil {
		f = p.derive(n)
		p.known[n] = f
	}
	return f
}

// derive computes the facts of a node from those of its inputs.
func (p *Props) derive(n algebra.Node) *Facts {
	f := &Facts{Columns: n.Columns(), notNull: set{}, origins: map[algebra.ColID]set{}}
	made := set{}
	for _, in := range n.Inputs() {
		below := p.Of(in)
		f.Outer = appendNew(f.Outer, below.Outer)
		f.Sources = appendNew(f.Sources, below.Sources)
		if semi, ok := n.(*algebra.Semi); !ok || in == semi.Left {
			f.rows = appendNew(f.rows, below.rows)
		}
		made.add(below.Columns)
	}
	if each, ok := n.(*algebra.Each); ok {
		made.add(each.Cols)
	}
	f.Outer = appendNew(f.Outer, slices.DeleteFunc(algebra.Reads(n), func(id algebra.ColID) bool { return made[id] }))
	switch n := n.(type) {
	case *algebra.Source:
		p.source(f, n)
	case *algebra.Changes:
		f.notNull, f.origins = p.Of(n.Of).notNull, p.Of(n.Of).origins
	case *algebra.Values:
	case *algebra.Project:
		f.pass(p.Of(n.Input), n.Items)
		f.equal, f.paired = p.Of(n.Input).equal, p.Of(n.Input).paired
	case *algebra.Aggregate:
		f.pass(p.Of(n.Input), n.Keys)
		f.count(n.Aggs)
	case *algebra.Recursion: // nothing holds of its rows that is known
		f.Sources = slices.DeleteFunc(f.Sources, func(s *algebra.Source) bool { return n.Is(s) })
	case *algebra.Window:
		f.keep(p.Of(n.Input))
		f.number(n.Calls)
	case *algebra.Union:
		p.union(f, n)
	case *algebra.Join:
		f.keep(p.Of(n.Left), p.Of(n.Right))
		p.restrict(f, n.On)
	case *algebra.Outer:
		f.keep(p.Of(n.Left), p.Of(n.Right))
		p.restrict(f, n.On) // a row of the left side determines its partner, or that there is none
		for _, id := range n.Padded() {
			f.notNull[id] = false
		}
		f.paired = f.paired && !n.Full
	case *algebra.Semi:
		f.keep(p.Of(n.Left))
	case *algebra.Top:
		f.keep(p.Of(n.Input))
	case *algebra.Each:
		f.keep(p.Of(n.Input))
		f.paired = false
	case *algebra.Filter:
		f.keep(p.Of(n.Input))
		p.restrict(f, n.Conds)
	default: // its rows are rows of its input
		f.keep(p.Of(n.Inputs()[0]))
		f.equal, f.paired = nil, false
	}
	return f
}

// source: what a table declares holds of each occurrence of it.
func (p *Props) source(f *Facts, n *algebra.Source) {
	f.Sources, f.rows = []*algebra.Source{n}, []*algebra.Source{n}
	for _, c := range n.Cols {
		f.origins[c.ID] = set{c.ID: true}
		f.notNull[c.ID] = n.Table.Columns[c.Attr].NotNull
	}
	f.paired = n.Table.Key != nil && !n.Table.ReadsOthers()
}

// pass has columns that items pass on as they are keep what is known of them.
func (f *Facts) pass(below *Facts, items []algebra.Item) {
	for _, item := range items {
		if id, ok := item.Expr.Column(); ok {
			f.notNull[item.ID] = below.notNull[id]
			f.origins[item.ID] = below.origins[id]
		}
	}
}

// count: of the aggregates, only count() is never null.
func (f *Facts) count(aggs []algebra.Agg) {
	for _, a := range aggs {
		if call, ok := a.Call.Expr.Call(); ok && call.Name == "count" && (call.Schema == "" || call.Schema == "pg_catalog") {
			f.notNull[a.ID] = true
		}
	}
}

// number: functions that count rows or number them are never null.
func (f *Facts) number(calls []algebra.WindowCall) {
	for _, c := range calls {
		call, ok := c.Call.Expr.Call()
		own := ok && (call.Schema == "" || call.Schema == "pg_catalog")
		f.notNull[c.ID] = own && slices.Contains([]string{"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "count"}, call.Name)
	}
}

// union: a column is what it is in all branches.
func (p *Props) union(f *Facts, n *algebra.Union) {
	for i, id := range n.Cols {
		f.notNull[id], f.origins[id] = true, set{}
		for _, b := range n.From {
			below := p.Of(b.Input)
			f.notNull[id] = f.notNull[id] && below.notNull[b.Cols[i]]
			f.origins[id].add(below.origins[b.Cols[i]].sorted())
		}
	}
}

// keep takes over all that holds of the rows of which a row is made.
func (f *Facts) keep(inputs ...*Facts) {
	f.paired = true
	for _, in := range inputs {
		for _, id := range in.Columns {
			f.notNull[id], f.origins[id] = in.notNull[id], in.origins[id]
		}
		f.equal, f.paired = append(f.equal, in.equal...), f.paired && in.paired
	}
}

// restrict: conditions are true of each row, which makes columns of tables equal.
func (p *Props) restrict(f *Facts, conds []algebra.Scalar) {
	for _, e := range Equalities(conds) {
		left, isLeft := e.Left.Column()
		right, isRight := e.Right.Column()
		if !isLeft || !isRight {
			continue
		}
		l, r := f.Origins(left), f.Origins(right)
		// Equality carries over only between columns of one type: several numerics may equal one float.
		if len(l) == 1 && len(r) == 1 && p.columns.Info(l[0]).Type == p.columns.Info(r[0]).Type {
			f.equal = append(f.equal, [2]algebra.ColID{l[0], r[0]})
		}
	}
}
