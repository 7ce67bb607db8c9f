package delta

import "github.com/pgsluice/sluice/ivm/algebra"

// Law is the law by which Of differentiates an operator; empty for one that stands in no view.
func Law(n algebra.Node) string {
	switch n.(type) {
	case *algebra.Source:
		return sourceLaw
	case *algebra.Values:
		return valuesLaw
	case *algebra.Filter:
		return filterLaw
	case *algebra.Project:
		return projectLaw
	case *algebra.Union:
		return unionLaw
	case *algebra.Join:
		return joinLaw
	case *algebra.Aggregate:
		return aggregateLaw
	}
	return ""
}
