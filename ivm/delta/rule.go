package delta

import "github.com/pgsluice/sluice/ivm/algebra"

// Rule is the rule by which Of differentiates an operator; empty for one that stands in no view.
func Rule(n algebra.Node) string {
	switch n.(type) {
	case *algebra.Source:
		return sourceRule
	case *algebra.Values:
		return valuesRule
	case *algebra.Filter:
		return filterRule
	case *algebra.Project:
		return projectRule
	case *algebra.Union:
		return unionRule
	case *algebra.Join:
		return joinRule
	case *algebra.Aggregate:
		return aggregateRule
	}
	return ""
}
