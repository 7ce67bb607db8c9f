package fixed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// citus is Citus. Its tables are distributed by aggregate id and colocated, so that claims and polls, the work on rows of the same aggregate and the marks stay on
// one node; shards are read by their own names where Citus locks no rows. Everything that writes goes by the distributed tables, as Citus commits in two phases only
// what it knows to be written.
var citus = target{
	server:   "Citus 11.1 or later",
	upNote:   "Run it once with psql on the coordinator, as superuser or as a role that may make roles: psql -v ON_ERROR_STOP=1 --single-transaction -f.",
	downNote: "Removes the tables with all their messages and events. Schemas and roles stay, because others may use them.\n-- Run it in one transaction, too.",
	before:   sqltext.SetOwnPath,
	after:    sqltext.PutPathBack,
	objects:  onCitus,
	more: func(view Extension) map[string]string {
		return map[string]string{"pg_cron": render.Must("citus/pg_cron.sql", view)}
	},
	reference: citusNotes,
}

// onCitus creates everything, in an order in which it can be created.
func onCitus(s *spec.Spec, view Extension) []object {
	all := citusSchemas(view)
	add := func(template string, data any) object {
		all = append(all, create(template, data))
		return all[len(all)-1]
	}
	run := func(template string, data any) { all = append(all, object{sql: render.Must(template+".sql", data)}) }
	var first *Name // all tables are colocated with it
	distribute := func(table Name) {
		run("citus/distribute", struct {
			Table Name
			With  *Name
		}{table, first})
		if first == nil {
			first = &table
		}
	}
	delegate := func(template string, data any, with Name) {
		run("citus/distribute_function", struct {
			Signature string
			With      Name
		}{add(template, data).signature(), with})
	}
	for _, i := range view.Inboxes {
		if i.Journal != nil {
			add("fixed/inbox_numbers", i)
		}
		add("citus/inbox_table", i)
		distribute(i.Table)
		all = append(all, indexes(i)...)
		all = append(all, messageViewsOf(i)...)
		if i.Stats {
			add("citus/inbox_stats_of", i)
			add("citus/inbox_stats_view", i)
		}
		delegate("citus/inbox_claim_at", i, i.Table)
	}
	for _, o := range view.Outboxes {
		add("citus/outbox_ids", o)
		add("citus/outbox_table", o)
		distribute(o.Table)
		add("citus/outbox_deliveries", o)
		distribute(o.Deliveries)
		add("citus/outbox_due", o)
		delegate("citus/outbox_poll_at", o, o.Deliveries)
	}
	all = append(all, shards(view)...)
	all = append(all, streamTables(view)...)
	add("citus/tick", view)
	if len(view.Inboxes) > 0 {
		for _, function := range []string{"inbox_receive", "inbox_receive_many", "inbox_claim", "pgt_aggregate", "inbox_mark_processed", "inbox_mark_processed_many", "inbox_mark_failed"} {
			add("citus/"+function, view)
		}
		add("fixed/inbox_pending", view)
		add("fixed/replay_inbox_messages", view)
	}
	if len(view.Outboxes) > 0 {
		run("citus/reference_table", add("citus/pgt_consumer_groups", view).signature())
		for _, function := range []string{
			"pgt_group", "outbox_publish", "create_consumer_group", "drop_consumer_group", "poll_outbox", "ack_rows", "release_rows", "reject_rows",
			"replay_dead_letters", "extend_lease", "consumer_lag", "pgt_consumer_dead_letters",
		} {
			add("citus/"+function, view)
		}
	}
	for _, group := range view.Groups {
		run("citus/consumer_group", struct {
			Extension
			Group spec.ConsumerGroup
		}{view, group})
	}
	return append(all, citusRoles(s, view)...)
}

// citusSchemas are the schemas, after what the transaction needs. An owner who is no superuser makes those with sequences beforehand.
func citusSchemas(view Extension) []object {
	sequential := object{sql: render.Must("citus/sequential.sql", view)}
	switch {
	case sequences(view) != "":
		return []object{sequential, {sql: render.Must("citus/schemas.sql", view)}}
	case len(view.StreamTables) > 0:
		return append([]object{sequential}, schemas("citus", view.AllSchemas())...)
	}
	return schemas("citus", view.AllSchemas())
}

// shards knows the shards of the tables of messages.
func shards(view Extension) []object {
	if len(view.Tables()) == 0 {
		return nil
	}
	table := create("citus/pgt_shards", view)
	return []object{
		table, {sql: render.Must("citus/reference_table.sql", table.signature())}, create("citus/pgt_find_shards", view),
		{sql: render.Must("citus/find_shards.sql", view)}, create("citus/pgt_shard_keys", view),
	}
}

