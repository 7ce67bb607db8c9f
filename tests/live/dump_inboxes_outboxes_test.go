package live

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// formats are those in which a dump of a flavour is tried.
func formats(of generator.Flavour) []string {
	all := []string{"plain", "custom"}
	if of == generator.Plain {
		return pgtest.ShortOrLong(all[:1], all)
	}
	return pgtest.ShortOrLong(all[1:], all)
}

// TestDumpAndRestore takes both flavours through both formats of pg_dump into another cluster, as the plain owner.
func TestDumpAndRestore(t *testing.T) {
	if missing := pgtest.Server(t).Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	extension := installed.Text(t, dumpSpec)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, extension)
	from, to := installed.Start(t, install), installed.Start(t, install)
	for _, server := range []*commandtest.Server{from, to} {
		run(t, pgtest.Connect(t, server.DSN("postgres")), "create role dump_consumer")
	}
	for _, flavour := range []generator.Flavour{generator.Plain, generator.AsExtension} {
		for _, format := range formats(flavour) {
			t.Run(fmt.Sprintf("%s_%s", flavour, format), func(t *testing.T) {
				name := strings.ReplaceAll(t.Name()[len("TestDumpAndRestore/"):], "-", "_")
				source := create(t, from, name)
				for _, sql := range append([]string{scriptOf(extension, flavour)}, dumpFill...) {
					run(t, source, sql)
				}
				want := state(t, source)
				create(t, to, name)
				restore(t, from, to, name, format)
				target := pgtest.Connect(t, to.DSN(name, "user="+pgtest.Owner))
				alerted(t, target, to.DSN(name, "user="+pgtest.Owner))
				compareStates(t, want, state(t, target))
				goOn(t, target)
				dropAll(t, target, extension, flavour)
			})
		}
	}
}

const dumpSpec = `
version: 1
extension: {name: sluice_dump_test, version: 1.2.3, schema: app}
inboxes:
  - {name: orders, roles: {consumer: dump_consumer}, retry: {backoff: constant, initial: 1h}, retention: {processed: 1h, dead_letter: 9h}, dedup_window: 7d}
  - {name: Odd "one", schema: Other one, event_id: payload->>'id', change_feed: true, journal: true}
  - {name: "Wire's", wire_format: debezium}
  - {name: sorted, ordering: {sequence: number}}
  - {name: urgent, priority: {tiers: default}}
  - {name: "Ten'ants", tenant: of whom, dedup_window: 7d, roles: {consumer: dump_consumer}}
outboxes:
  - {name: feed, roles: {consumer: dump_consumer}}
  - {name: keyed, ordering_key: aggregate_id}
  - {name: parts, ordering_key: aggregate_id, segment_rows: 1000}
consumer_groups:
  - {name: of_spec, outbox: keyed, auto_offset_reset: earliest}
`

