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
	known := p.compiled.known
	reads, err := sqltext.ReadsOf(t.Query.Text)
	if err != nil || changing.MatchString(t.Query.Text) || slices.ContainsFunc(reads.Uses, func(use sqltext.Use) bool { return isOpen(known, use) }) {
		return nil
	}
	var needs []ivm.Need
	for _, named := range reads.Tables {
		r := known.Relation(named.Schema, named.Name)
		switch {
		case r == nil || named.Schema == "" && r.Schema != "public": // a table in another schema may take its place
			return nil
		case !slices.Contains(view.Sources, r): // nothing looks after alterations of it
			return nil
		case r.Kind != catalog.Table && r.Kind != catalog.Partitioned || !isLogged(r): // the query of a view may be replaced
			return nil
		case !slices.ContainsFunc(needs, func(n ivm.Need) bool { return n.Table == r }):
			needs = append(needs, ivm.Need{Table: r})
		}
	}
	return needs
}

// unsettled are types as which a text may say today, and functions and operators whose result follows from text search configurations.
var unsettled = regexp.MustCompile(`^(_?(date|time|timetz|timestamp|timestamptz|interval|(date|ts|tstz)(multi)?range)|(\w+_)?to_ts(vector|query)|ts_\w+|get_current_ts_config|@@@?)$`)

// isOpen reports whether the result of something that a query uses may change without the tables.
func isOpen(known *catalog.Catalog, use sqltext.Use) bool {
	_, outside := known.OutsideIn(nil, use)
	return outside || !known.IsFixed(use) || !use.OfConstant && unsettled.MatchString(use.Name)
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
