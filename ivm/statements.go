package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
)

// statement is how the view's strategy follows changes of its sources.
func (v *view) statement() apply.Statement {
	switch v.strategy {
	case MergeRows:
		return apply.MergeRows(v.storage, v.simplified(v.delta()))
	case MergeGroups:
		recomputed, inputs := apply.RecomputedExtremes{}, v.inputs(true)
		if len(v.groups.Extremes()) > 0 && inputs != nil {
			recomputed = v.recomputedExtremes()
		}
		return apply.MergeGroups(v.storage, v.groups, inputs, recomputed)
	case RescanKeys:
		return v.rescanKeys()
	}
	return apply.Statement{}
}

// inputs are the changes of the groups' rows; nil if nothing can change. mixed: rows may come and go, so that what is added and taken away again
// must not be taken for an extreme.
func (v *view) inputs(mixed bool) algebra.Node {
	changes := v.delta()
	if changes == nil {
		return nil
	}
	node := v.simplified(v.groups.Inputs(changes, v.columns))
	if mixed && len(v.groups.Extremes()) > 0 {
		return &algebra.Consolidate{Input: node}
	}
	return node
}

// recomputed are the rows of groups that lost an extreme.
func (v *view) recomputedExtremes() apply.RecomputedExtremes {
	lost, groups := &algebra.Values{}, v.groups.Node
	for _, k := range groups.Keys {
		lost.Cols = append(lost.Cols, v.columns.New(v.columns.Info(k.ID)))
	}
	return apply.RecomputedExtremes{Lost: lost, Rows: v.simplified(v.rules.restricted(groups.Input, groups.Keys, lost))}
}

// rescanKeys recomputes the affected groups.
func (v *view) rescanKeys() apply.Statement {
	groups := v.aggregate()
	keys := v.rules.affected(groups)
	if keys == nil {
		return apply.Statement{}
	}
	affected := v.simplified(keys).(*algebra.Distinct)
	restricted := groups.With([]algebra.Node{v.rules.restricted(groups.Input, groups.Keys, affected)})
	return apply.RescanKeys(v.storage, affected, v.withKeys(v.replaced(groups, restricted)))
}

// replaced is the view's tree with another node in the place of one.
func (v *view) replaced(node, other algebra.Node) algebra.Node {
	return algebra.Rewrite(v.Root, func(n algebra.Node) algebra.Node {
		if n == node {
			return other
		}
		return n
	})
}

// withKeys adds the hidden keys to the columns of the view's tree.
func (v *view) withKeys(root algebra.Node) algebra.Node {
	keys := v.storage.Identity
	if v.strategy != RescanKeys {
		return root
	}
	p := root.(*algebra.Project)
	with := &algebra.Project{Input: p.Input, Items: append([]algebra.Item{}, p.Items...)}
	hidden := apply.Hidden(keys, v.names())
	for _, k := range keys {
		if slices.Contains(hidden, k.Name) {
			with.Items = append(with.Items, algebra.Item{ID: v.columns.New(v.columns.Info(k.Column)), Expr: algebra.Ref(k.Column)})
		}
	}
	return with
}

// recompute is how the view is computed from nothing.
func (v *view) recompute() apply.Recompute {
	r := apply.Recompute{Storage: v.storage, Groups: v.groups}
	if v.Root != nil && v.groups == nil {
		r.Rows = v.withKeys(v.Root)
	}
	return r
}
