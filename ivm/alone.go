package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/rewrite"
)

// Where one statement alone changed one table (see OnlyChanging) and everybody else waits, what it did needs less than changes of all kinds do:
// each part of a statement that writes costs as much as to write a row.

// MergesGroups reports whether groups can be found and added to by their unique index.
func (v *View) MergesGroups() bool {
	s := v.Storage()
	return v.Strategy() == MergeGroups && len(s.Identity) > 0 && !s.Hashed() && len(v.Extremes()) == 0
}

// MovesRows reports whether rows can be put in place and taken away by their unique index.
func (v *View) MovesRows() bool {
	s := v.Storage()
	return v.Strategy() == MergeRows && !s.Hashed() && !s.Repeats
}

// Moves are the lines of common table expressions of which the last, DeltaName, has the rows that come and go, those of one identity in no order
// and perhaps alike; none if nothing can change.
func (v *View) Moves(t Tables, e Event) []string {
	reads := 0
	algebra.Walk(v.Root, func(n algebra.Node) {
		if s, ok := n.(*algebra.Source); ok && s.Table == v.only {
			reads++
		}
	})
	if reads > 1 || !v.OneWay() { // parts of the change may cancel each other
		return v.Delta(t)
	}
	changes := v.delta()
	if changes == nil {
		return nil
	}
	w := emit.NewWriter(v.Columns, leaves(t))
	w.Add(rewrite.Distribute(changes), v.names(), e != Insert)
	w.NameLast(DeltaName)
	return emit.List(w.CTEs)
}

// OneWay reports whether rows only come if rows are only added to what the view reads, and only go if some are only taken away.
func (v *View) OneWay() bool {
	only := true
	algebra.Walk(v.Root, func(n algebra.Node) {
		switch n.(type) {
		case *algebra.Source, *algebra.Values, *algebra.Filter, *algebra.Project, *algebra.Join, *algebra.Union:
		default:
			only = false
		}
	})
	return only
}
