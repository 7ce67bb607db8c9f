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

// createdTablesDDL is tables of an application.
const createdTablesDDL = `create schema if not exists app;
create table app.orders (id bigint primary key, region text not null, amount numeric not null, placed timestamptz not null default '2026-01-01 12:00+00');
`

const createdTablesFirst = "schema: [schema.sql]\nstream_tables:\n  - name: app.large\n    query: |\n      SELECT id, region, amount FROM app.orders WHERE amount >= 10\n"

// createdTablesVersions are versions of an extension with stream tables that create_stream_table makes: as installed; with a diamond, which gives the catalog
// other columns; with created ones in the spec, in each mode; without the last stream table of the spec, and without imperative functions.
var createdTablesVersions = []string{
	"extension: {name: sluice_tables, version: 1.0.0, schema: box, imperative: true}\n" + createdTablesFirst,
	"extension: {name: sluice_tables, version: 1.1.0, schema: box, imperative: [stream_tables]}\n" + createdTablesFirst +
		"    fuse: 100000\n  - name: app.both\n    query: |\n      SELECT o.id, l.amount FROM app.orders o JOIN app.large l ON l.id = o.id\n",
	"extension: {name: sluice_tables, version: 1.2.0, schema: box, imperative: [stream_tables]}\n" + createdTablesInSpec,
	"extension: {name: sluice_tables, version: 1.3.0, schema: box, imperative: [stream_tables]}\n",
	"extension: {name: sluice_tables, version: 1.4.0, schema: box}\n" + createdTablesFirst,
}

const createdTablesInSpec = createdTablesFirst + `  - name: app.revenue
    schedule: 1m
    query: |
      SELECT region, sum(amount) AS revenue, count(*) AS orders FROM app.orders GROUP BY region
  - name: app."odd ""t.able's"
    refresh_mode: immediate
    query: |
      SELECT id, amount AS "the 'amount" FROM app.orders WHERE amount > 3
  - name: app.by_day
    refresh_mode: full
    schedule: 1m
    query: |
      SELECT placed::text AS day, count(*) AS n FROM app.orders GROUP BY placed::text
`

var createdTablesStates = []string{
	"select r::text from app.revenue r", `select o::text from app."odd ""t.able's" o`, "select d::text from app.by_day d", "select t::text from box.total t",
	"select grantee || privilege_type from information_schema.role_table_grants where table_name in ('revenue', 'by_day', 'odd \"t.able''s') and grantee = 'created_reader'",
}

func fillCreatedTables(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"insert into app.orders select i, 'r' || i % 3, i from generate_series(1, 20) i",
		"set timezone = 'Asia/Tokyo'",
		"select box.create_stream_table('app.revenue', 'SELECT region, sum(amount) AS revenue, count(*) AS orders FROM app.orders GROUP BY region', p_refresh_mode => 'auto')",
		`select box.create_stream_table('app."odd ""t.able''s"', 'SELECT id, amount AS "the ''amount" FROM app.orders WHERE amount > 3', '100ms')`,
		"select box.create_stream_table('app.by_day', 'SELECT placed::text AS day, count(*) AS n FROM app.orders GROUP BY placed::text')",
		"select box.create_stream_table('total', 'SELECT sum(l.amount) AS total, max(r.revenue) AS most FROM app.large l CROSS JOIN app.revenue r', '1h')",
		"reset timezone",
		`grant select on app.revenue, app.by_day, app."odd ""t.able's" to created_reader`,
		"insert into app.orders values (21, 'r0', 21)",
		"select box.refresh_stream_table('total')", `select box.refresh_stream_table('app."odd ""t.able''s"'), box.refresh_stream_table('by_day')`,
	} {
		run(t, conn, sql)
	}
}

