package docs

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (w *writer) settings() part {
	t := &table{Head: []string{"Setting", "Value", "Default", "What it does", "Session"}}
	for _, s := range w.SettingsInForce() {
		session := "yes"
		if s.Guarded {
			session = "no"
		}
		t.Rows = append(t.Rows, []text{{{Text: s.Name, Code: true, ID: anchor("setting", s.Name)}}, code(s.Value), code(s.Default), plain(s.About), plain(session)})
	}
	if len(t.Rows) == 0 {
		return part{}
	}
	return part{ID: "settings", Title: "Settings", Blocks: []block{
		paragraph(joined(say("Of this version; what is in effect is in "), linked("table", w.In("pgt_settings").String()), say(", which the owner updates. "+
			"Those marked “Session” can also be set for a session, role or database, as `pg_trickle.NAME`; the others decide what is deleted, and only the table counts for them."))),
		{Table: t},
	}}
}

// roles says what the roles of the spec may do with what is described here.
func (w *writer) roles() part {
	p := part{ID: "roles", Title: "Roles"}
	ids, shared := map[string]bool{}, false
	for _, o := range w.Objects {
		shared = shared || o.Kind == upgrade.Policy
		if o.Kind != "grant" || !strings.HasPrefix(o.Template, "extension/grant_") {
			continue
		}
		role := strings.TrimPrefix(o.Template, "extension/grant_")
		id := anchor("role", role)
		if ids[id] { // one of an inbox or outbox
			id = anchor("role", role+" "+o.Signature)
		}
		ids[id] = true
		var blocks []block
		for _, about := range headers(o.SQL) {
			blocks = append(blocks, paragraph(plain(about)))
		}
		p.Parts = append(p.Parts, part{ID: id, Kind: role, Title: o.Signature, IsName: true, Blocks: append(blocks, block{Table: w.rights(o)})})
	}
	p.Blocks = []block{paragraph(say("Sluice makes roles that cannot log in, and never drops them: grant them to those of your applications."))}
	if shared {
		p.Blocks = append(p.Blocks, paragraph(say("In tables and views that inboxes or outboxes share, a role of one of them sees the rows of that one: by row-level security, which "+
			"refuses roles that the spec does not name. The owner sees all.")))
	}
	if len(p.Parts) == 0 {
		p.Blocks = []block{paragraph(say("The spec names none, so everything belongs to the role that installed it, and other roles need grants. With `roles:` in the spec, a producer, a consumer and a monitor get exactly what each needs."))}
	}
	return p
}

// headers are the comments of a script, each in one line.
func headers(sql string) (all []string) {
	inside := false
	for _, line := range strings.Split(sql, "\n") {
		text, is := strings.CutPrefix(line, "-- ")
		switch {
		case is && inside:
			all[len(all)-1] += " " + text
		case is:
			all = append(all, text)
		}
		inside = is
	}
	return all
}

// rights are the grants to a role on what is described; the rest is for the functions that it calls.
func (w *writer) rights(o object) *table {
	grants, err := sqltext.DescribeGrants(o.SQL)
	if err != nil {
		panic("docs: " + err.Error()) // it was parsed before
	}
	t := &table{Head: []string{"On", "May"}}
	var order []string
	may := map[string][]string{}
	for _, g := range grants {
		if _, shown := w.place(g.Kind, g.Object); !shown {
			continue
		}
		if may[g.Object] == nil {
			order = append(order, g.Object)
		}
		for _, privilege := range g.Privileges {
			if !slices.Contains(may[g.Object], privilege) {
				may[g.Object] = append(may[g.Object], privilege)
			}
		}
	}
	for _, name := range order {
		id, _ := w.place("table", name)
		t.Rows = append(t.Rows, []text{{{Text: name, Code: true, Link: id}}, code(strings.Join(may[name], ", "))})
	}
	t.Rows = append(t.Rows, w.rightsOnMade(o.Signature)...)
	return t
}

// rightsOnMade are those that functions grant on what they make.
func (w *writer) rightsOnMade(role string) [][]text {
	var rows [][]text
	isRole := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return sqltext.Ident(name) == role })
	}
	for _, t := range w.StreamTables {
		if isRole(t.Grants) {
			rows = append(rows, []text{linked("stream-table", t.ID()), code("select")})
		}
	}
	for _, o := range w.givenOutboxes() {
		switch {
		case o.Event:
		case isRole(o.Consumers):
			rows = append(rows, []text{linked("outbox", o.Name), joined(code("select"), say(", with its delta rows and newest row"))})
		case isRole(o.Monitors):
			rows = append(rows, []text{linked("outbox", o.Name), code("select (id, created_at, inserted_count, deleted_count, is_claim_check)")})
		}
	}
	return rows
}

// place is where a relation is described.
func (w *writer) place(kind, name string) (id string, shown bool) {
	if kind != "table" {
		return "", false
	}
	for _, k := range []string{"table", "view"} {
		if id, shown = w.shown[k+" "+name]; shown {
			return id, true
		}
	}
	return "", false
}

// rest lists objects that users do not call, for readers who find a name in a log or a statistics view.
func (w *writer) rest() part {
	t := &table{Head: []string{"Object", "What it is"}}
	for _, o := range w.Objects {
		_, shown := w.shown[o.Kind+" "+o.Signature]
		if shown || o.Comment == "" || o.Kind == "index" || o.Kind == "schema" {
			continue
		}
		t.Rows = append(t.Rows, []text{joined(plain(o.Kind+" "), code(o.Signature)), plain(o.Comment)})
	}
	return part{ID: "internal", Title: "Behind it", Folded: true, Blocks: []block{
		paragraph(say("What the objects above are made of: nothing to call or change, but names that you may meet in logs and statistics.")),
		{Table: t},
	}}
}
