package live

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// fromSQLVersions are versions of an extension with inboxes that create_inbox makes: as installed; with roles, which their functions and views get rights for;
// with one of them in the spec; and without imperative functions.
var fromSQLVersions = []string{
	"extension: {name: sluice_created, version: 1.0.0, schema: box, imperative: true}\ninboxes: [{name: payments}]\n",
	"extension: {name: sluice_created, version: 1.1.0, schema: box, imperative: true}\nroles: {consumer: created_worker}\ninboxes: [{name: payments}]\n",
	"extension: {name: sluice_created, version: 1.2.0, schema: box, imperative: true}\nroles: {consumer: created_worker}\n" +
		createdInSpec,
	"extension: {name: sluice_created, version: 1.3.0, schema: box}\nroles: {consumer: created_worker}\n" +
		createdInSpec,
}

const createdInSpec = "schema: [schema.sql]\ninboxes: [{name: payments}, {name: letters, schema: app, max_retries: 2, retention: {processed: 0s}},\n" +
	"  {name: turns, ordering: {sequence: \"the 'number\"}}, {name: ranks, priority: {column: \"the 'rank\", tiers: default}},\n" +
	"  {name: parts, table: app.parts, columns: {id: [id, came], received_at: came}, ordering: {aggregate: event_type, sequence: number}},\n" +
	"  {name: orders, table: app.orders, max_retries: 2, columns: {id: no, received_at: got, available_at: available_at}}]\n"

// trackedDDL is tables of an application: over one of them the spec puts an inbox later, too.
const trackedDDL = `create schema if not exists app;
create table app.orders (
    no bigint primary key, event_type varchar(20) not null, payload jsonb not null, got timestamptz not null default clock_timestamp(), processed_at timestamptz,
    error text, retry_count integer not null default 0, available_at timestamptz, note text
);
create table app."odd ""t'able" (
    "the 'id" uuid, event_type text not null, payload jsonb not null, received_at timestamptz not null default clock_timestamp(), processed_at timestamptz,
    error text, retry_count integer not null default 0, "/" smallint default 7, primary key ("/", "the 'id")
);
create table app.parts (
    id text not null, came timestamptz not null default '2026-06-01', event_type text not null, payload jsonb not null default '{}', processed_at timestamptz,
    error text, retry_count integer not null default 0, number bigint, primary key (id, came)
) partition by range (came);
create table app.parts_old partition of app.parts for values from ('2025-01-01') to ('2026-01-01');
create table app.parts_new partition of app.parts for values from ('2026-01-01') to ('2027-01-01');
`

// ofVersion is a version of the extension.
func ofVersion(t *testing.T, text string, released []upgrade.Manifest) *generator.Extension {
	ddl := ""
	if strings.Contains(text, "schema.sql") {
		ddl = trackedDDL
	}
	return installed.OverReleased(t, "version: 1\n"+text, ddl, released...)
}

