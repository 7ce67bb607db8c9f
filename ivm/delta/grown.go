package delta

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

const (
	allRule = "Δ μ(X) = C ⊎ −G, G being what followed from what has gone, by steps over the rows that stayed, and C what follows from what has come"
	setRule = "Δ μ(X) = C ⊎ −G, G being all that followed from what has gone, and C what of it follows from the other rows, and all that follows from what has come"
)

// growth is how a recursion changes whose step joins the rows before to tables: it is linear in each of these.
type growth struct {
	Calculus
	n       *algebra.Recursion
	tables  []*algebra.Source // of the step
	changed []int             // of those
}

// grown is the change of a recursion that grows with its tables.
func (c Calculus) grown(n *algebra.Recursion) algebra.Node {
	g := growth{Calculus: c, n: n}
	algebra.Walk(n.Step.Input, func(at algebra.Node) {
		if s, ok := at.(*algebra.Source); ok && !n.Is(s) {
			if c.Of(s) != nil {
				g.changed = append(g.changed, len(g.tables))
			}
			g.tables = append(g.tables, s)
		}
	})
	if n.All {
		return g.bag()
	}
	return g.set()
}

// bag is the change of a recursion that has each row as often as paths lead to it. A removed path is found from its last removed row, and goes on over the rows
// that tables had before and have now; an inserted one from its first inserted row, after rows that stayed, and goes on over the tables as they are. All are paths
// of the old or the new query, so they end where these do.
func (g growth) bag() algebra.Node {
	gone := g.recursion(&algebra.Consolidate{Input: g.sum(g.seeds(algebra.Gone), g.steps(g.stored, algebra.Gone, g.stayed, g.past)), Only: algebra.Come}, g.proper)
	kept := algebra.Keep(gone)
	of := func(cols []algebra.SourceCol) algebra.Node { return reads(kept, cols) }
	less := g.steps(of, algebra.Come, g.now, g.stayed)
	for i := range less {
		less[i].Input = &algebra.Negate{Input: less[i].Input}
	}
	start := g.sum(g.seeds(algebra.Come), g.steps(g.stored, algebra.Come, g.now, g.stayed), less)
	come := g.recursion(&algebra.Consolidate{Input: start, Only: algebra.Come}, g.now)
	return g.result(come, kept)
}

// set is the change of a recursion that has each row once (DRed: delete and rederive). All stored rows that follow from a removed row are deleted, which are found
// from the last removed row of a step, after those that its tables have or had, and before those that they have; those of them that the rows that stay lead to are inserted again, with what follows from inserted rows.
func (g growth) set() algebra.Node {
	start := algebra.Keep(g.sum(g.seeds(algebra.Gone), g.steps(g.stored, algebra.Gone, g.either, g.now)))
	gone := algebra.Keep(g.gone(start))
	again := g.restricted(g.n.Seed, gone)
	again = append(again, g.restricted(g.step(g.staying(gone), nil), gone)...)
	start = algebra.Keep(g.sum(again, g.seeds(algebra.Come), g.steps(g.staying(gone), algebra.Come, g.now, g.now)))
	other := func(step algebra.Branch) algebra.Branch {
		return algebra.Branch{Input: g.outside(step, g.staying(gone)), Cols: step.Cols}
	}
	come := g.recursionOf(other(branch(start)).Input, other)
	return g.result(come, gone)
}

// branch is a node with its columns.
func branch(n algebra.Node) algebra.Branch { return algebra.Branch{Input: n, Cols: n.Columns()} }

// result are the rows of one relation less those of another one.
func (g growth) result(come, gone algebra.Node) algebra.Node {
	less := algebra.Branch{Input: &algebra.Negate{Input: gone}, Cols: gone.Columns()[:len(g.n.Cols)]}
	return &algebra.Union{Cols: g.n.Cols, From: []algebra.Branch{branch(come), less}}
}

// sum adds up branches, under columns of its own.
func (g growth) sum(terms ...[]algebra.Branch) algebra.Node {
	return &algebra.Union{Cols: g.fresh(), From: slices.Concat(terms...)}
}

func (g growth) fresh() []algebra.ColID {
	cols := make([]algebra.ColID, len(g.n.Cols))
	for i, id := range g.n.Cols {
		cols[i] = g.columns.New(g.columns.Info(id))
	}
	return cols
}

