package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// CostClass says how the work of a refresh grows.
type CostClass int

// The classes, the cheapest first.
const (
	// CostRow is work for the changed rows alone.
	CostRow CostClass = iota
	// CostMatches is work for the rows of other tables that they match, too.
	CostMatches
	// CostGroups is work for all rows of the groups that they fall into, too.
	CostGroups
	// CostWhole is work for all rows of a table.
	CostWhole
)

// String returns the class in words.
func (c CostClass) String() string {
	return [...]string{"changed rows", "matches", "affected groups", "whole table"}[c]
}

// Cost is what a changed row of a table makes PostgreSQL do.
type Cost struct {
	Table *catalog.Relation
	Class CostClass
	Reads []Read // besides the changed row
}

// Read is a table that is read for each changed row.
type Read struct {
	Table   *catalog.Relation
	Columns []string // by which its rows are found; none: all of it is read
	Unique  bool     // the columns include a key: there is one row at most
	Indexed bool     // an index begins with one of the columns
	Group   bool     // for a group that the changed row falls into
	When    Occasion // it is read at all
}

// Occasion describes when something is read.
type Occasion string

// The occasions.
const (
	Always          Occasion = ""
	WhenExtremeGoes Occasion = "when the group loses its least or greatest value"
	Never           Occasion = "never"
)

// costs are those of each source of the view, in the order of Sources.
func (v *view) costs() []Cost {
	costs := make([]Cost, len(v.Sources))
	for i, table := range v.Sources {
		costs[i] = Cost{Table: table}
		if v.Root == nil {
			costs[i].Class = CostWhole
			for _, other := range v.Sources {
				costs[i].Reads = append(costs[i].Reads, Read{Table: other})
			}
		}
	}
	if v.Root != nil {
		of := func(s *algebra.Source) *Cost { return &costs[slices.Index(v.Sources, s.Table)] }
		var within func(at *view, further func(*Cost)) // a view or a state in it, and what reads that
		within = func(at *view, further func(*Cost)) {
			visit(at.Root, nil, func(s *algebra.Source, above []algebra.Node) {
				climb := func(c *Cost) {
					at.climb(c, s, above)
					further(c)
				}
				if state := v.state(s.Table); state != nil {
					within(state.of, climb)
				} else {
					climb(of(s))
				}
			})
		}
		within(v, func(*Cost) {})
	}
	return costs
}

// visit finds the sources, with the nodes above each, the root first.
func visit(n algebra.Node, above []algebra.Node, found func(*algebra.Source, []algebra.Node)) {
	if s, ok := n.(*algebra.Source); ok && !s.Table.Clock && !s.Table.Recursive {
		found(s, above)
	}
	for _, in := range n.Inputs() {
		visit(in, append(slices.Clip(above), n), found)
	}
}

// climb follows a changed row of a source up to the root.
func (v *view) climb(c *Cost, s *algebra.Source, above []algebra.Node) {
	var from algebra.Node = s
	for i, n := range above { // what is computed anew reads all, whatever has changed in it
		if r, ok := n.(*algebra.Recursion); ok && !v.rules.rules.Grows(r) {
			lookup{cost: c}.enter(r, nil)
			c.add(Read{Table: r.Stored})
			from, above = r, above[:i]
			break
		}
	}
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *algebra.Join:
			l := lookup{cost: c, conds: conditionsAbove(above[:i+1])}
			other := n.Right
			if from == n.Right {
				other = n.Left
			}
			l.enter(other, l.linked(other, from.Columns()))
		case *algebra.Outer: // also how rows without a partner are found: by who else matches them
			l := lookup{cost: c, conds: n.On}
			l.enter(n.Right, l.linked(n.Right, n.Left.Columns()))
			if from == n.Right || n.Full {
				l.enter(n.Left, l.linked(n.Left, n.Right.Columns()))
			}
		case *algebra.Semi:
			l := lookup{cost: c, conds: n.On}
			if from == n.Right {
				by := l.linked(n.Left, from.Columns())
				for _, b := range algebra.BoundsOf(n, v.columns) { // an index finds the rows between two values of the column's type, too
					alike := sqltext.Unsized(v.columns.TypeOf(b.Of)) == sqltext.Unsized(v.columns.TypeOf(b.Value))
					if id, ok := b.Of.Column(); ok && alike {
						by = append(by, id)
					}
				}
				l.enter(n.Left, by)
			}
			l.semi(n)
		case *algebra.Top:
			lookup{cost: c, group: true}.enter(n.Input, n.Keys)
		case *algebra.Aggregate:
			l := lookup{cost: c, group: true, when: v.rereads(n)}
			if l.when != Never {
				l.enter(n.Input, renamed(n.Keys, keyIDs(n)))
			}
		case *algebra.Recursion:
			growing(c, n)
		case *algebra.Window:
			lookup{cost: c, group: true}.enter(n.Input, n.KeyColumns())
		}
		from = above[i]
	}
}

// rereads describes when the rows of a changed group are read.
func (v *view) rereads(n *algebra.Aggregate) Occasion {
	switch {
	case v.groups == nil || v.groups.Node != n:
		return Always
	case len(v.groups.Extremes()) > 0:
		return WhenExtremeGoes
	}
	return Never // the accumulators can follow whatever happens
}

func keyIDs(n *algebra.Aggregate) []algebra.ColID {
	ids := make([]algebra.ColID, len(n.Keys))
	for i, k := range n.Keys {
		ids[i] = k.ID
	}
	return ids
}

// conditionsAbove are those of the last node, a join, and of the filters and joins right above it, which have the same columns.
func conditionsAbove(nodes []algebra.Node) []algebra.Scalar {
	var conds []algebra.Scalar
	for i := len(nodes) - 1; i >= 0; i-- {
		switch n := nodes[i].(type) {
		case *algebra.Join:
			conds = append(conds, n.On...)
		case *algebra.Filter:
			conds = append(conds, n.Conds...)
		default:
			return conds
		}
	}
	return conds
}

// Index is one that a refresh wants.
type Index struct {
	Table   *catalog.Relation
	Columns []string
}

// Wanted are the indexes that reads would go through and the DDL lacks. The database may have them.
func Wanted(costs []Cost) []Index {
	var wanted []Index
	for _, c := range costs {
		for _, r := range c.Reads {
			same := func(i Index) bool { return i.Table == r.Table && slices.Equal(i.Columns, r.Columns) }
			if r.WantsIndex() && !slices.ContainsFunc(wanted, same) {
				wanted = append(wanted, Index{r.Table, r.Columns})
			}
		}
	}
	return wanted
}

// WantsIndex reports whether rows of a table are found by columns with which no index begins. States have those that are worth it.
func (r Read) WantsIndex() bool {
	return len(r.Columns) > 0 && !r.Indexed && r.Table.Before == nil && !r.Table.Recursive
}
