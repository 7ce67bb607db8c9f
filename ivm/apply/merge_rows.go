package apply

import "github.com/pgsluice/sluice/ivm/algebra"

// MergeRows adds the signed rows by which the query changes to those stored (rules R1, R2 and R3a). delta is nil if nothing can change.
func MergeRows(s Storage, delta algebra.Node) Statement {
	if delta == nil {
		return Statement{}
	}
	return Statement{Storage: s, Steps: []Step{Rows{Node: delta, Columns: s.Stored}, AddUp{}}}
}

// MoveRows are the rows that come and go in a statement by which no two changes of one row cancel each other, those of one identity in no order. keep: they are
// read more than once.
func MoveRows(s Storage, delta algebra.Node, keep bool) Statement {
	if delta == nil {
		return Statement{}
	}
	return Statement{Storage: s, Steps: []Step{Rows{Node: delta, Columns: s.Stored, Keep: keep, Name: "delta"}}}
}

// RecomputedRows are the affected identities, and the rows that have them now. inline: each is read once.
func RecomputedRows(s Storage, affected *algebra.Distinct, current algebra.Node, inline bool) Statement {
	return Statement{Storage: s, Inline: inline, Steps: []Step{
		Once{Node: affected, Columns: Names(s.Identity), Name: "affected"},
		Rows{Node: current, Columns: s.Stored, Keep: true, Name: "recomputed"},
	}}
}