// fromSQLStates must stay the same, whatever is upgraded, dumped or restored.
var fromSQLStates = []string{
	"select l::text from app.letters l", "select p::text from app.letters_pending p", "select d::text from app.letters_dlq d",
	"select concat_ws(' ', event_type, pending, processed, dead_letter) from app.letters_stats", "select event_id from box.inbox_pending('letters', 1000)",
	"select concat_ws(' ', inbox_name, pending_count, dlq_count, processed_count) from box.inbox_status()",
	"select box.inbox_status('letters') ->> 'paused'",
	"select concat_ws(' ', tgname, tgenabled) from pg_trigger where tgrelid = 'app.letters'::regclass",
	"select pg_get_indexdef(indexrelid) from pg_index where indrelid = 'app.letters'::regclass",
	"select task from box_internal.pgt_tasks",
	"select o::text from box.\"Odd \"\"one\" o", "select event_id from box.inbox_pending('Odd \"one')",
	"select o::text from app.orders o", "select p::text from box.orders_pending p", "select d::text from box.orders_dlq d",
	"select concat_ws(' ', event_type, pending, processed, dead_letter) from box.orders_stats", "select event_id from box.inbox_pending('orders', 1000)",
	"select pg_get_triggerdef(oid) || tgenabled::text from pg_trigger where tgrelid = 'app.orders'::regclass",
	"select pg_get_indexdef(indexrelid) || coalesce(obj_description(indexrelid, 'pg_class'), '') from pg_index where indrelid = 'app.orders'::regclass",
	"select p::text from app.parts p", "select p::text from box.parts_pending p", "select concat_ws(' ', event_type, pending, processed, dead_letter) from box.parts_stats",
	"select concat_ws(' ', event_id, sequence) from box.inbox_pending('parts')", "select concat_ws(' ', aggregate_key, sequence, event_id) from box_internal.parts_backlog",
	"select concat_ws(' ', tgrelid::regclass, tgname, tgenabled) from pg_trigger where tgrelid::regclass::text ~ 'app.parts' and not tgisinternal",
	"select pg_get_indexdef(indexrelid) from pg_index where indrelid::regclass::text ~ 'app.parts'",
	"select o::text from app.\"odd \"\"t'able\" o", "select event_id from box.inbox_pending('Odd \"tracked')",
	"select pg_get_triggerdef(oid) || tgenabled::text from pg_trigger where tgrelid = 'app.\"odd \"\"t''able\"'::regclass",
	"select t::text from box.turns t", "select event_id from box.next_turns", "select n::text from box.\"next_Odd \"\"tracked\" n",
	"select concat_ws(' ', no, event_id, sequence) from box.inbox_pending('turns') with ordinality p (event_id, et, s, a, p, r, c, t, sequence, prio, no)",
	"select concat_ws(' ', aggregate_id, missing_from, missing_to) from box.inbox_ordering_gaps('turns')", "select o::text from box.pgt_inbox_ordering_config o",
	"select concat_ws(' ', inbox_name, aggregate_key, max(last_sequence)) from box_internal.pgt_inbox_sequences group by inbox_name, aggregate_key",
	"select concat_ws(' ', aggregate_key, sequence, event_id) from box_internal.turns_backlog",
	"select concat_ws(' ', tgname, tgenabled) from pg_trigger where tgrelid = 'box.turns'::regclass",
	"select r::text from box.ranks r", "select p::text from box.pending_ranks_normal p", "select b.event_id || ' ' || b.level from box_internal.ranks_by_priority b",
	"select concat_ws(' ', no, event_id, priority) from box.inbox_pending('ranks') with ordinality p (event_id, et, s, a, p, r, c, t, sequence, priority, no)",
	"select p::text from box.pgt_inbox_priority_config p", "select concat_ws(' ', tgname, tgenabled) from pg_trigger where tgrelid = 'box.ranks'::regclass",
	"select b.event_id || ' ' || b.level from box_internal.\"Odd \"\"one_by_priority\" b", "select concat_ws(' ', event_id, priority) from box.inbox_pending('Odd \"one')",
}

// createdVersions are the first versions, and their manifests.
func createdVersions(t *testing.T, count int) (versions []*generator.Extension, released []upgrade.Manifest) {
	for _, text := range fromSQLVersions[:count] {
		e := ofVersion(t, text, released)
		versions, released = append(versions, e), append(released, e.Manifest())
	}
	return versions, released
}

func statesOf(t *testing.T, conn *pgx.Conn, states []string) (all []string) {
	t.Helper()
	for _, sql := range states {
		all = append(all, sql+"\n"+strings.Join(pgtest.Column[string](t, conn, "select x from ("+sql+") q (x) order by x collate \"C\""), "\n"))
	}
	return all
}

func sameStates(t *testing.T, what string, want, got []string) {
	t.Helper()
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("%s\nbefore:\n%.2000s\nafter:\n%.2000s", what, want[n], got[n])
		}
	}
}

