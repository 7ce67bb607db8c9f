package ivm

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
)

// Strategy is how a view's changes come about.
type Strategy string

// The strategies.
const (
	// MergeRows adds the signed rows by which the query changes (rules R1, R2 and R3a).
	MergeRows Strategy = "merge_rows"
	// MergeGroups adds to what is stored of the groups that change (rule R4).
	MergeGroups Strategy = "merge_groups"
	// RescanKeys recomputes the affected groups (rule R3b).
	RescanKeys Strategy = "rescan_keys"
	// Recompute recomputes everything (rule R0).
	Recompute Strategy = "recompute"
)

// choose finds the strategy for the view.
func (v *view) choose() {
	v.strategy = MergeRows
	switch groups := v.aggregate(); {
	case v.Root == nil:
		v.strategy = Recompute
	case groups == nil:
	default:
		if !v.picks(groups) {
			v.groups = apply.GroupsOf(groups, v.keysOf(groups), v.columns)
		}
		if v.groups != nil {
			v.strategy = MergeGroups
		} else if len(groups.Keys) > 0 { // otherwise there is one group, which no key finds
			v.strategy = RescanKeys
		}
	}
}

// picks reports whether the rows of a group may bear keys that are equal and not the same. The one that is shown must be one that a row still bears, so
// these groups are recomputed.
func (v *view) picks(n *algebra.Aggregate) bool {
	return slices.ContainsFunc(n.Keys, func(k algebra.Item) bool { return v.columns.Info(k.ID).Varied })
}

// keysOf are the columns by which stored groups are found: those of the output that are keys of the groups, and hidden ones for the others.
func (v *view) keysOf(groups *algebra.Aggregate) []apply.Key {
	var keys []apply.Key
	for i, k := range groups.Keys {
		keys = append(keys, apply.Key{Name: v.keyName(k.ID, i), Nullable: !v.props.Of(groups).NotNull(k.ID), Column: k.ID})
	}
	return keys
}

// keyName is the output column that a key is, or a hidden one.
func (v *view) keyName(key algebra.ColID, n int) string {
	if p, ok := v.Root.(*algebra.Project); ok {
		for i, item := range p.Items {
			if id, ok := item.Expr.Column(); ok && id == key {
				return v.Output[i].Name
			}
		}
	}
	return fmt.Sprintf("__key%d", n+1)
}
