package live

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

const driftSpec = `
version: 1
extension: {name: sluice_drift_test, version: 1.0.0, schema: app}
schema: [%s]
roles: {producer: drift_producer, consumer: drift_consumer, monitor: drift_monitor}
inboxes:
  - {name: letters, max_retries: 3, retry: {backoff: constant, initial: 1h}}
  - {name: jobs, schema: Other one, materialize: true}
outboxes:
  - {name: events, ordering_key: aggregate_id}
  - {name: parts, ordering_key: aggregate_id, segment_rows: 1000}
consumer_groups:
  - {name: shipping, outbox: events}
stream_tables:
  - name: public.totals
    query: |
      select customer_id, sum(amount) as total from orders group by customer_id
    indexes: [[total]]
    outbox: true
  - name: large
    refresh_mode: immediate
    query: |
      select o.order_id, o.amount from orders o join orders p on p.order_id = o.order_id where p.amount > 100
  - name: regions
    query: |
      select region, count(*) as parts from measures group by region
`

const driftDDL = `
create table public.orders (order_id int primary key, customer_id int not null, amount numeric not null, note text default 'none');
create table public.measures (id int not null, region text not null, at date not null) partition by list (region);
create table public.measures_north partition of public.measures for values in ('north');
create table public.measures_rest partition of public.measures default;
`

// tampering is what somebody does by hand.
type tampering struct {
	name   string
	sql    []string
	plain  []string // that PostgreSQL refuses for members of extensions
	member []string // and what can be done to those
	undo   string   // of what is left alone
	super  bool     // by a superuser
}