// dumpFill leaves rows in every table, some folded and some not, a paused inbox and a changed setting.
var dumpFill = []string{
	"set application_name = 'fill'",
	`insert into app.orders (event_id, event_type, payload, received_at, processed_at, retry_count, error, aggregate_id, source, trace_id)
select 'm' || i, 't' || i % 3, jsonb_build_object('i', i), now() - i * interval '1 min', case i % 5 when 0 then now() - i * interval '30 s' end, i % 5, case when i % 5 > 0 then 'E' || i end, 'a' || i % 7, 's', 'tr'
from generate_series(1, 500) i`,
	`insert into "Other one"."Odd ""one""" (event_type, payload) select 't', jsonb_build_object('id', 'x' || i) from generate_series(1, 50) i`,
	"insert into app.outbox_parts (event_type, aggregate_id, payload) select 't', i % 7, to_jsonb(i) from generate_series(1, 2500) i", // in two segments, and beyond
	`insert into app."Ten'ants" ("of whom", message_id, event_type, payload, received_at, processed_at) select 't"' || i % 3, 'm/' || i / 3, 't', '{}', now() - interval '5 d', case when i < 8 then now() - interval '4 d' end from generate_series(1, 20) i`,
	"select app.inbox_mark_failed('Ten''ants', 't\"1/m/6', 'no') from generate_series(1, 3)",
	"update app_internal.pgt_tasks set last_run_at = '-infinity'",
	"call app.tick()", "call app.tick()", "call app.tick()",
	"select app.inbox_mark_failed('orders', event_id, 'later') from app.inbox_claim('orders', 5)",
	"select app.inbox_mark_processed('orders', event_id) from app.inbox_claim('orders', 50)",
	`select app.inbox_receive_wire('Wire''s', d, '{"id": 1}', '{"h": "1"}', t, 2, 3) from (values ('none', 't'), ('{"op": "c", "source": {"table": "x"}}', null)) d (d, t)`,
	"call app.tick()", // which alerts the dead letters of orders, and not the next one
	`select app.inbox_mark_failed('Odd "one"', 'x1', 'no') from generate_series(1, 3)`,
	// Some whose ids are all that is left, and one whose id is noted.
	"insert into app.orders (event_id, event_type, payload, received_at, processed_at) select 'past' || i, 't', '{}', now() - interval '5 h', now() - interval '4 h' from generate_series(1, 5) i",
	"select app_internal.pgt_inbox_drain('orders', 1000)", "select app_internal.pgt_inbox_drain('orders', 1000)", "select app_internal.pgt_inbox_drain('orders', 1000)",
	"insert into app_internal.orders_past_ids values ('m1', now())",
	"insert into app_internal.pgt_inbox_retiring (inbox_name, event_ids, last_at, last_id, waits_for) values ('orders', '{m1}', '-infinity', '', '{none}')",
	"select app.pause_inbox('orders')",
	"update app.pgt_settings set value = '17' where name = 'inbox_dlq_alert_max_per_refresh'",
	"select app.inbox_receive('orders', 'm1', 't', '{}')",
	// A group with a lease that is open, one partly committed, one that ran out, a gap and a dead letter; and one that is paused.
	"select app.create_consumer_group('work', 'feed', 'earliest', 7), app.create_consumer_group('still', 'feed'), app.pause_group('still')",
	"select app.outbox_publish(o, 't', '{}', 'k' || i % 3, '{\"h\": 1}') from generate_series(1, 50) i, unnest(array['feed', 'keyed']) o",
	"delete from app.outbox_feed where id = 15", // as if it were rolled back; the gap that it leaves waits for a transaction far ahead
	"select from app.poll_outbox('work', 'a', 5, 100000)", "select from app.poll_outbox('work', 'b', 5, 100000)",
	"select from app.poll_outbox('work', 'c', 10, 100000)", "select app.commit_offset('work', 'b', 7), app.reject_rows('work', 'a', array[3], 'bad')",
	"insert into app_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids, xids, until) select l.group_no, l.no + 1, l.cur, l.floor_no, 'gap', '{[15,16)}', '{9000000000000000000}', 'infinity' from app_internal.pgt_lease_log l join app.pgt_consumer_groups g using (group_no) where g.group_name = 'work' order by l.no desc limit 1",
	"select from app.poll_outbox('of_spec', 'a', 20, 100000)",
	"insert into app.outbox_parts (event_type, aggregate_id, payload) select 't', i % 7, to_jsonb(i) from generate_series(2501, 2600) i",
	// An aggregate of which nothing is left that was processed, and one with a gap.
	"insert into app.sorted (event_id, event_type, payload, aggregate_id, number) values ('a1', 't', '{}', 'A', 1), ('a2', 't', '{}', 'A', 2), ('a3', 't', '{}', 'A', 3), ('b1', 't', '{}', 'B', 1), ('b3', 't', '{}', 'B', 3)",
	"insert into app.urgent (event_id, event_type, payload, priority) select 'u' || i, 't', '{}', nullif(i, 0) from generate_series(0, 12) i",
	"select app.inbox_mark_processed('urgent', array['u1', 'u8'])",
	"select app_internal.pgt_inbox_drain('Ten''ants', 3)", "select app_internal.pgt_inbox_drain('Ten''ants', 3)", "select app_internal.pgt_inbox_drain('Ten''ants', 3)",
	"select app.inbox_mark_processed('sorted', array['a1', 'a2', 'b1'])", "delete from app.sorted where event_id in ('a1', 'a2')",
}