// citusRoles grants the roles of a spec what they need. Functions run with the rights of their callers, and anybody may call them: Citus does not pass on GRANT ON
// FUNCTION where a schema needs quotes.
func citusRoles(s *spec.Spec, view Extension) []object {
	return roles("citus", view.AllSchemas(),
		role{s.Roles.Producer, "a producer: to store messages and to publish events", append(storing(view), []grant{
			{"insert", list(append(outboxTables(view), deliveries(view)...))}, {"usage", sequences(view)}, {"select", groupTable(view)},
		}...)},
		role{s.Roles.Consumer, "a consumer: to read, claim and mark messages, and to consume events", append(marking(view), []grant{
			{"select", list(messageViews(view))}, {"select", list(append(outboxTables(view), shardTable(view)...))},
			{"select, update, delete", list(deliveries(view))}, {"select", groupTable(view)},
		}...)},
		role{s.Roles.Monitor, "a monitor: statistics, but no message", []grant{{"select", list(append(statsViews(view), stateTable(view)...))}}})
}

// storing is what storing messages takes: ON CONFLICT reads the key, and Citus inserts the defaults of columns into shards.
func storing(view Extension) []grant {
	return ofInboxes(view, func(i Inbox) string {
		columns := "event_type, source, aggregate_id, payload, received_at, retry_count, trace_id, available_at"
		if i.EventID == "" {
			columns = "event_id, " + columns
		}
		if i.Journal != nil {
			columns += ", sequence_no, updated_at"
			if i.Journal.Tag == "" {
				columns += ", tag"
			}
		}
		return "insert (" + columns + "), select (event_id, aggregate_id)"
	})
}

// marking is what claims and marks take.
func marking(view Extension) []grant {
	return ofInboxes(view, func(i Inbox) string {
		columns := "processed_at, error, retry_count, available_at"
		if i.Journal != nil {
			columns += ", updated_at"
		}
		return "select, update (" + columns + ")"
	})
}

// ofInboxes grants something on each inbox.
func ofInboxes(view Extension, privileges func(Inbox) string) []grant {
	var all []grant
	for _, i := range view.Inboxes {
		all = append(all, grant{privileges(i), i.Table.String()})
	}
	return all
}

// deliveries are the tables of events that consumer groups await.
func deliveries(view Extension) []Name {
	var names []Name
	for _, o := range view.Outboxes {
		names = append(names, o.Deliveries)
	}
	return names
}

// groupTable is the table of consumer groups; empty without outboxes.
func groupTable(view Extension) string {
	if len(view.Outboxes) == 0 {
		return ""
	}
	return view.Schema() + ".pgt_consumer_groups"
}

// stateTable is the table of stream tables, if there are any.
func stateTable(view Extension) []Name {
	if len(view.StreamTables) == 0 {
		return nil
	}
	return []Name{{view.SchemaName, "pgt_stream_tables"}}
}

func shardTable(view Extension) []Name {
	if len(view.Tables()) == 0 {
		return nil
	}
	return []Name{{view.InternalName, "pgt_shards"}}
}

func citusNotes(view Extension) string {
	out := ""
	if len(view.Inboxes) > 0 {
		out += "\n## Exactly once\n\nClaim, work and mark in one transaction, and pass the `aggregate_id` of the claim to the mark, which then goes to one node. " +
			"If `inbox_mark_processed` returns false, roll back.\n"
	}
	return out + "\n## Background work\n\nThe procedure `tick` does it; the script `.pg_cron.sql` beside the migrations has pg_cron call it on the coordinator.\n"
}

// AllSchemas are the schemas of all objects, as SQL.
func (e Extension) AllSchemas() []string { return append(slices.Clone(e.Schemas), e.Internal()) }

// Internal is the schema of what users do not call, as SQL.
func (e Extension) Internal() string { return ident(e.InternalName) }

// Tables are the distributed tables that users know.
func (e Extension) Tables() []Name { return append(inboxTables(e), outboxTables(e)...) }

// TickEvery is how often pg_cron is to run background work: once a minute, or as often as the shortest schedule of a stream table says.
func (e Extension) TickEvery() string {
	least := time.Minute
	for _, t := range e.StreamTables {
		least = min(least, t.Schedule)
	}
	if least >= time.Minute {
		return "* * * * *"
	}
	return fmt.Sprintf("%d seconds", max(1, int(least.Seconds())))
}

// Work is what background work does, for its header.
func (e Extension) Work() string {
	works := []string{"retention", "dead letters", "shards that are new"}
	switch {
	case len(e.StreamTables) == 0:
		return strings.Join(works[:2], ", ") + ", and " + works[2]
	case len(e.Tables()) == 0:
		return "refreshes of stream tables"
	}
	return "refreshes of stream tables, " + strings.Join(works[:2], ", ") + ", and " + works[2]
}
