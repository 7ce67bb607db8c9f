package ivm

import (
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
	// RescanKeys computes the groups that changes touch anew (rule R3b).
	RescanKeys Strategy = "rescan_keys"
	// Recompute computes everything anew (rule R0).
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
// these groups are computed anew.
func (v *view) picks(n *algebra.Aggregate) bool {
	return slices.ContainsFunc(n.Keys, func(k algebra.Item) bool { return v.columns.Info(k.ID).Varied })
}

// aggregate is the grouping on which nothing but filters and projections stands; nil if the view is not like that.
func (v *view) aggregate() *algebra.Aggregate {
	n := v.Root
	for {
		switch at := n.(type) {
		case *algebra.Project:
			n = at.Input
		case *algebra.Filter:
			n = at.Input
		case *algebra.Aggregate:
			if len(at.Keys) > 0 || at.Global {
				return at
			}
			return nil
		default:
			return nil
		}
	}
}
