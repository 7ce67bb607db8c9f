package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/delta"
	"github.com/pgsluice/sluice/ivm/emit"
)

// Where one statement alone changed one table (see OnlyChanging) and everybody else waits, what it did needs less than changes of all kinds do:
// each part of a statement that writes costs as much as to write a row.

// MergesGroups reports whether groups can be found and added to by their unique index.
func (v *View) MergesGroups() bool {
	s := v.Storage()
	return v.Strategy() == MergeGroups && len(s.Identity) > 0 && !s.Hashed()
}

// MovesRows reports whether rows can be put in place and taken away by their unique index.
func (v *View) MovesRows() bool {
	s := v.Storage()
	return v.Strategy() == MergeRows && !s.Hashed() && !s.Repeats
}

// Moves are the lines of common table expressions of which the last, DeltaName, has the rows that come and go, those of one identity in no order
// and perhaps alike; none if nothing can change.
func (v *View) Moves(t Tables, e Event) []string {
	reads := v.props.Of(v.Root).Reads(func(s *algebra.Source) bool { return s.Table == v.only })
	if reads > 1 || v.Effect(Insert) == delta.Both { // parts of the change may cancel each other
		return v.Delta(t)
	}
	changes := v.delta()
	if changes == nil {
		return nil
	}
	w := emit.NewWriter(v.Columns, leaves(t))
	w.Add(simplified(changes), v.names(), v.Effect(e).Takes)
	w.NameLast(DeltaName)
	return emit.List(w.CTEs)
}

// Effect is what a change can do to the rows of a view.
type Effect = delta.Effect

// Effect is what a statement on the table that changes (see OnlyChanging; any table of the view, if there is none) can do to the view's rows, and
// to those that its groups are made of.
func (v *View) Effect(e Event) Effect {
	n := v.Root
	if g := v.grouped(); g != nil {
		n = g.node.Input
	}
	return delta.EffectOn(n, func(s *algebra.Source) delta.Effect {
		if v.only != nil && s.Table != v.only {
			return delta.Effect{}
		}
		return delta.Effect{Adds: e != Delete, Takes: e != Insert}
	})
}
