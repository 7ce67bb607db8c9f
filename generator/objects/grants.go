package objects

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// grants gives each role of the spec the least rights that it needs.
func (b *builder) grants(s *spec.Spec, view render.Extension) {
	for _, role := range []struct{ field, name, template string }{
		{"producer", s.Roles.Producer, "extension/grant_producer.sql"},
		{"consumer", s.Roles.Consumer, "extension/grant_consumer.sql"},
		{"monitor", s.Roles.Monitor, "extension/grant_monitor.sql"},
	} {
		if role.name == "" {
			continue
		}
		b.origins["role "+sqltext.Ident(role.name)] = Origin{"role " + role.name, "", s.Roles.At, s.Roles.Field(role.field)}
		data := render.Role{Extension: view, Role: role.name, Schemas: append(roleSchemas(s), spec.InternalSchema(s.Extension.Schema))}
		b.addStatement("role", sqltext.Ident(role.name), "extension/role.sql", data, "")
		b.addStatement("grant", sqltext.Ident(role.name), role.template, data, "")
	}
}
