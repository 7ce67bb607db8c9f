package cockroach

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// grant is what a role may do with some objects of one kind.
type grant struct{ Privileges, On string }

// roles creates the roles of a spec and grants them what they need. Functions run with the rights of their callers; CockroachDB grants rights on whole tables
// only, so they are wider than on PostgreSQL.
func roles(s *spec.Spec, view Extension, made []object) []object {
	var all []object
	for _, role := range []struct {
		name, may string
		grants    []grant
	}{
		{s.Roles.Producer, "a producer: to store messages and to publish events", producer(view, made)},
		{s.Roles.Consumer, "a consumer: to read, claim and mark messages", consumer(view, made)},
		{s.Roles.Monitor, "a monitor: statistics, but no message", monitor(view)},
	} {
		if role.name == "" {
			continue
		}
		data := struct {
			Role, May, Schemas string
			Grants             []grant
		}{ident(role.name), role.may, strings.Join(view.Schemas, ", "), slices.DeleteFunc(role.grants, func(g grant) bool { return g.On == "" })}
		all = append(all, object{sql: render.Must("cockroachdb/role.sql", data)}, object{sql: render.Must("cockroachdb/grants.sql", data)})
	}
	return all
}

// producer stores messages and publishes events. ON CONFLICT and RETURNING read the table.
func producer(view Extension, made []object) []grant {
	return []grant{{"insert, select", list(append(inboxTables(view), outboxTables(view)...))}, {"execute", functions(made, "inbox_receive", "outbox_publish")}}
}

// consumer claims and marks messages.
func consumer(view Extension, made []object) []grant {
	views := func(i Inbox) []Name { return []Name{i.PendingView, i.DLQView}[:count(i.DeadLetter)+1] }
	return []grant{
		{"select, update", list(inboxTables(view))},
		{"select", list(each(view, views))},
		{"execute", functions(made, "inbox_pending", "inbox_claim", "inbox_mark_processed", "inbox_mark_failed", "replay_inbox_messages")},
	}
}

// monitor reads statistics, which views read for it: no message and no payload.
func monitor(view Extension) []grant {
	return []grant{{"select", list(each(view, func(i Inbox) []Name { return []Name{i.StatsView}[:count(i.Stats)] }))}}
}

func inboxTables(view Extension) []Name {
	return each(view, func(i Inbox) []Name { return []Name{i.Table} })
}

func outboxTables(view Extension) []Name {
	var names []Name
	for _, o := range view.Outboxes {
		names = append(names, o.Table)
	}
	return names
}

func each(view Extension, of func(Inbox) []Name) []Name {
	var names []Name
	for _, i := range view.Inboxes {
		names = append(names, of(i)...)
	}
	return names
}

func count(given bool) int {
	if given {
		return 1
	}
	return 0
}

// functions lists those of the names given that exist, as GRANT wants them.
func functions(made []object, names ...string) string {
	var signatures []string
	for _, o := range made {
		if o.kind == "function" && slices.Contains(names, o.name.Name) {
			signatures = append(signatures, o.signature())
		}
	}
	if len(signatures) == 0 {
		return ""
	}
	return "function " + strings.Join(signatures, ", ")
}
