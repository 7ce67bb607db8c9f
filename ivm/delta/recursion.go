package delta

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

const anewRule = "Δ μ(X) = μ(X) ⊎ −stored where X changed, both computed as a whole"

// The change of a query that reads itself. What is followed step by step is a matter of grows; all else is computed anew and compared with what is stored, if
// anything that it reads has changed.
func (c Calculus) recursion(n *algebra.Recursion) algebra.Node {
	changed, sources := &algebra.Union{}, c.props.Of(n).Sources
	for i, s := range sources {
		known := slices.ContainsFunc(sources[:i], func(o *algebra.Source) bool { return o.Table == s.Table })
		if changes := c.Of(s); changes != nil && !known {
			changed.From = append(changed.From, algebra.Branch{Input: changes})
		}
	}
	switch {
	case len(changed.From) == 0:
		return nil
	case n.Stored == nil:
		return &algebra.Semi{Left: algebra.Less(n, c.past(n)), Right: changed, AnySign: true}
	case c.Grows(n):
		return c.grown(n)
	}
	return &algebra.Semi{Left: algebra.Less(n, algebra.Reading(n.Stored, n.Cols)), Right: changed, AnySign: true}
}

// past is the recursion over its sources as they were.
func (c Calculus) past(n *algebra.Recursion) algebra.Node {
	return algebra.Rewrite(n, func(of algebra.Node) algebra.Node {
		s, ok := of.(*algebra.Source)
		if !ok || c.Of(s) == nil {
			return of
		}
		if earlier := algebra.Earlier(s); earlier != nil {
			return earlier
		}
		return &algebra.Bag{Input: algebra.Less(s, c.Of(s))}
	})
}

// mostTables is how many tables a step may join to the rows before: the changes of each are joined to the others as they are and as they were.
const mostTables = 3

// Grows reports whether changes of a recursion follow from changes of its seed and of the tables in its step: where the step joins tables, so that more rows of
// these make more of its own and none less. Of a bag, the tables must have keys; without All, equal rows must be the same.
func (c Calculus) Grows(n *algebra.Recursion) bool { return c.Anew(n) == "" }

// Anew says why a recursion does not grow; nothing if it does.
func (c Calculus) Anew(n *algebra.Recursion) (why string) {
	tables := 0
	algebra.Walk(n.Step.Input, func(at algebra.Node) {
		if source, ok := at.(*algebra.Source); ok && !n.Is(source) {
			tables++
		}
		if found := notGrowing(n, at); found != "" {
			why = "whose recursive term has " + found
		}
	})
	switch {
	case why != "":
	case !n.Linear():
		why = "whose recursive term makes rows of several"
	case tables > mostTables:
		why = "whose recursive term has more than three tables"
	case !n.All && slices.ContainsFunc(n.Cols, func(id algebra.ColID) bool { return !c.columns.Info(id).Hashed() }):
		why = "of whose values equal ones may differ"
	}
	return why
}

// notGrowing is what a part of a step is that more rows may make less of, or that does not tell which rows were inserted; nothing if it is neither.
func notGrowing(n *algebra.Recursion, at algebra.Node) string {
	switch at := at.(type) {
	case *algebra.Filter, *algebra.Project, *algebra.Join, *algebra.Each:
		return ""
	case *algebra.Source:
		switch {
		case n.Is(at):
			return ""
		case at.Table.Clock:
			return "the time"
		case at.Table.Counted:
			return "rows that are stored as often as they count"
		case n.All && len(keyOf(at)) == 0:
			return "a table without a primary key"
		}
		return ""
	case *algebra.Values:
		if algebra.IsOneRow(at) {
			return ""
		}
		return "constant rows"
	case *algebra.Aggregate, *algebra.Distinct:
		return "groups or DISTINCT"
	case *algebra.Window:
		return "window functions"
	case *algebra.Top:
		return "LIMIT or DISTINCT ON"
	case *algebra.Outer:
		return "an outer join"
	case *algebra.Semi:
		return "EXISTS or a test like it"
	}
	return "a set operation"
}

// keyOf are the columns of an occurrence that no two rows share; nil if there are none, or not all of them are read.
func keyOf(s *algebra.Source) (ids []algebra.ColID) {
	if s.Table.ReadsOthers() {
		return nil
	}
	for _, attr := range s.Table.Key {
		at := slices.IndexFunc(s.Cols, func(c algebra.SourceCol) bool { return c.Attr == attr })
		if at < 0 {
			return nil
		}
		ids = append(ids, s.Cols[at].ID)
	}
	return ids
}
