package ivm

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/resolve"
)

// State is a part of a view that is stored beside its rows: groups as accumulators, whose changes are added up (rule R4), where all of their rows would be read
// otherwise, as they are and as they were; or rows of a query that reads itself, which are compared with it.
type State struct {
	*Plan
	By       []string          // columns by which its rows are found, each by itself
	relation *catalog.Relation // what stands for the part in the view's tree
	of       *view             // the part as a view
	node     algebra.Node      // the part in the query's tree
}

// Name is the relation that a statement has the rows of the part in, as they become.
func (s *State) Name() string { return s.relation.Name }

// Grouped reports whether groups are stored.
func (s *State) Grouped() bool { return s.of.groups != nil }

// Lines writes how the part changes as lines of common table expressions, the last of them with a comma: what is found stored, the change, and the rows as
// they become and as they were, as far as the statement reads these.
func (s *State) Lines(t Tables, statement []string) []string {
	if !s.Grouped() {
		return emit.RowState(s.Name(), s.Apply.Statement, s.Columns, t, statement)
	}
	return emit.State(s.Name(), s.Apply.Statement, s.of.Root, s.Columns, t, statement)
}

// overStates is the view over relations for what is worth a state of its own, or the same view if nothing is.
func (v *view) overStates() *view {
	if v.Root == nil {
		return v
	}
	known := map[string]*State{} // by the SQL that computes them: a common table expression that is read twice is in the tree twice
	v = v.overRecursions(known)
	kept := map[algebra.Node]bool{}
	v.findStates(v.Root, false, func(n *algebra.Aggregate) { kept[n] = true })
	if len(kept) == 0 {
		return v
	}
	over := *v
	over.Root = algebra.Rewrite(v.Root, func(n algebra.Node) algebra.Node {
		if !kept[n] {
			return n
		}
		return over.kept(n, known)
	})
	over.choose()
	return &over
}

// overRecursions is the view over relations for the rows of queries that read themselves.
func (v *view) overRecursions(known map[string]*State) *view {
	if len(v.recursions()) == 0 {
		return v
	}
	over := *v
	over.Root = algebra.Rewrite(v.Root, func(n algebra.Node) algebra.Node {
		r, ok := n.(*algebra.Recursion)
		if !ok || len(v.props.Of(r).Sources) == 0 {
			return n
		}
		return over.kept(r, known)
	})
	over.choose()
	return &over
}

// kept is what stands for a part of the view that has a state.
func (v *view) kept(n algebra.Node, known map[string]*State) algebra.Node {
	state := v.stateOf(n, len(known)+1)
	sql := state.Recompute.Rows()
	if same := known[sql]; same != nil {
		state = same
	} else {
		known[sql] = state
		v.states = append(v.states, state)
	}
	return algebra.Reading(state.relation, n.Columns())
}

// wholly is a tree over what its states stand for.
func (v *view) wholly(n algebra.Node) algebra.Node {
	return algebra.Rewrite(n, func(n algebra.Node) algebra.Node {
		s, ok := n.(*algebra.Source)
		if !ok || v.state(s.Table) == nil {
			return n
		}
		again := &algebra.Project{Input: v.state(s.Table).node}
		for i, c := range s.Cols {
			again.Items = append(again.Items, algebra.Item{ID: c.ID, Expr: algebra.Ref(again.Input.Columns()[s.Cols[i].Attr])})
		}
		return again
	})
}

// state is that for which a table of the view's tree stands; nil if that is another table.
func (v *view) state(table *catalog.Relation) *State {
	for _, s := range v.states {
		if s.relation == table {
			return s
		}
	}
	return nil
}