// seeds are the first rows that come or go.
func (g growth) seeds(only algebra.Sign) []algebra.Branch {
	changes := g.Of(g.n.Seed.Input)
	if changes == nil {
		return nil
	}
	return []algebra.Branch{{Input: &algebra.Consolidate{Input: changes, Only: only}, Cols: g.n.Seed.Cols}}
}

// relation makes the rows of the recursion that an occurrence of it with given columns stands for.
type relation func(cols []algebra.SourceCol) algebra.Node

func (g growth) stored(cols []algebra.SourceCol) algebra.Node {
	return &algebra.Source{Table: g.n.Stored, Cols: cols}
}

// reads are the rows of a node as an occurrence of the recursion.
func reads(n algebra.Node, cols []algebra.SourceCol) algebra.Node {
	p := &algebra.Project{Input: n}
	for _, c := range cols {
		p.Items = append(p.Items, algebra.Item{ID: c.ID, Expr: algebra.Ref(n.Columns()[c.Attr])})
	}
	return p
}

// A state of a table in the step.
func (g growth) now(s *algebra.Source) algebra.Node    { return s }
func (g growth) past(s *algebra.Source) algebra.Node   { return algebra.Before(s, g.Of(s)) }
func (g growth) stayed(s *algebra.Source) algebra.Node { return g.less(s, g.only(s, algebra.Come)) }
func (g growth) either(s *algebra.Source) algebra.Node {
	return sum(s.Columns(), []algebra.Node{s, g.only(s, algebra.Gone)})
}

func (g growth) only(s *algebra.Source, sign algebra.Sign) algebra.Node {
	if changes := g.Of(s); changes != nil {
		return &algebra.Consolidate{Input: changes, Only: sign}
	}
	return nil
}

func (g growth) less(s *algebra.Source, m algebra.Node) algebra.Node {
	if m == nil {
		return s
	}
	return algebra.Less(s, m)
}

// proper is stayed as rows that are there, which a key tells from those that have come.
func (g growth) proper(s *algebra.Source) algebra.Node {
	come := g.only(s, algebra.Come)
	if come == nil {
		return s
	}
	p, semi := &algebra.Project{Input: come}, &algebra.Semi{Left: s, Anti: true, AnySign: true}
	for _, id := range keyOf(s) {
		key := g.columns.New(g.columns.Info(id))
		p.Items = append(p.Items, algebra.Item{ID: key, Expr: algebra.Ref(id)})
		semi.On = append(semi.On, equal(algebra.Ref(id), algebra.Ref(key)))
	}
	semi.Right = &algebra.Kept{Input: p} // a relation of its own, as both have the same columns
	return semi
}

// step is what the step makes of rows, or of those that were made last, and of tables.
func (g growth) step(rows relation, table func(i int, s *algebra.Source) algebra.Node) algebra.Branch {
	made := algebra.Rewrite(g.n.Step.Input, func(at algebra.Node) algebra.Node {
		s, ok := at.(*algebra.Source)
		switch {
		case !ok:
			return at
		case !g.n.Is(s) && table == nil:
			return at
		case !g.n.Is(s):
			return table(slices.Index(g.tables, s), s)
		case rows == nil:
			return at
		}
		return rows(s.Cols)
	})
	return algebra.Branch{Input: made, Cols: g.n.Step.Cols}
}

// steps are what the step makes of rows and of what comes or goes of one table after the other: of those before it in one state, and those behind it in another.
func (g growth) steps(rows relation, only algebra.Sign, before, behind func(*algebra.Source) algebra.Node) (all []algebra.Branch) {
	for _, i := range g.changed {
		all = append(all, g.step(rows, func(j int, s *algebra.Source) algebra.Node {
			switch {
			case g.Of(s) == nil:
				return s
			case j < i:
				return before(s)
			case j > i:
				return behind(s)
			}
			return g.only(s, only)
		}))
	}
	return all
}

// recursion is what follows from first rows by steps over tables in some state.
func (g growth) recursion(start algebra.Node, table func(*algebra.Source) algebra.Node) *algebra.Recursion {
	n := g.recursionOf(start, func(algebra.Branch) algebra.Branch {
		return g.step(nil, func(_ int, s *algebra.Source) algebra.Node { return table(s) })
	})
	return n
}

// recursionOf is what follows from first rows, which changes lead to, by steps.
func (g growth) recursionOf(start algebra.Node, step func(algebra.Branch) algebra.Branch) *algebra.Recursion {
	return &algebra.Recursion{Cols: g.n.Cols, Seed: branch(start), Step: step(g.n.Step), Self: g.n.Self, All: g.n.All, Few: true}
}