// states are what must be the same before and after.
var states = []string{
	`select last_value::text from app_internal."Odd ""one""_sequence_no"`,
	"select r::text from app_internal.pgt_rights r",
	"select format('%s %s %s', p.polrelid::regclass, p.polname, pg_get_expr(coalesce(p.polqual, p.polwithcheck), p.polrelid)) from pg_policy p join pg_class c on c.oid = p.polrelid and c.relrowsecurity",
	"select i::text from app.orders i",
	`select i::text from "Other one"."Odd ""one""" i`,
	"select event_id from app.orders_pending",
	`select event_id from "Other one"."Odd ""one""_pending"`,
	"select event_id from app.orders_dlq",
	`select event_id from "Other one"."Odd ""one""_dlq"`,
	"select s::text from app.orders_stats s",
	`select s::text from "Other one"."Odd ""one""_stats" s`,
	"select concat_ws(' ', inbox_name, event_type, sum(processed), sum(processing_us)) from app_internal.pgt_inbox_deltas where is_expired group by inbox_name, event_type",
	"select p::text from app_internal.orders_past_ids p where not exists (select from app.orders i where i.event_id = p.event_id)",
	"select event_id from app.next_sorted",
	`select i::text from app."Ten'ants" i`,
	`select p::text from app_internal."Ten'ants_past_ids" p where not exists (select from app."Ten'ants" i where i.event_id = p.event_id)`,
	`select event_id from app."Ten'ants_pending" union all select event_id from app."Ten'ants_dlq"`,
	"select concat_ws(' ', no, event_id, priority) from app.inbox_pending('urgent') with ordinality i (event_id, event_type, source, aggregate_id, payload, received_at, retry_count, trace_id, sequence, priority, no)",
	"select event_id from app.pending_urgent_normal",
	"select concat_ws(' ', aggregate_id, missing_from, missing_to) from app.gaps_sorted",
	"select concat_ws(' ', inbox_name, aggregate_key, max(last_sequence)) from app_internal.pgt_inbox_sequences group by inbox_name, aggregate_key",
	"select s::text from app.pgt_settings s",
	"select c::text from app_internal.pgt_inbox_claims c where no = 0",
	"select concat_ws(' ', inbox_name, inbox_table, pending_count, dlq_count, processed_count) from app.inbox_status()",
	"select event_id from app.inbox_pending('orders', 1000)",
	"select concat_ws(' ', name, version, digest, flavour) from app.pgt_extension",
	"select concat_ws(' ', no, version, digest, flavour, way, role_name, installed_at) from app_internal.pgt_version_history", // a restore is no other version
	"select d::text from app_internal.pgt_inbox_dead d where inbox_name = 'orders'",                                           // when each died, and whether that was alerted
	"select q::text from app.pgt_inbox_quarantine q",
	"select e::text from app.outbox_feed e",
	"select e::text from app.outbox_keyed e",
	`select e::text from app."outbox_Odd ""one""" e`,
	"select concat_ws(' ', e.tableoid::regclass, e) from app.outbox_parts e",
	"select (to_jsonb(g) - 'idle')::text from app.pgt_consumer_groups g",
	"select concat_ws(' ', group_no, lane, no, cur, floor_no, state, ids, consumer_id, case state when 'leased' then until end, attempts, lost) from app_internal.pgt_lease_log where state <> 'done'",
	"select concat_ws(' ', outbox, group_name, committed_offset, max_id, lag_rows, consumer_count, leased_rows) from app.pgt_consumer_group_lag",
	"select concat_ws(' ', group_name, consumer_id, last_offset, last_commit_at) from app.pgt_consumer_status",
	"select d::text from app.pgt_consumer_dead_letters d",
	"select concat_ws(' ', pubname, tablename) from pg_publication_tables",
	"select concat_ws(' ', s.outbox_name, s.enabled_at) from app_internal.pgt_outbox_state s",
}

func state(t *testing.T, conn *pgx.Conn) [][]string {
	t.Helper()
	var all [][]string
	for _, sql := range states {
		all = append(all, pgtest.Column[string](t, conn, "select x from ("+sql+") q (x) order by x collate \"C\""))
	}
	return all
}

func compareStates(t *testing.T, want, got [][]string) {
	t.Helper()
	for i, sql := range states {
		if w, g := strings.Join(want[i], "\n"), strings.Join(got[i], "\n"); w != g {
			t.Errorf("%s\nbefore:\n%.1000s\nafter:\n%.1000s", sql, w, g)
		}
		if len(want[i]) == 0 {
			t.Errorf("%s: no rows, so this proves nothing", sql)
		}
	}
}

// alerted ticks and looks for the only dead letter that was not alerted before the dump.
func alerted(t *testing.T, target *pgx.Conn, dsn string) {
	t.Helper()
	listener := pgtest.OpenSession(t, dsn, "listener")
	run(t, listener.Conn, "listen pg_trickle_alert")
	run(t, target, "update app_internal.pgt_tasks set last_run_at = '-infinity'")
	run(t, target, "call app.tick()")
	heard := listener.Notifications(t.Context(), 200*time.Millisecond)
	if strings.Count(heard, "\n") != 1 || !strings.Contains(heard, `"event_id": "x1"`) {
		t.Errorf("alerts after the restore:\n%.500s", heard)
	}
}

