package objects

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// grantee is a role of the spec with all that it is: at most one part of each kind for everything, and one for some inboxes and outboxes.
type grantee struct {
	name  string
	at    Origin
	parts []render.Role
}

// grants gives each role of the spec the least rights that it needs.
func (b *builder) grants(p *plan.Plan) {
	grantees := granteesOf(p)
	if p.View.OwnRights() {
		b.rights(p.View, grantees)
	}
	for _, g := range grantees {
		b.origins["role "+sqltext.Ident(g.name)] = g.at
		b.addStatement("role", sqltext.Ident(g.name), "extension/role.sql", g.parts[0], "")
		var sql []string
		for _, part := range g.parts {
			sql = append(sql, b.render(grantTemplate(part), part))
		}
		b.push(upgrade.Object{
			Kind: "grant", Signature: sqltext.Ident(g.name), SQL: strings.Join(sql, "\n"), Template: strings.TrimSuffix(grantTemplate(g.parts[0]), ".sql"),
			Section: roleSection,
		}, nil)
	}
	b.policies(p.View)
}

func grantTemplate(part render.Role) string { return "extension/grant_" + part.Kind + ".sql" }

// granteesOf lists the roles of the extension, then those of each inbox and outbox.
func granteesOf(p *plan.Plan) []grantee {
	s, view := p.Spec, p.View
	var all []grantee
	// part finds what a role is, or adds it.
	part := func(name, kind string, at Origin, whole bool) *render.Role {
		n := slices.IndexFunc(all, func(g grantee) bool { return g.name == name })
		if n < 0 {
			n = len(all)
			all = append(all, grantee{name: name, at: at})
		}
		g := &all[n]
		i := slices.IndexFunc(g.parts, func(r render.Role) bool { return r.Kind == kind && (r.Of == "") == whole })
		if i < 0 {
			i = len(g.parts)
			g.parts = append(g.parts, render.Role{Extension: view, Role: name, Kind: kind})
		}
		return &g.parts[i]
	}
	each := func(roles *spec.Roles, of string, add func(*render.Role)) {
		for _, role := range roles.ByField() {
			if role.Name == "" {
				continue
			}
			r := part(role.Name, role.Field, Origin{"role " + role.Name, "", roles.At, roles.Field(role.Field)}, of == "")
			add(r)
			if of != "" {
				r.Of = strings.TrimPrefix(r.Of+", "+of, ", ")
			}
		}
	}
	each(&s.Roles, "", func(r *render.Role) {
		r.Inboxes, r.Outboxes, r.StreamTables = view.Inboxes, view.Outboxes, view.StreamTables
		r.Schemas = append(roleSchemas(s), spec.InternalSchema(s.Extension.Schema))
	})
	for n := range view.Inboxes {
		each(&s.Inboxes[n].Roles, "inbox "+view.Inboxes[n].Name, func(r *render.Role) {
			r.Inboxes = append(r.Inboxes, view.Inboxes[n])
			r.Schemas = schemasOfRole(s, *r)
		})
	}
	outbox := func(roles *spec.Roles, o render.Outbox) {
		each(roles, "outbox "+o.Name, func(r *render.Role) {
			r.Outboxes = append(r.Outboxes, o)
			r.Schemas = schemasOfRole(s, *r)
		})
	}
	for n, o := range view.EventOutboxes() {
		outbox(&s.Outboxes[n].Roles, o)
	}
	for n, t := range view.StreamTables {
		if options := s.StreamTables[p.Order[n]].Outbox; options != nil && t.Outbox != nil {
			outbox(&options.Roles, *t.Outbox)
		}
	}
	return all
}

// schemasOfRole lists the schemas that a role of some inboxes and outboxes may use.
func schemasOfRole(s *spec.Spec, r render.Role) []string {
	names := []string{s.Extension.Schema}
	for _, i := range r.Inboxes {
		if !slices.Contains(names, i.PendingView.Schema) {
			names = append(names, i.PendingView.Schema)
		}
	}
	return append(names, spec.InternalSchema(s.Extension.Schema))
}
