package ivm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Plan says all of how a view is stored and followed.
type Plan struct {
	Output  []Output
	Sources []*catalog.Relation // the tables that the query reads, views expanded, each once
	Views   []*catalog.Relation // the views that were expanded, each once
	Full    []resolve.Reason    // why the query can only be recomputed
	Open    *diag.Pos           // of a star that stands for columns which only the server knows; nil if all are known
	Reads   int                 // how many occurrences of tables are followed

	Strategy  Strategy
	Storage   Storage          // the state: how rows are stored
	Apply     Statement        // finds how stored rows change after changes of all kinds; the last relation is delta, or found for groups that are merged
	States    []*State         // what is stored beside the rows
	Anew      []resolve.Reason // those of them that are computed as a whole when something that they read changes
	Raw       bool             // Apply may read log rows as they are, several alike and some that cancel each other, once
	AddsUp    bool             // groups add them up like that
	Recompute Recomputation
	Immediate Immediate // empty for a view that is recomputed
	Costs     []Cost    // of each source, in their order
	Needs     []Need    // what the SQL takes for granted of each table that is followed

	Groups    bool      // rows are grouped or partitioned anywhere in the view
	Decides   bool      // it has first rows of something, or aggregates that take rows in an order, and says which these are where the query leaves it open
	PicksKeys bool      // groups may show keys that are equal and not the same, or windows order rows that are alike, where the query itself may pick others
	Moves     *diag.Pos // of what reads the moment of the refresh, by which rows come and go as well; nil if nothing does
	OwnNames  bool      // nothing that it computes depends on the search path

	Columns *algebra.Columns
	view    *view // whose trees and groups the methods write
	chosen  map[*algebra.Source][]algebra.Scalar
}

// Output is a column of a view.
type Output struct {
	resolve.Output
	Type      string // as SQL; empty where only the server knows
	Varied    bool   // values that are equal may differ
	Equality  catalog.Equality
	NeverNull bool // it holds no null, whatever becomes of the tables: the view is not kept up to date then
}

// Followed reports whether changes of tables are followed, and not the whole query recomputed.
func (p *Plan) Followed() bool { return p.view.Root != nil }

// HidesCalls reports whether the query calls a function that is written like a column.
func (p *Plan) HidesCalls() bool { return p.view.hidesCalls() }

// Whole reports whether the view has columns that only the server knows, so that rows are stored as one value each.
func (p *Plan) Whole() bool { return p.Open != nil }

// plan completes a view.
func (v *view) plan(query string, known *catalog.Catalog) *Plan {
	v.delta() // first, so that its columns are numbered like the query's
	over := v
	if v.keeps {
		over = v.overStates()
		over.index()
	}
	p := &Plan{
		Output: v.outputs(), Sources: v.Sources, Views: v.Views, Full: v.Full, Open: v.Open, Reads: len(v.sources()), Columns: v.columns, view: over,
		Strategy: v.strategy, Storage: Storage{v.storage}, States: over.states, Anew: v.anew(), Apply: v.written(over.statement()), Recompute: Recomputation{v.recompute(), v.columns},
		AddsUp: v.groups != nil && v.groups.Linear(), Costs: over.costs(), Needs: v.needs(), OwnNames: v.ownNames(query, known),
	}
	p.Raw = p.AddsUp || v.strategy == MergeRows && apply.Linear(v.Root) && v.safe()
	p.choose()
	orders := false
	p.Groups, p.PicksKeys, orders = v.groupsRows()
	p.Decides = orders || v.Root != nil && holdsFirsts(v.Root)
	if v.movesWithTime() {
		p.Moves = v.Moment
	}
	if v.Root != nil {
		p.Immediate = v.immediate(over)
	}
	return p
}

// groupsRows reports whether the view groups rows anywhere, whether any groups pick their keys, or windows an order, and whether aggregates have a longer one.
func (v *view) groupsRows() (found, pick, orders bool) {
	if v.Root != nil {
		algebra.Walk(v.Root, func(n algebra.Node) {
			switch n := n.(type) {
			case *algebra.Aggregate:
				found, pick = true, pick || v.picks(n)
				orders = orders || slices.ContainsFunc(n.Aggs, func(a algebra.Agg) bool { return a.Ordered })
			case *algebra.Recursion: // without All, one of rows that are equal is there
				pick = pick || !n.All && slices.ContainsFunc(n.Cols, func(id algebra.ColID) bool { return v.columns.Info(id).Varied })
			case *algebra.Window:
				found, pick = true, pick || slices.ContainsFunc(n.Calls, func(c algebra.WindowCall) bool { return c.Ordered })
			}
		})
	}
	return found, pick, orders
}