// findStates reports the groups that are to have states: values over all rows, and groups of which all are read whenever something changes (whole). Groups of
// which the changed ones are read cost no more without.
func (v *view) findStates(n algebra.Node, whole bool, found func(*algebra.Aggregate)) {
	below := func(whole bool) {
		for _, in := range n.Inputs() {
			v.findStates(in, whole, found)
		}
	}
	switch n := n.(type) {
	case *algebra.Aggregate:
		global := len(n.Keys) == 0
		switch {
		case n == v.aggregate():
			below(false)
		case (whole || global && n.Global) && v.addsUp(n):
			found(n)
		default:
			below(whole || global)
		}
	case *algebra.Window:
		below(whole || len(n.Keys) == 0)
	case *algebra.Top:
		below(whole || len(n.Keys) == 0)
	case *algebra.Semi:
		v.findStates(n.Left, whole || v.comparesAll(n), found)
		v.findStates(n.Right, whole, found)
	default:
		below(whole)
	}
}

// addsUp reports whether groups can change, and accumulators of them follow whatever happens.
func (v *view) addsUp(n *algebra.Aggregate) bool {
	groups := apply.GroupsOf(n, nil, v.columns)
	return groups != nil && len(groups.Extremes()) == 0 && len(n.Aggs) > 0 && !v.picks(n) && v.rules.changes(n.Input) != nil
}

// comparesAll reports whether all rows of a semi-join are compared with a value that changes: those that are computed, which no index finds.
func (v *view) comparesAll(n *algebra.Semi) bool {
	return slices.ContainsFunc(algebra.BoundsOf(n, v.columns), func(b algebra.Bound) bool {
		id, ok := b.Of.Column()
		return !ok || len(v.props.Of(n.Left).Origins(id)) != 1
	})
}

// stateOf is the state of a part of the view.
func (v *view) stateOf(n algebra.Node, no int) *State {
	of, whole := newView(v.columns), newView(v.columns)
	of.Root = &algebra.Project{Input: n, Items: algebra.Same(n.Columns())}
	taken := map[string]bool{}
	for i, id := range n.Columns() {
		name := v.columns.Info(id).Name
		if taken[name] || name == "?column?" {
			name = fmt.Sprintf("c%d", i+1)
		}
		taken[name] = true
		of.Output = append(of.Output, resolve.Output{Name: name, ID: id})
	}
	of.choose()
	of.storage = of.stored()
	s := &State{of: of, relation: of.relation(fmt.Sprintf("state%d", no)), node: v.wholly(n)}
	if r, ok := n.(*algebra.Recursion); ok {
		compared := *r
		compared.Stored = s.relation.Before
		of.Root = &algebra.Project{Input: &compared, Items: algebra.Same(n.Columns())}
	}
	whole.Output, whole.Root = of.Output, &algebra.Project{Input: s.node, Items: algebra.Same(n.Columns())}
	whole.choose()
	whole.storage = of.storage
	s.Plan = &Plan{
		Output: of.outputs(), Columns: v.columns, view: of, Strategy: of.strategy, Storage: Storage{of.storage},
		Apply: of.written(of.statement()), Recompute: Recomputation{whole.recompute(), v.columns}, AddsUp: of.groups != nil && of.groups.Linear(),
	}
	return s
}

// relation stands for the view's groups, or rows, in the tree of another view.
func (v *view) relation(name string) *catalog.Relation {
	groups := &catalog.Relation{Name: name, Kind: catalog.Table, Key: []int{}}
	if v.groups == nil {
		groups.Key, groups.Counted = nil, true
	}
	for i, o := range v.outputs() {
		groups.Columns = append(groups.Columns, catalog.Column{Name: o.Name, Type: o.Type, NotNull: o.NeverNull, Varied: o.Varied, Equality: o.Equality})
		if v.groups != nil && i < len(v.groups.Keys) {
			groups.Key = append(groups.Key, i)
		}
	}
	if len(groups.Key) > 0 {
		groups.Indexed = [][]int{groups.Key}
	}
	if groups.Counted {
		groups.Columns = append(groups.Columns, catalog.Column{Name: apply.Hash, Type: "bigint", NotNull: true, Equality: catalog.HashedEquality})
	}
	if slices.ContainsFunc(groups.Key, func(i int) bool { return !groups.Columns[i].NotNull }) {
		groups.Key = nil
	}
	before := *groups
	before.Name += "_before"
	groups.Before = &before
	return groups
}
