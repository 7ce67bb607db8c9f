package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestPlpgsqlCheck has zero findings over all that is generated, with every option on and off.
func TestPlpgsqlCheck(t *testing.T) {
	specs := map[string]string{
		"nothing": "inboxes: []",
		"alone":   "inboxes: [{name: a}]",
		"shop":    "inboxes: [{name: a, retry: {}}, {name: b}]",
		"bare":    "inboxes: [{name: a, dead_letter: false, stats: false, retention: {processed: 0s, dead_letter: 0s}}]",
		"ids":     "inboxes: [{name: a, event_id: payload->>'id', retry: {backoff: linear}}]",
		"slow":    "inboxes: [{name: a, schedule: 5m, max_retries: 1, retry: {backoff: constant, initial: 2h}, retention: {processed: 7d, dead_letter: 30d}}]",
		"moved":   "inboxes: [{name: a, schema: other}, {name: b, schema: third, event_id: md5(payload::text)}]",
		"events":  "outboxes: [{name: a}]\nconsumer_groups: [{name: g, outbox: a}]",
		"ordered": "outboxes: [{name: a, ordering_key: event_type, retention: 0s}, {name: b, idle_group: {after: 9d, policy: archive}}]\ninboxes: [{name: c}]",
		"urgent":  "inboxes: [{name: a, priority: {map: {x: 1}}}, {name: b, priority: {tiers: default}, event_id: payload->>'id', retry: none}]",
		"wires":   "inboxes: [{name: a, wire_format: cloudevents, event_id: payload->>'id'}, {name: b, wire_format: debezium}, {name: c, wire_format: debezium_outbox}, {name: d, wire_format: maxwell}]",
		"wire":    "inboxes: [{name: a, wire_format: maxwell}, {name: b}]",
		"tenants": "inboxes: [{name: a, tenant: t, dedup_window: 30d, retention: {processed: 72h}}, {name: b, tenant: t, event_id: payload->>'id', retry: none, dead_letter: false}, {name: c}]",
		"set":     "settings: {inbox_enabled: off, inbox_drain_batch_size: 1, inbox_processed_retention_hours: 2000000000}\ninboxes: [{name: a}]",
	}
	for name, inboxes := range specs {
		t.Run(name, func(t *testing.T) {
			extension := installed.Text(t, fmt.Sprintf("version: 1\nextension: {name: %s, version: 1.0.0}\n%s\n", name, inboxes))
			db := installed.DB(t, extension)
			pgtest.CheckPlpgsql(t, db, "pgtrickle")
			for range 3 {
				db.Exec(t, "call pgtrickle.tick()")
			}
			db.Exec(t, extension.Uninstall())
		})
	}
}

const checkedTables = `create table orders (id int primary key, customer int, amount numeric not null, at timestamptz, note text);
create table customers (id int primary key, region text, since date);
`

// TestPlpgsqlCheckStreams does the same for stream tables of each way in which they are kept, in all modes.
func TestPlpgsqlCheckStreams(t *testing.T) {
	queries := []string{
		"select id, note, amount from orders where amount > 0",
		"select customer, count(*) as n, sum(amount) as total, max(at) as last from orders group by customer",
		"select count(*) as n, min(amount) as least from orders",
		"select o.id, c.region, o.at::date as day from orders o join customers c on c.id = o.customer",
		"select c.region, sum(o.amount) as total, max(o.amount) as most from orders o join customers c on c.id = o.customer group by c.region",
		"select distinct region from customers",
		"select note from orders union all select region from customers",
	}
	schema := filepath.Join(t.TempDir(), "schema.sql")
	if err := os.WriteFile(schema, []byte(checkedTables), 0o644); err != nil {
		t.Fatal(err)
	}
	for mode, more := range map[string]string{
		"auto": "outbox: true", "differential": "outbox: true\n    check: 1d", "immediate": "check: 30s", "full": "outbox: true",
	} {
		t.Run(mode, func(t *testing.T) {
			text := fmt.Sprintf("version: 1\nextension: {name: checked, version: 1.0.0}\nschema: [%s]\nstream_tables:\n", schema)
			for n, query := range queries {
				text += fmt.Sprintf("  - name: t%d\n    refresh_mode: %s\n    %s\n    query: |\n      %s\n", n, mode, more, query)
			}
			extension := installed.Text(t, text)
			db := pgtest.DB(t)
			db.Exec(t, checkedTables+extension.Install(generator.Plain))
			db.Exec(t, extension.Fill())
			for _, found := range pgtest.Findings(t, db, "pgtrickle") {
				// Transition tables are planned for as many rows as there are, each time; EXECUTE is how.
				if found.Message != "immutable expression without parameters found" {
					t.Error(found)
				}
			}
		})
	}
}