// safe reports whether the view shows columns as they are, and its conditions cannot fail.
func (v *view) safe() bool {
	safe := true
	algebra.Walk(v.Root, func(n algebra.Node) {
		switch n := n.(type) {
		case *algebra.Project:
			for _, item := range n.Items {
				_, plain := item.Expr.Expr.Column()
				safe = safe && plain
			}
		case *algebra.Filter:
			for _, cond := range n.Conds {
				safe = safe && v.comparesPlain(cond)
			}
		}
	})
	return safe
}

// Shown are the view's columns as expressions over stored row alias, and the conditions under which a stored row is in the view.
func (p *Plan) Shown(alias string) (list, conds []string) {
	list, conds = p.shown(alias)
	return list[:len(p.Storage.Visible)], conds
}

// shown is Shown with the columns that only the limit reads.
func (p *Plan) shown(alias string) (list, conds []string) {
	g := p.view.groups
	if g == nil {
		return emit.Plainly(slices.Concat(p.Storage.Visible, p.view.hiddenNames()), alias), nil
	}
	state := &algebra.Values{}
	for _, name := range g.Columns() {
		state.Cols = append(state.Cols, p.Columns.New(algebra.Info{Name: name}))
	}
	return emit.Shown(p.view.Root, g, p.Columns, state, alias)
}

// LimitBy is the ORDER BY, LIMIT and OFFSET of the view that people see, over row alias of all that are stored; empty if those are the rows that people see.
func (p *Plan) LimitBy(alias string) string {
	l := p.view.limit
	if l == nil {
		return ""
	}
	exprs, _ := p.shown(alias)
	var order []string
	for i, at := range l.sorted {
		item := l.top.Order[i]
		item.Expr = sqltext.Expr{}
		by := exprs[at]
		if at < len(p.Storage.Visible) { // a column of the select list by its place: what computes it may be long
			by = strconv.Itoa(at + 1)
		}
		order = append(order, item.Over(by))
	}
	text := emit.Limit(l.top)
	if len(order) > 0 {
		text = " order by " + strings.Join(order, ", ") + text
	}
	return text
}

// LostIf is the condition that group merged, as it is stored after change d, may have lost an extreme; empty if the view has none.
func (p *Plan) LostIf(merged, d string) string { return emit.LostIf(p.view.groups, merged, d) }

// ChangedIf is the condition that delta d changes its group; empty if each does.
func (p *Plan) ChangedIf(d string) string { return emit.ChangedIf(p.view.groups, d) }

// Emptied is the condition that nothing is left of group m.
func (p *Plan) Emptied(m string) string { return emit.Emptied(p.view.groups, m) }

// Accumulate sets the stored columns of group row to what they are with those of row added.
func (p *Plan) Accumulate(row, added string) []string {
	return emit.Accumulate(p.view.groups, row, added)
}

// Draw writes a tree over the columns of a compilation: algebra.Format or algebra.Mermaid.
type Draw func(algebra.Node, *algebra.Columns) string

// Tree draws the view's tree; nothing if the view can only be recomputed.
func (p *Plan) Tree(draw Draw) string { return p.draw(p.view.shownTree(), draw) }

// DeltaTree draws how the view, or the input of its groups, changes, as the delta rules have it.
func (p *Plan) DeltaTree(draw Draw) string { return p.draw(p.view.delta(), draw) }

// SimplifiedTree is DeltaTree after simplification.
func (p *Plan) SimplifiedTree(draw Draw) string {
	return p.draw(p.view.simplified(p.view.delta()), draw)
}

// Rule describes how an operator of the view's tree is followed.
func (p *Plan) Rule(n algebra.Node) string { return p.view.rule(n) }

func (p *Plan) draw(n algebra.Node, draw Draw) string {
	if n == nil {
		return ""
	}
	return draw(n, p.Columns)
}