// fill creates inboxes and has messages in every state.
func fillCreated(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		trackedDDL,
		"insert into app.orders (no, event_type, payload, processed_at) select i, 't' || i % 3, '{}', case when i = 5 then now() end from generate_series(1, 30) i",
		"select box.enable_inbox_tracking('orders', 'app.orders', 'no', p_received_at_column => 'got', p_max_retries => 2)",
		`select box.enable_inbox_tracking('Odd "tracked', 'app."odd ""t''able"', p_id_columns => array['the ''id', '/'])`,
		"insert into app.parts (id, came, event_type, number) select i, case when i < 4 then '2025-06-01'::timestamptz else '2026-06-01' end, 't' || i % 2, (i + 1) / 2 from generate_series(1, 10) i",
		"select box.enable_inbox_tracking('parts', 'app.parts', p_id_columns => array['id', 'came'], p_received_at_column => 'came'), box.enable_inbox_ordering('parts', 'event_type', 'number')",
		"select box.inbox_mark_processed('parts', event_id) from box.inbox_claim('parts', 2)", "update app.parts_new set retry_count = 3 where id = '9'",
		"select box.inbox_mark_processed('orders', event_id) from box.inbox_claim('orders', 7)",
		"select box.inbox_mark_failed('orders', '20', 'x'), box.inbox_mark_failed('orders', '20', 'x'), box.inbox_mark_failed('orders', '21', 'x')",
		"select box.inbox_receive('Odd \"tracked', '00000000-0000-0000-0000-00000000000' || i || '/7', 't', '{}') from generate_series(1, 4) i",
		"select box.create_inbox('letters', 'app', 2, p_retention_hours => 0), box.create_inbox('Odd \"one')",
		"select box.inbox_receive('letters', i, 't' || i % 3, '{}') from generate_series(1, 40) i",
		"select box.inbox_receive('Odd \"one', i, 't', '{}'), box.inbox_receive('payments', i, 't', '{}') from generate_series(1, 3) i",
		"select box.inbox_mark_processed('letters', event_id) from box.inbox_claim('letters', 10)",
		"select box.inbox_mark_failed('letters', '20', 'x'), box.inbox_mark_failed('letters', '20', 'x'), box.inbox_mark_failed('letters', '21', 'x')",
		"update app.letters set available_at = '2100-01-01' where event_id in ('20', '21')", // else a slow machine claims 21 again
		"select box.create_inbox('turns', p_retention_hours => 1)", "alter table box.turns add column \"the 'number\" bigint",
		"select box.inbox_receive('turns', i, 't', '{}', p_aggregate_id => 'A' || i % 2) from generate_series(1, 4) i",
		"update box.turns set \"the 'number\" = event_id::bigint, received_at = now() - interval '3 days'",
		`select box.enable_inbox_ordering('turns', p_sequence_column => 'the ''number'), box.enable_inbox_ordering('Odd "tracked', 'event_type')`,
		"select box.inbox_mark_processed('turns', event_id) from box.inbox_claim('turns', 1)",
		"select box.create_inbox('ranks')", "alter table box.ranks add column \"the 'rank\" integer",
		"select box.enable_inbox_priority('ranks', 'the ''rank'), box.enable_inbox_priority('Odd \"one', 'event_type', '{\"it''s\": 1, \"t\": 2}')",
		"select box.inbox_receive('ranks', i, 't', '{}', p_priority => nullif(i, 9)) from generate_series(1, 12) i",
		"select box.inbox_mark_processed('ranks', event_id) from box.inbox_claim('ranks', 2)",
		"update box.turns set processed_at = now() - interval '2 days' where processed_at is not null", "update box_internal.pgt_tasks set last_run_at = '-infinity' where task ~ 'turns'",
		"call box.tick()", "call box.tick()",
		"select box.inbox_receive('turns', i, 't', '{}', p_aggregate_id => 'A' || i % 2, p_sequence => i::text) from generate_series(7, 9) i",
		"select box.inbox_mark_processed('letters', event_id) from box.inbox_claim('letters', 3)",
		"delete from app.letters where event_id = '1'", "delete from app.orders where no = 9", "update app.orders set available_at = '2100-01-01' where no = 21",
		"select box.pause_inbox('orders')", "select box.pause_inbox('letters')",
	} {
		run(t, conn, sql)
	}
}

