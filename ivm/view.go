package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/delta"
	"github.com/pgsluice/sluice/ivm/resolve"
)

// view is a query on its way to a plan.
type view struct {
	resolve.Result
	columns  *algebra.Columns
	props    *props.Props
	strategy Strategy
	groups   *apply.Groups // where accumulators of groups are stored
	storage  apply.Storage
	rules    calculus
	limit    *limit            // of the rows that people see; nil: they see all that are stored
	keeps    bool              // it may have states
	states   []*State          // that its tree reads
	only     *catalog.Relation // the one table that changes; nil: any may
}

func newView(columns *algebra.Columns) *view {
	known := props.New(columns)
	return &view{columns: columns, props: known, rules: calculus{delta.New(columns, known, nil)}}
}

// onlyChanging is the view where nothing but one table changes.
func (v *view) onlyChanging(table *catalog.Relation) *view {
	narrowed := *v
	narrowed.only = table
	narrowed.rules = calculus{delta.New(v.columns, v.props, func(s *algebra.Source) bool { return s.Table == table })}
	return &narrowed
}

// names are those of the output.
func (v *view) names() []string {
	names := make([]string, len(v.Output))
	for i, o := range v.Output {
		names[i] = o.Name
	}
	return names
}

// sources are the occurrences of tables in the view.
func (v *view) sources() []*algebra.Source {
	if v.Root == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.props.Of(v.Root).Sources), func(s *algebra.Source) bool { return s.Table.Clock })
}

// movesWithTime reports whether the rows of the view follow from the moment of the refresh, too.
func (v *view) movesWithTime() bool { return v.Root != nil && v.Moment != nil }

// aggregate is the grouping on which nothing but filters and projections stands; nil if the view is not like that.
func (v *view) aggregate() *algebra.Aggregate { return algebra.RootGroups(v.Root) }

// delta is how the part of the view that keeps no state changes: the view itself, or the input of its groups. It is nil if nothing can change.
func (v *view) delta() algebra.Node {
	switch v.strategy {
	case MergeRows:
		return v.rules.changes(v.Root)
	case RescanKeys, MergeGroups:
		return v.rules.changes(v.aggregate().Input)
	}
	return nil
}

// calculus differentiates trees of a view, each once, and passes on what the delta rules make.
type calculus struct{ rules delta.Calculus }

// changes is Δ n; nil if nothing can change.
func (c calculus) changes(n algebra.Node) algebra.Node {
	d := c.rules.Of(n)
	afterPass("differentiate", d)
	return d
}

// affected are the keys of the groups that changes fall into; nil if nothing can change.
func (c calculus) affected(n *algebra.Aggregate) algebra.Node {
	keys := c.rules.Affected(n)
	afterPass("affected keys", keys)
	return keys
}

// restricted are the rows of n whose keys are among affected.
func (c calculus) restricted(n algebra.Node, keys []algebra.Item, affected algebra.Node) algebra.Node {
	some := c.rules.Restrict(n, keys, affected)
	afterPass("restrict", some)
	return some
}
