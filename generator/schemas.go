package generator

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// schemasOf are the schemas of the extension.
func schemasOf(s *spec.Spec) render.Schemas {
	return render.Schemas{SchemaName: s.Extension.Schema, InternalName: spec.InternalSchema(s.Extension.Schema)}
}

func (b *builder) schemas(s *spec.Spec) {
	for _, name := range schemaNames(s) {
		data := render.Schema{Extension: s.Extension.Name, Name: name}
		b.addStatement("schema", sqltext.Ident(name), "extension/schema.sql", data, b.render("extension/drop_schema.sql", data))
	}
	internal := render.Schema{Extension: s.Extension.Name, Name: spec.InternalSchema(s.Extension.Schema)}
	b.addStatement("schema", sqltext.Ident(internal.Name), "extension/internal_schema.sql", internal, b.render("extension/drop_schema.sql", internal))
}

// roleSchemas lists the schemas that roles of the spec may use. Stream tables of users are granted by users.
func roleSchemas(s *spec.Spec) []string {
	names := []string{s.Extension.Schema}
	for _, i := range s.Inboxes {
		if !slices.Contains(names, i.Schema) {
			names = append(names, i.Schema)
		}
	}
	return names
}

// schemaNames lists the schemas that objects live in, the extension's first.
func schemaNames(s *spec.Spec) []string {
	names := roleSchemas(s)
	for _, t := range s.StreamTables {
		if !slices.Contains(names, t.Relation.Schema) {
			names = append(names, t.Relation.Schema)
		}
	}
	return names
}

// ownPath is the search_path where every name is PostgreSQL's or has its schema.
const ownPath = "pg_catalog, pg_temp"

// searchPathOf is the search_path in which queries mean what they meant to the compiler. Temporary tables come last.
func searchPathOf(s *spec.Spec) string {
	var names []string
	for _, schema := range append([]string{"pg_catalog"}, searchPath(s)...) {
		names = append(names, sqltext.Ident(schema))
	}
	return strings.Join(append(names, "pg_temp"), ", ")
}

// computes is the query of a stream table for functions that others have run, and the search_path in which it means what it meant.
func (p *planner) computes(n int) (path, query string) {
	view := p.compiled.views[n]
	switch {
	case view.Strategy() != ivm.Recompute && view.Own(p.compiled.known):
		return ownPath, view.Rows()
	case view.PicksKeys():
		return searchPathOf(p.spec), view.Rows()
	}
	return searchPathOf(p.spec), sqltext.Body(p.spec.StreamTables[n].Query.Text)
}
