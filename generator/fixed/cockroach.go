package fixed

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// cockroach is CockroachDB. Its SQL keeps to what CockroachDB 25.2 and PostgreSQL both understand, but for row-level TTL, roles, unique_rowid() and changefeeds.
var cockroach = target{
	server: "CockroachDB 25.2 or later",
	upNote: "Run it once, each statement in a transaction of its own, as CockroachDB wants schema changes: cockroach sql --file does so. If it stops halfway, run\n" +
		"-- the .down.sql script, which removes the objects that exist, and run this script again.",
	downNote:  "Removes the tables with all their messages and events. Schemas and roles stay, because others may use them.",
	objects:   onCockroach,
	more:      changefeeds,
	reference: cockroachNotes,
}

// onCockroach creates everything, in an order in which it can be created.
func onCockroach(s *spec.Spec, view Extension) []object {
	all := schemas("cockroachdb", view.Schemas)
	add := func(template string, data any) { all = append(all, create(template, data)) }
	for _, i := range view.Inboxes {
		if i.Journal != nil {
			add("fixed/inbox_numbers", i)
		}
		add("cockroachdb/inbox_table", i)
		all = append(all, indexes(i)...)
		all = append(all, messageViewsOf(i)...)
		if i.Stats {
			add("cockroachdb/inbox_stats_view", i)
		}
	}
	for _, o := range view.Outboxes {
		add("cockroachdb/outbox_table", o)
	}
	if len(view.Inboxes) > 0 {
		add("cockroachdb/inbox_receive", view)
		add("fixed/inbox_pending", view)
		for _, function := range []string{"inbox_claim", "inbox_mark_processed", "inbox_mark_failed"} {
			add("cockroachdb/"+function, view)
		}
		add("fixed/replay_inbox_messages", view)
	}
	if len(view.Outboxes) > 0 {
		add("cockroachdb/outbox_publish", view)
	}
	return append(all, cockroachRoles(s, view, all)...)
}

// cockroachRoles grants the roles of a spec what they need. Functions run with the rights of their callers; CockroachDB grants rights on whole tables only, so they
// are wider than on PostgreSQL.
func cockroachRoles(s *spec.Spec, view Extension, made []object) []object {
	return roles("cockroachdb", view.Schemas,
		role{s.Roles.Producer, "a producer: to store messages and to publish events", []grant{ // ON CONFLICT and RETURNING read the table
			{"insert, select", list(append(inboxTables(view), outboxTables(view)...))}, {"usage", sequences(view)},
			{"execute", functions(made, "inbox_receive", "outbox_publish")},
		}},
		role{s.Roles.Consumer, "a consumer: to read, claim and mark messages", []grant{
			{"select, update", list(inboxTables(view))}, {"select", list(messageViews(view))},
			{"execute", functions(made, "inbox_pending", "inbox_claim", "inbox_mark_processed", "inbox_mark_failed", "replay_inbox_messages")},
		}},
		role{s.Roles.Monitor, "a monitor: statistics, but no message", []grant{{"select", list(statsViews(view))}}}) // no payload
}

func changefeeds(view Extension) map[string]string {
	if !view.Feeds() {
		return nil
	}
	return map[string]string{"changefeeds": render.Must("cockroachdb/changefeeds.sql", view)}
}

func cockroachNotes(view Extension) string {
	out := ""
	if len(view.Inboxes) > 0 {
		out += "\n## Exactly once\n\nClaim, work and mark in one transaction. If it ends with error 40001, which CockroachDB asks clients to retry, repeat all of it from the claim " +
			"on: a claim of an earlier attempt is void. If `inbox_mark_processed` returns false, roll back.\n"
	}
	if view.Feeds() {
		out += fmt.Sprintf("\n## Changefeeds\n\n`%s_%s.changefeeds.sql` beside the migrations delivers to the external connection `%s`, at least once.\n", view.Name, view.Version, view.Name)
	}
	return out
}

// Feeds reports whether anything is read by a changefeed.
func (e Extension) Feeds() bool {
	return len(e.Outboxes) > 0 || slices.ContainsFunc(e.Inboxes, func(i Inbox) bool { return i.ChangeFeed })
}

// Connection is the external connection of that name, as SQL.
func (e Extension) Connection() string { return ident(e.Name) }

// Sink is the URI of the external connection that changefeeds write to.
func (e Extension) Sink() string { return sqltext.Literal("external://" + e.Name) }