// goOn shows that work goes on where it was.
func goOn(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	one := func(sql string) int { t.Helper(); return pgtest.One[int](t, conn, sql) }
	expect := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %d, want %d", what, got, want)
		}
	}
	expect("claims of a paused inbox", one("select count(*) from app.inbox_claim('orders', 1000)"), 0)
	run(t, conn, "select app.resume_inbox('orders')")
	due := one("select count(*) from app.orders_pending")
	expect("duplicates stored", one("select app.inbox_receive('orders', 'm2', 't', '{}')::int"), 0)
	expect("duplicates stored of messages that are gone", one("select sum(app.inbox_receive('orders', 'past' || i, 't', '{}')::int) from generate_series(1, 5) i"), 0)
	run(t, conn, `set pg_trickle.tenant = 't"1'`)
	expect("duplicates stored of a tenant", one("select app.inbox_receive('Ten''ants', 'm/0', 't', '{}')::int + app.inbox_receive('Ten''ants', 'm/6', 't', '{}')::int"), 0)
	run(t, conn, "listen pg_trickle_alert; insert into app.orders (event_id, event_type, payload) values ('new', 'new', '{}')")
	expect("claims", one("select count(app.inbox_mark_processed('orders', event_id)) from app.inbox_claim('orders', 100000)"), due+1)
	expect("others", one(`select count(app.inbox_mark_processed('Odd "one"', event_id)) from app.inbox_claim('Odd "one"', 1000)`), 49)
	for range 3 {
		run(t, conn, "call app.tick()")
	}
	expect("processed", one("select sum(processed)::int from app.orders_stats"),
		one("select (select count(processed_at) from app.orders) + (select sum(processed) from app_internal.pgt_inbox_deltas where is_expired and inbox_name = 'orders')::int"))
	expect("due", one("select count(*) from app.orders_pending"), 0)
	expect("delayed", one("select count(*) from app.orders where processed_at is null and available_at > now()"), 5)
	expect("pending", one("select sum(pending)::int from app.orders_stats"), one("select count(*) from app.orders where processed_at is null and retry_count < 3"))
	goOnInGroups(t, conn, one, expect)
	run(t, conn, `update app.pgt_inbox_quarantine set document = '{"op": "c", "source": {"table": "x"}}', topic = 't'`)
	expect("retried documents", one("select app.inbox_retry_quarantined('Wire''s')"), 2)
	expect("documents left", one("select count(*) from app.pgt_inbox_quarantine"), 0)
	expect("failed tasks", one("select count(*) from app_internal.pgt_tasks where last_error is not null"), 0)
}

// goOnInGroups shows that groups hold what they held, and go on after it.
func goOnInGroups(t *testing.T, conn *pgx.Conn, one func(string) int, expect func(string, int, int)) {
	t.Helper()
	run(t, conn, "select app.outbox_publish('feed', 'new', '{}')")
	expect("gaps that wait for transactions of another cluster", one("select count(*) from app_internal.pgt_lease_log where '9000000000000000000' = any (xids)"), 0)
	expect("first id after what is leased", one("select min(id) from app.poll_outbox('work', 'd', 1000)"), 22)
	expect("last offset", one("select app.commit_offset('work', 'd', 1000)"), 51)
	expect("gaps", one("select count(*) from app_internal.pgt_lease_log where state = 'gap'"), 0)
	expect("what a, b and c held", one("select app.commit_offset('work', 'a', 1000) * 10000 + app.commit_offset('work', 'b', 1000) * 100 + app.commit_offset('work', 'c', 1000)"), 51021)
	expect("replayed", one("select app.replay_dead_letters('work')"), 1)
	expect("the dead letter", one("select id from app.poll_outbox('work', 'd')"), 3)
	expect("its end", one("select app.commit_offset('work', 'd', 3)"), 3)
	expect("a paused group", one("select count(*) from app.poll_outbox('still', 'd')"), 0)
	run(t, conn, "select app.resume_group('still'); select from app.poll_outbox('of_spec', 'b', 1000); update app_internal.pgt_lease_log set until = '-infinity' where state = 'gap'")
	expect("a group of latest", one("select count(*) from app.poll_outbox('still', 'd')"), 50)
	expect("its offset", one("select app.commit_offset('still', 'd', 1000)"), 51)
	expect("lanes that a holds", one("select app.commit_offset('of_spec', 'a', 1000)"), one("select max(last_offset) from app.pgt_consumer_status where consumer_id = 'a' and group_name = 'of_spec'"))
	for range 2 {
		run(t, conn, "select app.ack_rows('of_spec', 'b', array(select id from app.poll_outbox('of_spec', 'b', 1000)))")
	}
	expect("left", one("select sum(lag_rows)::int from app.pgt_consumer_group_lag"), 0)
	run(t, conn, "select app.create_consumer_group('all', 'parts', 'earliest')")
	expect("events of segments", one("select count(distinct id) from app.poll_outbox('all', 'a', 10000)"), 2600)
	expect("the last of them", one("select app.commit_offset('all', 'a', 10000)"), 2600)
	run(t, conn, "update app.pgt_settings set value = '1' where name = 'outbox_retention_hours'; update app.outbox_parts set created_at = now() - interval '2 h'")
	run(t, conn, "update app_internal.pgt_tasks set last_run_at = '-infinity'")
	run(t, conn, "call app.tick()")
	expect("events in the segment that is being filled", one("select count(*) from app.outbox_parts"), 100)
	expect("segments", one("select count(*) from pg_inherits where inhparent = 'app.outbox_parts'::regclass"), 4)
}