func tablesVersions(t *testing.T) (versions []*generator.Extension, released []upgrade.Manifest) {
	for _, text := range createdTablesVersions {
		ddl := ""
		if strings.Contains(text, "schema.sql") {
			ddl = createdTablesDDL
		}
		e := installed.OverReleased(t, "version: 1\n"+text, ddl, released...)
		versions, released = append(versions, e), append(released, e.Manifest())
	}
	return versions, released
}

// agree compares all stream tables with their queries, and looks for errors.
func agree(t *testing.T, conn *pgx.Conn, what string) {
	t.Helper()
	for _, row := range pgtest.Rows(t, conn, "select c.stream_table, d.missing, d.extra from box_internal.pgt_stream_table_config c, box.check_stream_table(c.stream_table) d "+
		"where (d.missing, d.extra) is distinct from (0, 0)") {
		t.Errorf("%s: %v", what, row)
	}
	for _, row := range pgtest.Rows(t, conn, "select pgt_name, status, last_error from box.pgt_stream_tables where status <> 'active'") {
		t.Errorf("%s: %v", what, row)
	}
}

// TestCreatedStreamTablesUpgraded upgrades an extension with stream tables that create_stream_table made, in both flavours: they keep their rows, the spec takes some
// over, users see rows all the time, and nothing is left in the end.
func TestCreatedStreamTablesUpgraded(t *testing.T) {
	pgtest.Parallel(t)
	versions, released := tablesVersions(t)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	for n, e := range versions {
		installed.PutFiles(t, install, e, released[:n]...)
	}
	server := installed.Start(t, install)
	run(t, pgtest.Connect(t, server.DSN("postgres")), "create role created_reader")
	for _, flavour := range pgtest.ShortOrLong([]generator.Flavour{generator.Plain}, []generator.Flavour{generator.Plain, generator.AsExtension}) {
		t.Run(string(flavour), func(t *testing.T) {
			conn := create(t, server, "tables_"+string(flavour))
			before := leftovers(t, conn)
			to, must := applying(t, conn, flavour, versions, released)
			run(t, conn, createdTablesDDL)
			must(0)
			fillCreatedTables(t, conn)
			agree(t, conn, "as created")
			want := statesOf(t, conn, createdTablesStates)
			must(1)
			sameStates(t, "after an upgrade", want, statesOf(t, conn, createdTablesStates))
			agree(t, conn, "after an upgrade")
			run(t, conn, "insert into app.orders values (22, 'r0', 22); update box_internal.pgt_stream_table_state set checked_at = '-infinity'")
			run(t, conn, "call box.tick()")
			agree(t, conn, "after an upgrade and a tick")
			if text := fmt.Sprint(to(4, commandtest.ApplyOptions{})); !strings.Contains(text, "has stream tables that create_stream_table made") {
				t.Errorf("to a version without imperative functions: %s", text)
			}
			want = statesOf(t, conn, createdTablesStates)

			must(2)
			sameStates(t, "after the spec took some over", want, statesOf(t, conn, createdTablesStates))
			agree(t, conn, "after the spec took some over")
			if made := pgtest.Column[string](t, conn, "select stream_table from box_internal.pgt_created_stream_tables"); fmt.Sprint(made) != "[box.total]" {
				t.Errorf("still created: %q", made)
			}
			run(t, conn, "insert into app.orders values (23, 'r1', 23); update box_internal.pgt_stream_table_state set checked_at = '-infinity'")
			run(t, conn, "call box.tick()")
			agree(t, conn, "of the spec, after a tick")
			if left := pgtest.Column[string](t, conn, "select relname from pg_class where relname ~ '_(shape|rows_old)$'"); fmt.Sprint(left) != "[total_shape]" {
				t.Errorf("left of what the spec took over: %q", left)
			}
			must(3) // which lacks what total reads
			run(t, conn, "call box.tick()")
			if got := pgtest.Rows(t, conn, "select status, last_error ~ 'source app.large of box.total does not exist' from box.pgt_stream_tables where pgt_name = 'total'"); fmt.Sprint(got) != "[[failing t]]" {
				t.Errorf("without what it reads: %v", got)
			}
			run(t, conn, "create view app.large as select 1 as amount; create view app.revenue as select 2 as revenue")
			run(t, conn, "update box_internal.pgt_stream_table_state set checked_at = '-infinity'")
			run(t, conn, "call box.tick()")
			agree(t, conn, "with what it reads again")
			run(t, conn, "select box.refresh_stream_table('total'), box.attach()")
			if got := pgtest.Rows(t, conn, "select total, most from box.total"); fmt.Sprint(got) != "[[1 2]]" {
				t.Errorf("from what it reads now: %v", got)
			}
			run(t, conn, "select box.drop_stream_table('total')")
			run(t, conn, "drop view app.large, app.revenue")
			run(t, conn, "select box.create_stream_table('app.again', 'select id from app.orders', '100ms')")
			if text := fmt.Sprint(to(4, commandtest.ApplyOptions{})); !strings.Contains(text, "has stream tables that create_stream_table made") {
				t.Errorf("to a version without imperative functions: %s", text)
			}
			if _, done, err := commandtest.Uninstall(t.Context(), conn, versions[3], false); err != nil || !done {
				t.Fatalf("uninstalled: %t, %v", done, err)
			}
			run(t, conn, "drop table app.orders; drop schema if exists app")
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}

			run(t, conn, createdTablesDDL)
			must(0)
			fillCreatedTables(t, conn)
			if _, done, err := commandtest.Uninstall(t.Context(), conn, versions[0], false); err != nil || !done {
				t.Fatalf("uninstalled: %t, %v", done, err)
			}
			run(t, conn, "drop table app.orders; drop schema if exists app")
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}
		})
	}
}

