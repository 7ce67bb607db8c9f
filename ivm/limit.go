package ivm

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/resolve"
)

// Options say how a view is kept up to date, and what becomes of LIMIT and OFFSET.
type Options struct {
	// States: groups within the query may be stored beside its rows. Only refreshes keep them.
	States bool
	// All rows are stored where a LIMIT stands at the end of a query, and the view that people see has it: only what changes is computed. Otherwise the rows
	// within it are stored, so that others can read how they change; they are found again whenever something changes.
	All bool
	// Cheap has a query recomputed that costs no less otherwise: one whose first rows are found again, and one of the rows of a table, of which All would make
	// a copy where an index on the order finds the first ones.
	Cheap bool
}

// limit is the LIMIT of the view that people see over all rows that are stored.
type limit struct {
	top    *algebra.Top // over the columns of the view's tree, and without it
	sorted []int        // the places of what is sorted by among the columns of the view's tree
	hidden []hidden     // the last of these columns, which people do not see
}

type hidden struct {
	name string
	id   algebra.ColID
}

// unlimit takes the LIMIT at the end of the query away, if all rows are to be stored.
func (v *view) unlimit(options Options) {
	if v.Root == nil {
		return
	}
	top, items := outermost(v.Root)
	if options.All && top != nil && len(top.Keys) == 0 && !(options.Cheap && apply.Linear(top.Input)) {
		v.peel(top, items)
	}
	if options.Cheap && limitWithin(v.Root) {
		v.Full = append(v.Full, resolve.Reason{Pos: v.Limit, What: "LIMIT or OFFSET, whose rows are found again after each change"})
		v.Root = nil
	}
}

// outermost is the LIMIT at the end of a query, and the columns that are shown of its rows; nil if there is none.
func outermost(root algebra.Node) (*algebra.Top, []algebra.Item) {
	switch n := root.(type) {
	case *algebra.Top:
		return n, algebra.Same(n.Columns())
	case *algebra.Project:
		top, _ := n.Input.(*algebra.Top)
		return top, n.Items
	}
	return nil, nil
}

// peel has the view's tree make the rows without the limit, with columns for what they are sorted by.
func (v *view) peel(top *algebra.Top, shown []algebra.Item) {
	p := &algebra.Project{Input: top.Input, Items: slices.Clone(shown)}
	l := &limit{top: top}
	for _, id := range top.Sorted() {
		at := slices.IndexFunc(p.Items, func(i algebra.Item) bool { shows, _ := i.Expr.Column(); return shows == id })
		if at < 0 {
			at = len(p.Items)
			p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(id)})
			l.hidden = append(l.hidden, hidden{fmt.Sprintf("__order%d", len(l.hidden)+1), id})
		}
		l.sorted = append(l.sorted, at)
	}
	v.limit, v.Root = l, p
	defer l.over(v)
	if below, ok := top.Input.(*algebra.Project); ok { // one of both
		merged := &algebra.Project{Input: below.Input}
		for _, item := range p.Items {
			merged.Items = append(merged.Items, algebra.Item{ID: item.ID, Expr: below.Computes(item.Expr)})
		}
		v.Root = merged
	}
}

// over has the limit read the columns of the view's tree.
func (l *limit) over(v *view) {
	top := &algebra.Top{Count: l.top.Count, Offset: l.top.Offset, Ties: l.top.Ties}
	for i, item := range l.top.Order {
		item.Expr = algebra.Ref(v.Root.Columns()[l.sorted[i]]).Expr
		top.Order = append(top.Order, item)
	}
	l.top = top
}

// limitWithin reports whether a change of any row may change which rows are the first ones of all.
func limitWithin(root algebra.Node) bool {
	return holds(root, func(n algebra.Node) bool { top, ok := n.(*algebra.Top); return ok && len(top.Keys) == 0 })
}

// holdsFirsts reports whether there are first rows of anything in a tree.
func holdsFirsts(root algebra.Node) bool {
	return holds(root, func(n algebra.Node) bool { _, ok := n.(*algebra.Top); return ok })
}

func holds(root algebra.Node, is func(algebra.Node) bool) (found bool) {
	algebra.Walk(root, func(n algebra.Node) { found = found || is(n) })
	return found
}

// hiddenNames are those of stored columns that only the limit reads.
func (v *view) hiddenNames() []string {
	var names []string
	if v.limit != nil {
		for _, h := range v.limit.hidden {
			names = append(names, h.name)
		}
	}
	return names
}

// shownTree is the view's tree with its limit.
func (v *view) shownTree() algebra.Node {
	if v.limit == nil || v.Root == nil {
		return v.Root
	}
	return v.limit.top.With([]algebra.Node{v.Root})
}
