package plan

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A stream table that mode auto recomputes is not recomputed while none of the tables that it reads has changed. Its text decides whether that is all
// that its rows depend on, as the compiler does not look into each part of a query that it cannot follow.

// changing are words that stand for a time, in functions and constants, and for what changes without a trigger. Any mention counts.
var changing = regexp.MustCompile(`(?i)\b(now|today|tomorrow|yesterday|ctid|xmin|xmax|cmin|cmax)\b`)

// watched are the tables of which a change has a stream table recomputed; nil if it is recomputed at each refresh.
func (p *planner) watched(n int) []ivm.Need {
	t, view := &p.spec.StreamTables[n], p.compiled.views[n]
	if t.RefreshMode != spec.RefreshAuto || view.Strategy != ivm.Recompute || view.HidesCalls() {
		return nil
	}
	w := &watching{known: p.compiled.known, path: []string{"public"}}
	if !w.query(t.Query.Text, nil) {
		return nil
	}
	var needs []ivm.Need
	for _, r := range w.found {
		if !slices.Contains(view.Sources, r) && !slices.Contains(view.Views, r) {
			return nil // nothing looks after alterations of it
		}
		if r.Kind != catalog.View {
			needs = append(needs, ivm.Need{Table: r})
		}
	}
	return needs
}

// watching finds the relations that a query reads, views expanded.
type watching struct {
	known *catalog.Catalog
	path  []string // in which schemas a name of the query without a schema can be found only
	found []*catalog.Relation
}

// query reports whether the rows of a query follow from the rows of tables whose changes triggers see. A view looks names up along path.
func (w *watching) query(text string, view *catalog.Relation) bool {
	reads, err := sqltext.ReadsOf(text)
	if err != nil || changing.MatchString(text) || slices.ContainsFunc(reads.Uses, w.isOpen) {
		return false
	}
	return !slices.ContainsFunc(reads.Tables, func(t *sqltext.TableRef) bool { return !w.table(t, view) })
}

// isOpen reports whether the result of something that a query uses may change without the tables.
func (w *watching) isOpen(use sqltext.Use) bool {
	_, outside := w.known.OutsideIn(nil, use)
	return outside || !w.known.IsFixed(use)
}

func (w *watching) table(t *sqltext.TableRef, view *catalog.Relation) bool {
	r := w.known.Relation(t.Schema, t.Name)
	if view != nil && view.SearchPath != nil {
		r = w.known.RelationIn(view.SearchPath, t.Schema, t.Name)
	}
	switch {
	case r == nil || view == nil && t.Schema == "" && !slices.Contains(w.path, r.Schema): // a table in another schema may take its place
		return false
	case slices.Contains(w.found, r):
		return true
	}
	w.found = append(w.found, r)
	switch r.Kind {
	case catalog.View:
		return w.query(r.Query, r)
	case catalog.Table, catalog.Partitioned:
		return isLogged(r)
	}
	return false
}

// isLogged reports whether triggers see each change of a table and of those below it.
func isLogged(r *catalog.Relation) bool {
	return !r.Unlogged && r.Kind != catalog.Foreign && !slices.ContainsFunc(r.Children, func(below *catalog.Relation) bool { return !isLogged(below) })
}

// notes tell which stream tables mode auto recomputes, and why.
func (p *planner) notes() []diag.Error {
	var all []diag.Error
	for _, n := range p.compiled.order {
		t, full := &p.spec.StreamTables[n], p.compiled.views[n].Full
		if t.RefreshMode != spec.RefreshAuto || len(full) == 0 || p.inboxOf(t) != nil {
			continue
		}
		when := "at each refresh"
		if len(p.watched(n)) > 0 {
			when += " after a change of what it reads"
		}
		note := diag.Error{
			Pos: full[0].Pos, Code: "recomputed", IsNote: true, Message: fmt.Sprintf("stream table %s is recomputed %s, because of %s", t.Name, when, full[0].What),
			Hint: fmt.Sprintf("%s; \"sluice explain %s\" shows more, and refresh_mode: full silences this note", full[0].Instead(), t.Name),
		}
		for _, r := range full[1:] {
			note.Also = append(note.Also, diag.Note{Pos: r.Pos, Message: "and " + r.What})
		}
		all = append(all, note)
	}
	return all
}