var tamperings = []tampering{
	{
		name: "functions",
		sql: []string{
			"create or replace function app.inbox_health(p_inbox text) returns jsonb language sql as 'select null::jsonb'",
			"alter function app.inbox_status() security definer",
			"create or replace function app_internal.pgt_inbox_row_changed() returns trigger language plpgsql as 'begin return null; end'",
			"insert into app.letters (event_id, event_type, payload, processed_at) values ('unseen', 't', '{}', now())",
			"comment on function app.pause_inbox(text) is 'mine'",
			"grant execute on function app_internal.pgt_inbox_row_changed() to public",
		},
		plain: []string{
			"drop function app.inbox_pending(text, int)",
			"drop function app.pgt_status() cascade", "create function app.pgt_status() returns int language sql as 'select 1'", "comment on function app.pgt_status() is '(Sluice: sluice_drift_test in app)'",
			"grant execute on function app.pgt_status() to drift_other",
			"drop function app_internal.pgt_inbox_changed() cascade",
		},
		member: []string{
			"alter extension sluice_drift_test drop function app.inbox_pending(text, int)",
			"alter extension sluice_drift_test drop function app.inbox_status(text)", "drop function app.inbox_status(text)",
		},
	},
	{
		name: "triggers",
		sql: []string{
			"drop trigger sluice_inserted on app.letters",
			"insert into app.letters (event_id, event_type, payload, processed_at) values ('gone', 't', '{}', now())",
			"alter table app.letters disable trigger sluice_updated",
			"create or replace trigger sluice_deleted after delete on app.letters for each row execute function app_internal.pgt_inbox_changed()",
			"drop trigger sluice_drift_test_log_insert_public_orders on orders", "alter table orders disable trigger sluice_drift_test_log_update_public_orders",
			"insert into orders values (1000, 1, 1000)",
			"alter table measures_north disable trigger all", "drop trigger sluice_drift_test_log_delete_public_measures on measures_rest", "insert into measures values (10, 'north', 'today')",
		},
	},
	{
		name: "views and indexes",
		sql: []string{
			"create or replace view app.letters_pending as select * from app.letters limit 0",
			"create or replace view totals as select customer_id, 1::numeric as total from app_internal.public_totals_rows",
			"drop view app.regions", "create view app.regions as select 1 as one", "comment on view app.regions is 'mine (Sluice: sluice_drift_test in app)'", "grant select on app.regions to drift_other",
			"drop view app.large",
			"drop index app.outbox_parts_lane",
			"drop index app.letters_order", "create index letters_order on app.letters (event_id desc)",
			"drop index app_internal.pgt_inbox_retry_due",
			"drop index app_internal.public_totals_idx1",
			"create index mine on app.letters (source)",
		},
	},
	{
		name: "columns and constraints",
		sql: []string{
			"alter table app.letters alter retry_count set default 7, alter payload drop not null, alter received_at set not null, alter source set default 'x'",
			"alter table app.letters alter received_at drop default",
			"alter table app.pgt_settings drop constraint pgt_settings_pkey",
			"alter table app_internal.pgt_open_setting disable row level security",
			"alter table app.letters set (fillfactor = 11, autovacuum_enabled = off)",
			"alter sequence app_internal.pgt_change_no cache 100", "alter table app.outbox_events alter id set cache 50", "alter table app.outbox_parts alter id set cache 50",
			"alter table app_internal.public_totals_rows drop column __sum1 cascade",
		},
		plain: []string{"alter table app.outbox_events drop column headers cascade"},
	},
	{
		name: "owners and storage",
		sql: []string{
			"alter table app.letters owner to drift_other", "alter function app.inbox_status() owner to drift_other", "alter view app.letters_stats owner to drift_other",
			"alter table app_internal.public_totals_rows owner to drift_other", "alter sequence app_internal.letters_high_watermark owner to drift_other", "alter view totals owner to drift_other",
			"alter table app_internal.pgt_inbox_deltas set (autovacuum_enabled = off, toast.autovacuum_vacuum_threshold = 7)", "alter table app.letters reset (autovacuum_vacuum_scale_factor)",
			"alter table app_internal.large_rows set (parallel_workers = 3)",
		},
		super: true,
	},
	{
		name: "sequences",
		plain: []string{
			"drop sequence app_internal.letters_high_watermark cascade", "drop sequence app_internal.letters_claim_cursor", "drop sequence app_internal.large_last_xid", "drop sequence app_internal.pgt_change_no cascade",
			"insert into app.letters (event_id, event_type, payload, processed_at) values ('no_sequence', 't', '{}', now())",
		},
		member: []string{"alter extension sluice_drift_test drop sequence app_internal.letters_claim_cursor", "drop sequence app_internal.letters_claim_cursor"},
	},
	{
		name: "whole relations",
		sql:  []string{"drop table app_internal.large_rows cascade", "drop publication sluice_drift_test_outbox_events", "drop table app_internal.changes_public_orders cascade"},
		plain: []string{
			"drop table app_internal.pgt_inbox_deltas cascade", "drop table app_internal.pgt_tasks cascade", "drop table app.pgt_inbox_config cascade",
		},
	},
	{
		name: "rows and rights",
		sql: []string{
			"update app.pgt_inbox_config set max_retries = 99, schedule = '9s' where inbox_name = 'letters'", "delete from app_internal.pgt_tasks where task like 'inbox letters:%'",
			"delete from app_internal.pgt_open_setting",
			"comment on table app.letters is null", "comment on index app.letters_order is 'mine'",
			"revoke insert on app.letters from drift_producer", "grant delete on app.letters to drift_producer", "revoke update (error) on app.letters from drift_consumer",
			"revoke usage on schema app from drift_consumer", "grant select on app.letters to drift_other", "revoke all on totals from drift_consumer",
		},
	},
	{
		name: "left alone",
		sql: []string{
			"alter table app.letters add column mine int not null default 1", "create unique index mine_unique on app.letters (trace_id)",
			"alter table app.letters add constraint mine check (event_id <> '')", "alter table app_internal.pgt_tasks alter last_error type varchar(99)",
			"drop view totals", "create table totals (mine int)",
		},
		undo: "alter table app.letters drop column mine, drop constraint mine; alter table app_internal.pgt_tasks alter last_error type text; drop index app.mine_unique; drop table totals",
	},
	{
		name: "of others", // who have put something of their own in the place of what is ours
		sql:  []string{"drop view totals", "create view totals as select 1 as customer_id", "comment on view totals is 'mine'", "drop view app.regions", "create view app.regions as select 1 as one"},
		plain: []string{
			"drop function app.pgt_status() cascade", "create function app.pgt_status() returns int language sql as 'select 1'",
			"drop table app_internal.pgt_tasks cascade", "create table app_internal.pgt_tasks (mine int)", "create trigger mine before insert on app_internal.pgt_tasks for each row execute function suppress_redundant_updates_trigger()",
		},
		member: []string{"alter extension sluice_drift_test drop function app.inbox_pending(text, int)", "drop function app.inbox_pending(text, int)",
			"create function app.inbox_pending(p_inbox text, p_limit int) returns int language sql as 'select 1'"},
		undo: `drop view totals, app.regions;
			do $$
			begin
			    if (select p.prorettype = 'int'::regtype from pg_proc p where p.oid = 'app.pgt_status()'::regprocedure) then
			        drop function app.pgt_status();
			        drop table app_internal.pgt_tasks;
			    else
			        drop function app.inbox_pending(text, int);
			    end if;
			end $$`,
	},
}

