package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/emit"
)

// Names of stored columns besides Mult. No column of a user's begins like them.
const (
	// Mult counts how often a row is in the view.
	Mult = emit.Mult
	// Hash is of the identity, where no index on it finds rows.
	Hash = "__hash"
)

// Storage says how a view's rows are stored.
type Storage struct {
	Visible  []string // the columns of the query
	Hidden   []string // keys that it lacks
	Identity []Key    // the columns by which a stored row is found
	Repeats  bool     // a row may be in the view several times, and is stored once with Mult
}

// Columns are all that a query fills.
func (s Storage) Columns() []string { return slices.Concat(s.Visible, s.Hidden) }

// Hashed tells that rows are found by Hash: an index finds no nulls by =, and may not hold wide rows.
func (s Storage) Hashed() bool {
	return s.Repeats || len(s.Identity) == 0 || slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Nullable })
}

// Storage says how the view's rows are stored.
func (v *View) Storage() Storage {
	s := Storage{Visible: v.names()}
	switch v.Strategy() {
	case RescanKeys:
		s.Identity = v.Keys()
		s.Hidden = hidden(s.Identity, s.Visible)
		return s
	case MergeRows:
		s.Identity = v.rowKey()
	}
	if s.Identity == nil {
		s.Repeats = true
		for i, name := range s.Visible {
			s.Identity = append(s.Identity, Key{Name: name, Nullable: v.Root == nil || v.Columns.Info(v.Output[i].ID).Nullable})
		}
	}
	return s
}
