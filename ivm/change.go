package ivm

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/rewrite"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Tables tells where a view's statement finds what changed and what is stored.
type Tables struct {
	// Log is where the changes of a table are read from: a relation with the
	// table's columns and emit.Mult.
	Log func(*catalog.Relation) string
	// Stored holds the view's rows as they were: its columns and those of Keys.
	Stored string
}

// Key is a column by which stored rows are found.
type Key struct {
	Name     string // of the column where rows are stored
	Nullable bool
	id       algebra.ColID // of the group's key
}

// Change is the query for the signed rows by which the stored rows differ from
// the view once its sources have changed; empty if nothing can change. It has
// no answer for a view that must be recomputed.
func (v *View) Change(t Tables) string {
	w := emit.NewWriter(v.Columns, leaves(t.Log))
	switch v.Strategy() {
	case MergeRows:
		return v.mergeRows(w)
	case RescanKeys:
		return v.rescanKeys(w, t.Stored)
	}
	return ""
}

// mergeRows: Δ view, by the laws of package delta.
func (v *View) mergeRows(w *emit.Writer) string {
	changes := v.delta()
	if changes == nil {
		return ""
	}
	last := w.Add(rewrite.Distribute(changes), v.names(), false)
	return statement(w, "select *", "from "+last)
}

// names are those of the output.
func (v *View) names() []string {
	names := make([]string, len(v.Output))
	for i, o := range v.Output {
		names[i] = o.Name
	}
	return names
}

func statement(w *emit.Writer, lines ...string) string {
	return strings.Join(append(emit.With(w.CTEs), lines...), "\n")
}

// leaves reads sources from their tables and changes from logs.
func leaves(log func(*catalog.Relation) string) func(algebra.Node) (emit.Leaf, bool) {
	return func(n algebra.Node) (emit.Leaf, bool) {
		switch n := n.(type) {
		case *algebra.Source:
			return leaf(n, n.Table.SQLName(), false), true
		case *algebra.Changes:
			return leaf(n.Of, log(n.Of.Table), true), true
		}
		return emit.Leaf{}, false
	}
}

func leaf(s *algebra.Source, sql string, signed bool) emit.Leaf {
	l := emit.Leaf{SQL: sql, Alias: initial(s.Table.Name), Columns: map[algebra.ColID]string{}, Signed: signed}
	for _, c := range s.Cols {
		l.Columns[c.ID] = s.Table.Columns[c.Attr].Name
	}
	return l
}

// initial is a short alias for a table.
func initial(name string) string {
	if first := strings.ToLower(name[:1]); first >= "a" && first <= "z" {
		return first
	}
	return "t"
}

// Rows is the query for all rows that are to be stored: the view's, with the
// columns of Keys that it lacks. The view must be followed by its changes.
func (v *View) Rows() string {
	keys := v.Keys()
	columns := append(v.names(), hidden(keys, v.names())...)
	w := emit.NewWriter(v.Columns, leaves(nil))
	root := v.Root
	if len(keys) > 0 {
		root = v.withKeys(root, keys)
	}
	last := w.Add(root, columns, false)
	return statement(w, "select "+strings.Join(idents(columns), ", "), "from "+last)
}

func idents(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = sqltext.Ident(name)
	}
	return quoted
}