// TestCreatedInboxesUpgraded upgrades an extension with inboxes that create_inbox made, in both flavours: they get the new functions and keep everything, the spec
// takes one over with all that it has, and nothing is lost without being asked for.
func TestCreatedInboxesUpgraded(t *testing.T) {
	versions, released := createdVersions(t, len(fromSQLVersions))
	install := installed.Relocate(t, pgtest.Server(t).Install)
	for n, e := range versions {
		installed.PutFiles(t, install, e, released[:n]...)
	}
	server := installed.Start(t, install)
	run(t, pgtest.Connect(t, server.DSN("postgres")), "create role created_worker; grant created_worker to "+pgtest.Owner)
	for _, flavour := range pgtest.ShortOrLong([]generator.Flavour{generator.AsExtension}, []generator.Flavour{generator.Plain, generator.AsExtension}) {
		t.Run(string(flavour), func(t *testing.T) {
			conn := create(t, server, "created_"+string(flavour))
			before := leftovers(t, conn)
			to, must := applying(t, conn, flavour, versions, released)
			must(0)
			fillCreated(t, conn)
			want := statesOf(t, conn, fromSQLStates)
			must(1)
			sameStates(t, "after an upgrade of their functions", want, statesOf(t, conn, fromSQLStates))
			run(t, conn, "set role created_worker; select event_id from box.inbox_claim('Odd \"one', 1); reset role")

			err := to(3, commandtest.ApplyOptions{})
			if text := fmt.Sprint(err); !strings.Contains(text, "has inboxes that create_inbox or enable_inbox_tracking made") {
				t.Errorf("to a version without imperative functions: %v", err)
			}
			run(t, conn, "alter table app.letters add note text")
			if text := fmt.Sprint(to(2, commandtest.ApplyOptions{})); !strings.Contains(text, "inbox already exists: letters") {
				t.Errorf("to a spec with another table: %s", text)
			}
			run(t, conn, "alter table app.letters drop note")
			sameStates(t, "after refusals", want, statesOf(t, conn, fromSQLStates))

			must(2)
			sameStates(t, "after the spec took one over", want, statesOf(t, conn, fromSQLStates))
			if made := pgtest.Column[string](t, conn, "select inbox_name from box.pgt_inbox_config where is_imperative"); len(made) != 2 {
				t.Errorf("still created: %q", made)
			}
			run(t, conn, "select box.resume_inbox('letters'), box.resume_inbox('orders')")
			run(t, conn, "call box.tick()")
			if n := pgtest.One[int](t, conn, "select count(*) from box.inbox_claim('letters', 100)"); n != 25 {
				t.Errorf("%d letters can be claimed", n)
			}
			if n := pgtest.One[int](t, conn, "select count(*) from box.inbox_claim('orders', 100)"); n != 19 {
				t.Errorf("%d orders can be claimed", n)
			}
			_, done, err := commandtest.Uninstall(t.Context(), conn, versions[2], false)
			if text := fmt.Sprint(err); done || !strings.Contains(text, `3 rows of box."Odd ""one"`) {
				t.Errorf("uninstalled: %t, %s", done, text)
			}
			run(t, conn, `select box.drop_inbox('Odd "one', p_cascade => true), box.drop_inbox('Odd "tracked', p_cascade => true)`)
			must(3)
			if kept := pgtest.One[int](t, conn, "select count(*) from box.pgt_inbox_config where is_imperative"); kept > 0 {
				t.Errorf("a dump would keep %d inboxes", kept)
			}
			if _, done, err = commandtest.Uninstall(t.Context(), conn, versions[3], true); err != nil || !done {
				t.Fatalf("uninstalled: %t, %v", done, err)
			}
			if kept := pgtest.Rows(t, conn, "select (select count(*) from app.orders), (select count(*) from app.\"odd \"\"t'able\"), (select count(*) from app.parts)"); fmt.Sprint(kept) != "[[29 4 10]]" {
				t.Errorf("kept of tables that were there: %v", kept)
			}
			run(t, conn, "drop table app.parts, app.orders, app.\"odd \"\"t'able\"; drop schema if exists app")
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}

			if !pgtest.Long() {
				return
			}
			must(0)
			fillCreated(t, conn)
			if _, done, err = commandtest.Uninstall(t.Context(), conn, versions[0], true); err != nil || !done {
				t.Fatalf("uninstalled: %t, %v", done, err)
			}
			if kept := pgtest.Rows(t, conn, "select (select count(*) from app.orders), (select count(*) from app.\"odd \"\"t'able\"), (select count(*) from app.parts)"); fmt.Sprint(kept) != "[[29 4 10]]" {
				t.Errorf("kept of tables that were there: %v", kept)
			}
			run(t, conn, "drop table app.parts, app.orders, app.\"odd \"\"t'able\"; drop schema if exists app")
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}
		})
	}
}

