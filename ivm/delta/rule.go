package delta

import "github.com/pgsluice/sluice/ivm/algebra"

// Grown is the rule by which Of differentiates a recursion that Grows.
func Grown(n *algebra.Recursion) string {
	if n.All {
		return allRule
	}
	return setRule
}

// Rule is the rule by which Of differentiates an operator; empty for one that stands in no view.
func Rule(n algebra.Node) string {
	switch n := n.(type) {
	case *algebra.Source:
		if n.Table.Clock {
			return clockRule
		}
		return sourceRule
	case *algebra.Values:
		return valuesRule
	case *algebra.Filter:
		return filterRule
	case *algebra.Project:
		return projectRule
	case *algebra.Each:
		return eachRule
	case *algebra.Union:
		return unionRule
	case *algebra.Join:
		return joinRule
	case *algebra.Outer:
		if n.Full {
			return fullRule
		}
		return leftRule
	case *algebra.Semi:
		switch {
		case n.Anti:
			return antiRule
		case algebra.Single(n.Right) && len(n.On) > 0:
			return bandRule
		}
		return semiRule
	case *algebra.Aggregate:
		return aggregateRule
	case *algebra.Top:
		if len(n.Keys) == 0 {
			return firstRule
		}
		return topRule
	case *algebra.Recursion:
		return anewRule
	case *algebra.Window:
		return windowRule
	}
	return ""
}