// TestCreatedStreamTablesDumped takes stream tables that create_stream_table made into another cluster, in both flavours.
func TestCreatedStreamTablesDumped(t *testing.T) {
	if missing := pgtest.Server(t).Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	versions, _ := tablesVersions(t)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, versions[0])
	from, to := installed.Start(t, install), installed.Start(t, install)
	for _, server := range []*commandtest.Server{from, to} {
		run(t, pgtest.Connect(t, server.DSN("postgres")), "create role created_reader")
	}
	for _, flavour := range pgtest.ShortOrLong([]generator.Flavour{generator.AsExtension}, []generator.Flavour{generator.Plain, generator.AsExtension}) {
		t.Run(string(flavour), func(t *testing.T) {
			name := "tables_" + string(flavour)
			source := create(t, from, name)
			run(t, source, createdTablesDDL)
			run(t, source, scriptOf(versions[0], flavour))
			run(t, source, "call box.tick()")
			fillCreatedTables(t, source)
			want := statesOf(t, source, createdTablesStates)
			create(t, to, name).Close(t.Context())
			restore(t, from, to, name, "custom")
			target := pgtest.Connect(t, to.DSN(name, "user="+pgtest.Owner))
			run(t, target, "call box.tick()")
			sameStates(t, "after a restore", want, statesOf(t, target, createdTablesStates))
			agree(t, target, "after a restore")
			run(t, target, "insert into app.orders values (30, 'r0', 30); update box_internal.pgt_stream_table_state set checked_at = '-infinity'")
			run(t, target, "call box.tick()")
			agree(t, target, "after a tick")
			run(t, target, "select box.create_stream_table('another', 'select * from app.by_day'), box.drop_stream_table('another'), box.drop_stream_table('total')")
			if flavour == generator.AsExtension {
				run(t, target, "drop extension sluice_tables cascade")
				if left := pgtest.Column[string](t, target, "select relname from pg_class where relname ~ '_(shape|rows|rows_old)$' union all select proname from pg_proc where proname ~ '_(computed|recompute)$'"); len(left) > 0 {
					t.Errorf("DROP EXTENSION leaves %q", left)
				}
			}
		})
	}
}