// TestCreatedInboxesDumped takes inboxes that create_inbox made into another cluster, in both flavours.
func TestCreatedInboxesDumped(t *testing.T) {
	if missing := pgtest.Server(t).Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	extension := installed.Text(t, "version: 1\n"+fromSQLVersions[0])
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, extension)
	from, to := installed.Start(t, install), installed.Start(t, install)
	for _, flavour := range pgtest.ShortOrLong([]generator.Flavour{generator.AsExtension}, []generator.Flavour{generator.Plain, generator.AsExtension}) {
		t.Run(string(flavour), func(t *testing.T) {
			name := "created_" + string(flavour)
			source := create(t, from, name)
			run(t, source, scriptOf(extension, flavour))
			fillCreated(t, source)
			run(t, source, "call box.tick()")
			want := statesOf(t, source, fromSQLStates)
			create(t, to, name).Close(t.Context())
			restore(t, from, to, name, "custom")
			target := pgtest.Connect(t, to.DSN(name, "user="+pgtest.Owner))
			run(t, target, "select box.inbox_receive('letters', 'new', 't', '{}')") // before anything has looked
			run(t, target, "call box.tick()")
			run(t, target, "delete from app.letters where event_id = 'new'; select box.resume_inbox('letters'), box.pause_inbox('letters')")
			sameStates(t, "after a restore", want, statesOf(t, target, fromSQLStates))
			run(t, target, "select box.create_inbox('another'), box.drop_inbox('letters', p_cascade => true), box.inbox_receive('another', 1, 't', '{}')")
			if flavour == generator.AsExtension {
				run(t, target, "drop extension sluice_created cascade")
				on := pgtest.Column[string](t, target, "select tgname::text from pg_trigger where tgrelid = 'app.orders'::regclass union all select indexrelid::regclass::text from pg_index where indrelid = 'app.orders'::regclass")
				if fmt.Sprint(on) != "[app.orders_pkey]" {
					t.Errorf("DROP EXTENSION leaves on a table that was there: %q", on)
				}
			}
		})
	}
}

// TestTrackedElsewhere has a spec bring an inbox over a table where functions made one of its name over another table, or one of another name over its table:
// both are refused, and nothing changes.
func TestTrackedElsewhere(t *testing.T) {
	versions, released := createdVersions(t, 3)
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("created_worker"))
	defer db.SuperExec(t, "drop owned by created_worker; drop role created_worker")
	conn := db.Connect(t)
	run(t, conn, versions[0].Install(generator.Plain))
	run(t, conn, trackedDDL+"insert into app.orders (no, event_type, payload) values (1, 't', '{}'); create table app.others (like app.orders including all)")
	for _, elsewhere := range []struct{ name, table string }{{"orders", "app.others"}, {"other", "app.orders"}} {
		if _, err := conn.Exec(t.Context(), "select box.enable_inbox_tracking($1, $2, 'no', p_received_at_column => 'got')", elsewhere.name, elsewhere.table); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		before := leftovers(t, conn)
		_, err := commandtest.Apply(t.Context(), conn, versions[2], commandtest.ApplyOptions{Released: released})
		if text := fmt.Sprint(err); !strings.Contains(text, "inbox already exists: orders") {
			t.Errorf("%s over %s: %s", elsewhere.name, elsewhere.table, text)
		}
		if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("changed: %q", after)
		}
		run(t, conn, "select box.drop_inbox("+literal(elsewhere.name)+")")
	}
	if _, err := commandtest.Apply(t.Context(), conn, versions[2], commandtest.ApplyOptions{Released: released}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	if n := pgtest.One[int](t, conn, "select count(*) from box.inbox_claim('orders', 10)"); n != 1 {
		t.Errorf("%d claimed", n)
	}
}

// applying applies a version by its number: to returns what is wrong; must fails the test, and has a second apply change nothing.
func applying(t *testing.T, conn *pgx.Conn, flavour generator.Flavour, versions []*generator.Extension, released []upgrade.Manifest) (
	to func(n int, options commandtest.ApplyOptions) error, must func(n int),
) {
	to = func(n int, options commandtest.ApplyOptions) error {
		t.Helper()
		options.Flavour, options.Released = flavour, released
		_, err := commandtest.Apply(t.Context(), conn, versions[n], options)
		return err
	}
	return to, func(n int) {
		t.Helper()
		if err := to(n, commandtest.ApplyOptions{}); err != nil {
			t.Fatalf("to %s: %s", versions[n].Version, pgtest.ErrorText(err))
		}
		if did, err := commandtest.Apply(t.Context(), conn, versions[n], commandtest.ApplyOptions{Flavour: flavour, Released: released}); err != nil || did.Changed || len(did.Left) > 0 {
			t.Fatalf("a second apply of %s: %v, repaired %v, left %v, %v", versions[n].Version, did.Changed, did.Repaired, did.Left, err)
		}
	}
}
