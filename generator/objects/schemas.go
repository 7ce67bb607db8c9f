package objects

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

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