func scriptOf(e *generator.Extension, flavour generator.Flavour) string {
	if flavour == generator.Plain {
		return e.Install(flavour)
	}
	return "create extension " + e.Name + "; select " + e.Schema + ".attach()"
}

// dropAll removes the extension; nothing of it may be left.
func dropAll(t *testing.T, conn *pgx.Conn, e *generator.Extension, flavour generator.Flavour) {
	t.Helper()
	if flavour == generator.Plain {
		run(t, conn, e.Uninstall())
	} else {
		run(t, conn, "drop extension "+e.Name+" cascade")
	}
	if left := leftovers(t, conn); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// leftovers lists what a database holds that a new one does not.
func leftovers(t testing.TB, q pgtest.Querier) []string {
	t.Helper()
	return pgtest.Column[string](t, q, `
select 'relation ' || oid::regclass from pg_class where oid >= 16384 and relnamespace <> 'pg_toast'::regnamespace
union all select 'function ' || oid::regprocedure from pg_proc where oid >= 16384
union all select 'type ' || oid::regtype from pg_type where oid >= 16384
union all select 'trigger ' || tgname from pg_trigger where oid >= 16384
union all select 'schema ' || oid::regnamespace from pg_namespace where oid >= 16384
union all select 'constraint ' || conname from pg_constraint where oid >= 16384 and contype <> 'n' -- rows since version 18
union all select 'extension ' || extname from pg_extension where oid >= 16384
union all select 'privilege ' || defaclobjtype::text from pg_default_acl
union all select 'comment ' || description from pg_description where objoid >= 16384
order by 1`)
}

func run(t testing.TB, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s\nin: %.300s", pgtest.ErrorText(err), sql)
	}
}

// inSections is the format "custom", restored in the steps that partitioned tables with inboxes need: see "Backups" in docs/operations.md.
const inSections = "c"

// restore pipes a dump into the restoring program; both run as the owner.
func restore(t *testing.T, from, to *commandtest.Server, name, format string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dump")
	output(t, from.Command("pg_dump", "-U", pgtest.Owner, "--no-owner", "--format", format, "--file", file, name))
	if format == "plain" {
		output(t, to.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", pgtest.Owner, "-d", name, "-f", file))
		return
	}
	sections := [][]string{nil}
	if format == inSections {
		sections = [][]string{{"--section", "pre-data"}, {"--section", "data"}, {"--section", "post-data"}}
	}
	for _, section := range sections {
		args := append([]string{"-U", pgtest.Owner, "--no-owner", "--exit-on-error", "--jobs", "2", "--dbname", name, file}, section...)
		output(t, to.Command("pg_restore", args...))
	}
}

func output(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

func create(t *testing.T, server *commandtest.Server, name string) *pgx.Conn {
	t.Helper()
	run(t, pgtest.Connect(t, server.DSN("postgres")), "create database "+name+" owner "+pgtest.Owner)
	return pgtest.Connect(t, server.DSN(name, "user="+pgtest.Owner))
}
