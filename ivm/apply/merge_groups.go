package apply

import "github.com/pgsluice/sluice/ivm/algebra"

// MergeGroups adds the changes of groups to what is stored of them (rule R4). inputs are Groups.Inputs, nil if nothing can change; recomputed is needed
// where there are extremes.
func MergeGroups(s Storage, g *Groups, inputs algebra.Node, recomputed RecomputedExtremes) Statement {
	merged := GroupsDelta(s, g, inputs, true)
	switch {
	case merged.Empty():
	case len(g.Extremes()) == 0:
		merged.Steps = append(merged.Steps, Merged{Name: "found"})
	default:
		merged.Steps = append(merged.Steps, Merged{Name: "met"}, Lost{}, recomputed, Regained{})
	}
	return merged
}

// GroupsDelta says by how much each group changes.
func GroupsDelta(s Storage, g *Groups, inputs algebra.Node, keep bool) Statement {
	if inputs == nil {
		return Statement{}
	}
	return Statement{Storage: s, Groups: g, Steps: []Step{Rows{Node: inputs, Columns: g.InputNames()}, GroupChanges{Keep: keep}}}
}

// Regain recomputes the extremes of stored groups that lost one.
func Regain(s Storage, g *Groups, recomputed RecomputedExtremes) Statement {
	return Statement{Storage: s, Groups: g, Steps: []Step{LostAt{}, recomputed}}
}
