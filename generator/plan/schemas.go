package plan

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/catalog"
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

// qualified is a query that names its tables with their schemas.
func qualified(query string, known *catalog.Catalog) string {
	return sqltext.QualifyTables(query, func(schema, name string) (string, bool) {
		table := known.Relation(schema, name)
		if table == nil {
			return "", false
		}
		return table.SQLName(), true
	})
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
		return sqltext.Unlimited(t.Run())
	}
	return ""
}

// searchPath is where names in queries are looked up.
func searchPath(s *spec.Spec) []string { return []string{"public", s.Extension.Schema} }

// schemasOf are the schemas of the extension.
func schemasOf(s *spec.Spec) render.Schemas {
	return render.Schemas{SchemaName: s.Extension.Schema, InternalName: spec.InternalSchema(s.Extension.Schema)}
}