// TestDrift tampers with both flavours, looks what is found, and repairs it.
func TestDrift(t *testing.T) {
	pgtest.Parallel(t)
	path := t.TempDir() + "/schema.sql"
	if err := os.WriteFile(path, []byte(driftDDL), 0o644); err != nil {
		t.Fatal(err)
	}
	e := installed.Text(t, fmt.Sprintf(driftSpec, path))
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, e)
	server := installed.Start(t, install)
	for _, flavour := range []generator.Flavour{generator.Plain, generator.AsExtension} {
		t.Run(string(flavour), func(t *testing.T) {
			conn := create(t, server, string(flavour))
			super := pgtest.Connect(t, server.DSN(string(flavour)))
			run(t, super, driftRoles)
			run(t, super, "grant drift_other to "+pgtest.Owner) // whose things the owner may take back
			run(t, conn, driftDDL)
			run(t, conn, "insert into orders select g, g % 3, g * 10 from generate_series(1, 50) g; insert into measures select g, 'north', 'today' from generate_series(1, 9) g")
			options := commandtest.ApplyOptions{Flavour: flavour}
			if _, err := commandtest.Apply(t.Context(), conn, e, options); err != nil {
				t.Fatal(pgtest.ErrorText(err))
			}
			run(t, conn, "call app.tick()")
			// Writers are kept from nothing: a lock that waited for this one would leave something uncompared.
			writer := pgtest.Connect(t, server.DSN(string(flavour), "user="+pgtest.Owner))
			run(t, writer, "begin; insert into orders values (900, 1, 500); insert into measures values (90, 'south', 'today'); insert into app.letters (event_id, event_type, payload) values ('open', 't', '{}')")
			for _, d := range compare(t, conn, e, flavour) {
				t.Fatalf("nothing was changed, but\n%s", d.Text())
			}
			run(t, writer, "commit")
			said, tried := "", map[string]bool{}
			for _, c := range tamperings {
				if flavour == generator.AsExtension && c.member == nil && !pgtest.Long() && !golden.Update() {
					continue // the same is found without an extension
				}
				by := conn
				if c.super {
					by = super
				}
				said, tried[c.name] = said+"# "+c.name+"\n"+tamper(t, conn, by, e, options, c), true
			}
			if did, err := commandtest.Apply(t.Context(), conn, e, options); err != nil || did.Changed || len(did.Left) > 0 {
				t.Errorf("with nothing to do: %+v %v", did, err)
			}
			if flavour == generator.AsExtension {
				keepsRows(t, conn, e, options)
			}
			path := "testdata/drift_" + string(flavour)
			if golden.Update() {
				if err := os.WriteFile(path, []byte(said), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			golden.CompareText(t, path, said, sections(string(want), tried))
		})
	}
}

// sections are those of a golden file that were tried.
func sections(text string, tried map[string]bool) (kept string) {
	keep := false
	for line := range strings.Lines(text) {
		if name, begins := strings.CutPrefix(line, "# "); begins {
			keep = tried[strings.TrimSuffix(name, "\n")]
		}
		if keep {
			kept += line
		}
	}
	return kept
}

var driftRoles = pgtest.MakeRoles("drift_producer", "drift_consumer", "drift_monitor", "drift_other")

func tamper(t *testing.T, conn, by *pgx.Conn, e *generator.Extension, options commandtest.ApplyOptions, c tampering) string {
	for _, sql := range c.sql {
		run(t, by, sql)
	}
	of := map[generator.Flavour][]string{generator.Plain: c.plain, generator.AsExtension: c.member}
	for _, sql := range of[options.Flavour] {
		run(t, conn, sql)
	}
	did, err := commandtest.Apply(t.Context(), conn, e, options)
	if err != nil {
		t.Fatalf("%s: %s", c.name, pgtest.ErrorText(err))
	}
	var said []string
	for _, d := range did.Repaired {
		said = append(said, fmt.Sprintf("%s %s\n", d.What, d))
	}
	for _, d := range did.Left {
		said = append(said, fmt.Sprintf("%s %s, left alone: %s\n", d.What, d, d.Left))
	}
	slices.Sort(said)
	if c.undo != "" {
		run(t, conn, c.undo)
		if did, err = commandtest.Apply(t.Context(), conn, e, options); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	for _, d := range did.Left { // apply looked once more after its repairs
		t.Errorf("still\n%s", d.Text())
	}
	right(t, conn)
	return strings.Join(said, "")
}

// keepsRows takes a table out of the extension. If it were put back, unmarked, pg_dump would leave out its rows.
func keepsRows(t *testing.T, conn *pgx.Conn, e *generator.Extension, options commandtest.ApplyOptions) {
	t.Helper()
	run(t, conn, "alter extension sluice_drift_test drop table app.letters")
	did, err := commandtest.Apply(t.Context(), conn, e, options)
	if err != nil || did.Changed || len(did.Left) != 1 || did.Left[0].String() != "table app.letters, member of extension" {
		t.Errorf("a table that is no member: %+v %v", did, err)
	}
}

// right looks whether what was changed while nobody noticed is in what depends on it.
func right(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	run(t, conn, "update app_internal.pgt_stream_table_state set checked_at = '-infinity'") // all are due, however fast the machine was
	run(t, conn, "call app.tick()")
	for what, sql := range map[string]string{
		"totals":  "select count(*)::int from (select customer_id, sum(amount) as total from orders group by 1) q full join totals t using (customer_id, total) where q is null or t is null",
		"large":   "select count(*)::int from (select order_id, amount from orders where amount > 100) q full join app.large t using (order_id, amount) where q is null or t is null",
		"regions": "select count(*)::int from (select region, count(*) as parts from measures group by 1) q full join app.regions t using (region, parts) where q is null or t is null",
		"letters": "select (count(*) - (select processed_count from app.inbox_status() where inbox_name = 'letters'))::int from app.letters where processed_at is not null",
	} {
		if n := pgtest.One[int](t, conn, sql); n != 0 {
			t.Errorf("%s: %d differ", what, n)
		}
	}
}

// compare finds the drift of a database.
func compare(t *testing.T, conn *pgx.Conn, e *generator.Extension, flavour generator.Flavour) []commandtest.Difference {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	found, err := commandtest.Compare(t.Context(), tx, e.Manifest(), flavour == generator.AsExtension)
	if err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	return found
}
