package dbt

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// rawOrders is what exists before dbt runs: orders is a model.
const rawOrders = `
create table raw_orders (order_id bigint primary key, customer_id bigint not null, amount numeric not null, note text);
insert into raw_orders select n, n % 7, n, case when n % 5 = 0 then '{{ ' || n || ' }} {% x %} {# y' end from generate_series(1, 50) n`

// catalog is everything that an installation makes: a run that changes nothing leaves each object as it is.
const catalog = `
select 'relation ' || c.oid || ' ' || c.relname from pg_class c where c.relnamespace = 'pgtrickle'::regnamespace
union all select 'function ' || p.oid || ' ' || p.xmin || ' ' || p.proname from pg_proc p where p.pronamespace = 'pgtrickle'::regnamespace
union all select 'version ' || e.xmin || ' ' || e.version from pgtrickle.pgt_extension e
union all select 'group ' || g.xmin || ' ' || g.group_name from pgtrickle.pgt_consumer_groups g
order by 1`

func newDB(t *testing.T) *pgtest.Database {
	t.Helper()
	db := pgtest.DB(t)
	db.Exec(t, rawOrders)
	return db
}

// exact fails the test unless the stream tables hold what their queries return.
func exact(t *testing.T, db pgtest.Querier) {
	t.Helper()
	for _, name := range []string{"order_totals", "templates"} {
		query := pgtest.One[string](t, db, "select query from pgtrickle.pgt_stream_tables where pgt_name = $1", name)
		wrong := pgtest.One[int](t, db, "select count(*) from ((table "+name+" except all ("+query+"\n)) union all ((\n"+query+"\n) except all table "+name+")) d")
		if wrong != 0 {
			t.Errorf("%s differs from its query in %d rows", name, wrong)
		}
		if pgtest.One[int](t, db, "select count(*) from "+name) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

func TestPackage(t *testing.T) {
	db := newDB(t)
	shop := installed.Load(t, "testdata/spec.yaml")
	p := newProject(t, db, shop)
	p.run("deps")
	p.fails([]string{"run-operation", "check_version"}, "extension dbt-shop 1.0.0 is not installed. Run macro install")
	if out := p.run("run-operation", "install"); !strings.Contains(out, "installing extension dbt-shop 1.0.0") {
		t.Errorf("install does not say what it does:\n%s", out)
	}
	p.run("run-operation", "check_version")
	bodies := "select p.oid::regprocedure || ' ' || p.prosrc from pg_proc p where p.pronamespace = 'pgtrickle'::regnamespace order by 1"
	if got, want := pgtest.Column[string](t, db, bodies), pgtest.Column[string](t, installed.DB(t, shop), bodies); !slices.Equal(got, want) {
		t.Error("functions are not those of the script: Jinja took something of them for its own")
	}

	p.run("run")
	exact(t, db)
	groups := pgtest.Column[string](t, db, "select group_name || ' of ' || outbox_name from pgtrickle.pgt_consumer_groups order by 1")
	if want := []string{"audit of public.templates", "billing of public.order_totals"}; !slices.Equal(groups, want) {
		t.Errorf("groups are %q, want %q", groups, want)
	}
	if got := pgtest.One[int](t, db, "select count(*) from large_customers"); got != 7 {
		t.Errorf("the model read %d rows of the stream table, want 7: the pre-hook refreshes it after orders is there", got)
	}
	if out := p.run("test"); !strings.Contains(out, "stream_table_healthy") || !strings.Contains(out, "inbox_healthy") {
		t.Errorf("the package's tests did not run:\n%s", out)
	}

	// The model's table is replaced by another: rename and swap.
	before, orders := pgtest.Column[string](t, db, catalog), pgtest.One[uint32](t, db, "select 'orders'::regclass::oid")
	if out := p.run("run"); strings.Contains(out, "installing extension") || strings.Contains(out, "upgrading extension") {
		t.Errorf("a second run installs again:\n%s", out)
	}
	if after := pgtest.Column[string](t, db, catalog); !slices.Equal(before, after) {
		t.Errorf("a second run changed something:\n%s\nbefore:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	db.Exec(t, "update raw_orders set amount = amount + 1 where order_id <= 10; delete from raw_orders where order_id > 40")
	p.run("run")
	if orders == pgtest.One[uint32](t, db, "select 'orders'::regclass::oid") {
		t.Error("dbt did not replace the table")
	}
	exact(t, db)

	refusals(t, p)
	db.Exec(t, "insert into pgtrickle.order_events (event_id, event_type, payload, received_at) values ('e', 't', '{}', now() - interval '1 hour')")
	p.fails([]string{"test", "--select", "test_name:inbox_healthy"}, "Got 1 result, configured to fail if != 0", "ERROR=1")
	db.Exec(t, "alter table raw_orders rename note to remark")
	db.Exec(t, "select pgtrickle.tick_once()")
	p.fails([]string{"test", "--select", "test_name:stream_table_healthy"}, "Got 1 result, configured to fail if != 0")
}

// refusals asks for what the extension does not have: macros say so before any SQL runs.
func refusals(t *testing.T, p *project) {
	t.Helper()
	for _, refused := range []struct{ macro, args, text string }{
		{"pgtrickle_create_inbox", "{inbox_config: returns}", "inbox_config asks for inbox returns: extension dbt-shop 1.0.0 has no function create_inbox. Declare it under inboxes in the spec"},
		{"pgtrickle_create_inbox", "{inbox_config: {name: returns, retries: 3}}", "inbox_config has an unknown entry: retries. It can have name, schema, max_retries"},
		{"pgtrickle_create_inbox", "{inbox_config: {name: returns, table: letters}}", "inbox_config asks for inbox returns: extension dbt-shop 1.0.0 has no function enable_inbox_tracking"},
		{"pgtrickle_create_inbox", "{inbox_config: {name: returns, table: letters, schema: x}}", "inbox_config has an unknown entry: schema. It can have name, table, id_column"},
		{"pgtrickle_outbox_config", "{outbox_enabled: true, stream_table: totals}", "stream table not found: totals. extension dbt-shop 1.0.0 has public.order_totals, public.templates"},
		{"refresh_stream_table", "{names: [order_totals, totals]}", "stream table not found: totals"},
	} {
		p.fails(operation(refused.macro, refused.args), refused.text)
	}
	p.run(operation("refresh_stream_table", "{names: public.order_totals}")...)
}

// TestCreatedInboxes makes inboxes, one of them over a table that is there, where the spec has the functions for it; the second time nothing changes.
func TestCreatedInboxes(t *testing.T) {
	db := newDB(t)
	text, err := os.ReadFile("testdata/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, db, installed.Over(t, strings.Replace(string(text), "imperative: [outboxes]", "imperative: true", 1), schema(t)))
	p.run("deps")
	p.run("run-operation", "install")
	db.Exec(t, `create table letters (no bigint, "it's" text default 'x', primary key (no, "it's"), event_type text not null, payload jsonb not null, received_at timestamptz not null, processed_at timestamptz,
		"the 'error" text, retry_count int not null); insert into letters (no, event_type, payload, received_at, retry_count) values (1, 't', '{}', now(), 0)`)
	for range 2 {
		p.run(operation("pgtrickle_create_inbox", `{inbox_config: [{name: bills, max_retries: 5}, {name: mail, table: letters, id_columns: ["no", "it's"], error_column: "the 'error", schedule: 2 s, ordering: {aggregate_column: event_type}}, {name: turns, ordering: true},
			{name: ranks, priority: {column: event_type, map: {"it's": 1}}}]}`)...)
	}
	got := pgtest.Column[string](t, db, "select concat_ws(' ', inbox_name, inbox_table, is_managed, max_retries, pending_count) from pgtrickle.inbox_status() where inbox_name <> 'order_events' order by 1")
	if want := []string{"bills pgtrickle.bills t 5 0", "mail public.letters f 3 1", "ranks pgtrickle.ranks t 3 0", "turns pgtrickle.turns t 3 0"}; !slices.Equal(got, want) {
		t.Errorf("inboxes are %q, want %q", got, want)
	}
	got = pgtest.Column[string](t, db, "select concat_ws(' ', inbox_name, aggregate_column, sequence_column) from pgtrickle.pgt_inbox_ordering_config order by 1")
	if want := []string{"mail event_type received_at", "turns aggregate_id received_at"}; !slices.Equal(got, want) {
		t.Errorf("ordered are %q, want %q", got, want)
	}
	got = pgtest.Column[string](t, db, "select concat_ws(' ', inbox_name, priority_column, priority_map) from pgtrickle.pgt_inbox_priority_config")
	if want := []string{`ranks event_type {"it's": 1}`}; !slices.Equal(got, want) {
		t.Errorf("prioritized are %q, want %q", got, want)
	}
	p.fails(operation("pgtrickle_create_inbox", "{inbox_config: {name: turns, ordering: {column: x}}}"), "ordering of inbox_config has an unknown entry: column. It can have name, aggregate_column")
}

// versions are the spec as it was released, and two that follow.
func versions(t *testing.T) (first, second, third *generator.Extension) {
	t.Helper()
	text, err := os.ReadFile("testdata/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	load := func(version string, change ...string) *generator.Extension {
		spec := strings.NewReplacer(append(change, "1.0.0", version)...).Replace(string(text))
		for name, text := range map[string]string{"spec.yaml": spec, "schema.sql": schema(t)} {
			if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return installed.Load(t, dir)
	}
	first = load("1.0.0")
	second = load("1.1.0", "count(*) AS orders", "count(*) AS orders, max(amount) AS largest")
	third = load("2.0.0", "count(*) AS orders", "count(*) AS orders, max(amount) AS largest", "name: order_events", "name: other_events")
	return first, second, third
}

func schema(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUpgrade(t *testing.T) {
	db := newDB(t)
	first, second, third := versions(t)
	shop := installed.Load(t, installed.Shop()) // beside it, and never installed
	p := newProject(t, db, first, shop)
	p.write("models/large_customers.sql", "select 1 as customer_id") // without what only TestPackage asks for
	p.run("deps")
	p.run("run")
	exact(t, db)

	const noFunction = ": extension shop 1.0.0 has no function "
	p.fails(operation("sluice_shop.pgtrickle_outbox_config", "{outbox_enabled: true, stream_table: x}"), "outbox_enabled"+noFunction+"enable_outbox")
	p.fails(operation("sluice_shop.pgtrickle_outbox_config", "{consumer_group: x, stream_table: x}"), "consumer_group"+noFunction+"create_consumer_group")
	p.fails(operation("sluice_shop.refresh_stream_table", "{}"), "refresh_stream_table"+noFunction+"refresh_stream_table")
	p.fails([]string{"run-operation", "sluice_shop.install"}, "schema pgtrickle already holds extension dbt-shop 1.0.0")

	p.generate(second) // which knows of no release
	p.fails([]string{"run"}, "extension dbt-shop 1.0.0 is installed, with digest", "this package was generated from version 1.1.0", "No released version that this package knows leads from there to here")
	p.generate(third, first.Manifest(), second.Manifest())
	p.fails([]string{"run-operation", "check_version"}, "extension dbt-shop 1.0.0 is installed")
	p.fails([]string{"run"}, "upgrading extension dbt-shop from 1.0.0 to 2.0.0 deletes", "To delete them, give allow_data_loss=true")
	if got := pgtest.One[string](t, db, "select version from pgtrickle.pgt_extension"); got != "1.0.0" {
		t.Errorf("what was refused left version %s", got)
	}

	out := p.run(operation("upgrade", "{allow_data_loss: true}")...)
	for _, text := range []string{"upgrading extension dbt-shop from 1.0.0 to 1.1.0", "upgrading extension dbt-shop from 1.1.0 to 2.0.0"} {
		if !strings.Contains(out, text) {
			t.Errorf("upgrade does not say %q\n%s", text, out)
		}
	}
	p.run("run")
	exact(t, db)
	if got := pgtest.One[string](t, db, "select version from pgtrickle.pgt_extension"); got != "2.0.0" {
		t.Errorf("version %s is installed", got)
	}
	if got := pgtest.One[string](t, db, "select string_agg(version || ' by ' || way, ', ' order by no) from pgtrickle_internal.pgt_version_history"); got != "1.0.0 by dbt, 1.1.0 by dbt, 2.0.0 by dbt" {
		t.Errorf("history: %s", got)
	}
	p.run("run-operation", "check_version")
}

// TestExtension upgrades what create extension made: by ALTER EXTENSION, once the server has the scripts.
func TestExtension(t *testing.T) {
	install := installed.Relocate(t, pgtest.Server(t).Install)
	first, second, third := versions(t)
	installed.PutFiles(t, install, first)
	server := installed.Start(t, install)
	db := &pgtest.Database{Name: "dbt", Server: server}
	execute(t, pgtest.Connect(t, server.DSN("postgres")), "create database dbt owner "+pgtest.Owner)
	conn := pgtest.Connect(t, db.DSN())
	execute(t, conn, rawOrders)
	execute(t, conn, `create extension "dbt-shop"`)
	is := func(version string) {
		t.Helper()
		got := pgtest.One[string](t, conn, "select concat_ws(' ', e.version, x.extversion, e.flavour) from pgtrickle.pgt_extension e, pg_extension x where x.extname = e.name")
		if want := version + " " + version + " extension"; got != want {
			t.Errorf("%s is installed, want %s", got, want)
		}
	}

	p := newProject(t, db, first)
	p.write("models/large_customers.sql", "select 1 as customer_id")
	p.run("deps")
	p.run("run")
	exact(t, conn)
	is("1.0.0")

	p.generate(third, first.Manifest(), second.Manifest())
	p.fails([]string{"run"}, "upgrading extension dbt-shop from 1.0.0 to 2.0.0 deletes")
	p.generate(second, first.Manifest())
	p.fails([]string{"run"}, "the server has no scripts that lead from there to here. Put them there with make -C out/dbt-shop/extension install")
	is("1.0.0")
	installed.PutFiles(t, install, second, first.Manifest())
	if out := p.run("run"); !strings.Contains(out, "upgrading extension dbt-shop from 1.0.0 to 1.1.0") {
		t.Errorf("it does not say what it does:\n%s", out)
	}
	exact(t, conn)
	is("1.1.0")
	if out := p.run("run"); strings.Contains(out, "upgrading") {
		t.Errorf("a second run upgrades again:\n%s", out)
	}
	p.generate(third, first.Manifest(), second.Manifest())
	installed.PutFiles(t, install, third, first.Manifest(), second.Manifest())
	p.run(operation("upgrade", "{allow_data_loss: true}")...)
	p.run("run-operation", "check_version")
	is("2.0.0")
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s\nin: %s", pgtest.ErrorText(err), sql)
	}
}

// TestAtOnce installs from two runs at the same time: one does it, the other waits and finds it done.
func TestAtOnce(t *testing.T) {
	db := newDB(t)
	first, _, _ := versions(t)
	projects := []*project{newProject(t, db, first), newProject(t, db, first)}
	var runs sync.WaitGroup
	for _, p := range projects {
		p.run("deps")
		p.run("parse")
	}
	// Nobody installs before both wait.
	holder := db.Connect(t)
	if _, err := holder.Exec(t.Context(), "begin; select pg_advisory_xact_lock(hashtext('sluice apply'), hashtext('pgtrickle'))"); err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(projects))
	for n, p := range projects {
		runs.Go(func() {
			out, err := p.dbt("run-operation", "install")
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			said[n] = out
		})
	}
	pgtest.Becomes(func() bool {
		return t.Failed() || pgtest.One[int](t, db, "select count(*) from pg_locks where locktype = 'advisory' and not granted") >= 2
	})
	if _, err := holder.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	runs.Wait()
	if got := strings.Count(strings.Join(said, ""), "installing extension"); got != 1 {
		t.Errorf("%d of two runs installed\n%s", got, strings.Join(said, "\n"))
	}
}
