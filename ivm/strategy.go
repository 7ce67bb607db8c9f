package ivm

import "github.com/pgsluice/sluice/ivm/algebra"

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

// Strategy chooses how to follow the view.
func (v *View) Strategy() Strategy {
	switch {
	case v.Root == nil:
		return Recompute
	case v.grouped() != nil:
		return MergeGroups
	case v.groups() != nil:
		return RescanKeys
	}
	return MergeRows
}

// aggregate is the grouping on which nothing but filters and projections stands; nil if the view is not like that.
func (v *View) aggregate() *algebra.Aggregate {
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

// groups is aggregate if there are keys. Without them there is one group, which no key finds.
func (v *View) groups() *algebra.Aggregate {
	if n := v.aggregate(); n != nil && len(n.Keys) > 0 {
		return n
	}
	return nil
}
