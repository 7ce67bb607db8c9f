package plan

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// ownPath is the search_path where every name is PostgreSQL's or has its schema.
const ownPath = "pg_catalog, pg_temp"

// searchPathOf is the search_path in which queries mean the same on the server as in the compiler. Temporary tables come last.
func searchPathOf(s *spec.Spec) string {
	var names []string
	for _, schema := range append([]string{"pg_catalog"}, searchPath(s)...) {
		names = append(names, sqltext.Ident(schema))
	}
	return strings.Join(append(names, "pg_temp"), ", ")
}

// computes returns the query of a stream table for SECURITY DEFINER functions, and the search_path that it needs there.
func (p *planner) computes(n int) (path, query string) {
	view, text := p.compiled.views[n], sqltext.Body(p.spec.StreamTables[n].Query.Text)
	path = searchPathOf(p.spec)
	own := view.Strategy != ivm.Recompute && view.OwnNames
	if own {
		path = ownPath
	}
	switch {
	case view.PicksKeys || view.Decides || view.LimitBy("r") != "":
		return path, view.Recompute.Rows()
	case own: // as it is written, PostgreSQL computes a correlated subquery for those rows only that need it
		return path, sqltext.QualifyTables(text, func(schema, name string) (string, bool) {
			table := p.compiled.known.Relation(schema, name)
			if table == nil {
				return "", false
			}
			return table.SQLName(), true
		})
	}
	return path, text
}

// compared is what the rows of a stream table are compared with where its query does not say it: without the limit, and where that leaves open which rows are
// the first ones of something, or in which order an aggregate takes them, as it is followed.
func (p *planner) compared(n int, t *render.StreamTable) string {
	view := p.compiled.views[n]
	switch {
	case view.Decides:
		query := "select " + t.Shown("r") + " from (\n" + view.Recompute.Rows() + "\n) r"
		if shown := t.ShownIf("r"); shown != "" {
			query += "\nwhere " + shown
		}
		return query
	case t.Limited():
		return sqltext.Unlimited(sqltext.Body(p.spec.StreamTables[n].Query.Text))
	}
	return ""
}

// searchPath is where names in queries are looked up.
func searchPath(s *spec.Spec) []string { return []string{"public", s.Extension.Schema} }

// schemasOf are the schemas of the extension.
func schemasOf(s *spec.Spec) render.Schemas {
	return render.Schemas{SchemaName: s.Extension.Schema, InternalName: spec.InternalSchema(s.Extension.Schema)}
}
