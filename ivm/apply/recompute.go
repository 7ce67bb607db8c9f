package apply

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Recompute finds how the whole query differs from what is stored (rule R0).
type Recompute struct {
	Storage Storage
	Groups  *Groups
	// Rows are those that are to be stored; nil where the query itself makes them, or only the server can.
	Rows algebra.Node
}

// FromQuery reports whether the query makes the stored columns.
func (r Recompute) FromQuery() bool { return slices.Equal(r.Storage.Stored, r.Storage.Visible) }
