package apply

import "github.com/pgsluice/sluice/ivm/algebra"

// MergeRows adds the signed rows by which the query changes to those stored (rules R1, R2 and R3a). delta is nil if nothing can change.
func MergeRows(s Storage, delta algebra.Node) Statement {
	if delta == nil {
		return Statement{}
	}
	return Statement{Storage: s, Steps: []Step{Rows{Node: delta, Columns: s.Visible}, AddUp{}}}
}

// MoveRows are the rows that come and go in a statement by which no two changes of one row cancel each other, those of one identity in no order.
func MoveRows(s Storage, delta algebra.Node, keep bool) Statement {
	if delta == nil {
		return Statement{}
	}
	return Statement{Storage: s, Steps: []Step{Rows{Node: delta, Columns: s.Visible, Keep: keep, Name: "delta"}}}
}

// RowsAnew are the identities that changes touch, and the rows that have them now. inline: each is read once.
func RowsAnew(s Storage, touched *algebra.Distinct, now algebra.Node, inline bool) Statement {
	return Statement{Storage: s, Inline: inline, Steps: []Step{
		Once{Node: touched, Columns: Names(s.Identity), Name: "touched"},
		Rows{Node: now, Columns: s.Stored, Keep: true, Name: "fresh"},
	}}
}
