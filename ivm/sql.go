package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/emit"
)

// Tables describes where a statement finds what changed and what is stored.
type Tables = emit.Tables

// Names that statements have.
const (
	DeltaName = emit.DeltaName
	Hash      = apply.Hash
	ForFew    = emit.ForFew
)

// Statement finds how stored rows change.
type Statement struct {
	apply.Statement
	columns *algebra.Columns
}

func (v *view) written(s apply.Statement) Statement { return Statement{s, v.columns} }

// Lines writes it as lines of common table expressions, of which the last has the result; none if nothing can change.
func (s Statement) Lines(t Tables) []string { return emit.Lines(s.Statement, s.columns, t) }

// Signed writes it as a query for signed rows, which are not added up: those by which the stored rows differ from the view once its sources have
// changed. It is empty if nothing can change.
func (s Statement) Signed(t Tables) string { return emit.Signed(s.Statement, s.columns, t) }

// Recomputation finds how the whole query differs from what is stored.
type Recomputation struct {
	apply.Recompute
	columns *algebra.Columns
}

// Rows is the query for all rows that are to be stored: the view's, with the columns of keys that it lacks. The view must be one that is followed.
func (r Recomputation) Rows() string { return emit.Rows(r.Recompute, r.columns) }

// Counted is Rows with how often each is there, for rows that are stored so.
func (r Recomputation) Counted() string { return emit.Counted(r.Recompute, r.columns) }

// Lines writes it as lines of common table expressions: differ, which pairs rows of the query with those stored, or delta, which signed asks for.
func (r Recomputation) Lines(q emit.Query, signed bool) []string {
	return emit.Recompute(r.Recompute, r.columns, q, signed)
}

// Query is what a recomputation reads.
type Query = emit.Query
