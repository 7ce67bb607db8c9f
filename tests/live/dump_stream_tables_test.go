package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestDumpAndRestoreStreamTables takes stream tables, with changes that none of them has seen, into another cluster.
func TestDumpAndRestoreStreamTables(t *testing.T) {
	if missing := pgtest.Server(t).Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	extension := streamsToDump(t)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, extension)
	from, to := installed.Start(t, install), installed.Start(t, install)
	for _, flavour := range []generator.Flavour{generator.Plain, generator.AsExtension} {
		for _, format := range formats(flavour) {
			t.Run(fmt.Sprintf("%s_%s", flavour, format), func(t *testing.T) {
				name := "streams_" + string(flavour) + "_" + format
				source := create(t, from, name)
				for _, sql := range []string{streamSources, scriptOf(extension, flavour), extension.Fill(), streamTraffic(100), streamTick} {
					run(t, source, sql)
				}
				// Who keeps copies by the outboxes goes on in the other cluster where he was.
				var copies []*replica
				for name, of := range map[string]string{"totals": "public", "named": "public", "regions": "app", "large": "public", "reached": "public", "busiest": "app"} {
					run(t, source, "select app.disable_outbox('"+name+"', true); select app.enable_outbox('"+name+"')")
					copies = append(copies, newReplica(t, source, "app", of, name))
					copies[len(copies)-1].follow(t, source)
				}
				for _, sql := range []string{streamTraffic(150), streamTick, "create view above as select * from totals; create materialized view kept as " + keptRows, streamTraffic(200)} {
					run(t, source, sql)
				}
				kept := pgtest.Column[string](t, source, "select k::text from ("+keptRows+") k order by 1")
				create(t, to, name)
				restore(t, from, to, name, format)
				target := pgtest.Connect(t, to.DSN(name, "user="+pgtest.Owner))
				// It was refreshed by what restored it. Readers are told that stream tables are not filled, until the first tick. Writers may come before that.
				if restored := pgtest.Column[string](t, target, "select k::text from kept k order by 1"); !slices.Equal(restored, kept) {
					t.Errorf("the materialized view has %q, not %q", restored, kept)
				}
				for _, table := range []string{"above", "large", "greatest", "numbers", "totals"} {
					if _, err := target.Exec(t.Context(), "select * from "+table); !isNotFilled(err) {
						t.Errorf("reading %s before the first tick: %v", table, err)
					}
				}
				run(t, target, streamTraffic(300))
				run(t, target, "update app_internal.pgt_stream_table_state set checked_at = '-infinity'")
				run(t, target, "call app.tick()")
				compareStreams(t, target, "after the restore")
				for _, c := range copies {
					c.follow(t, target)
					c.compare(t, target, "after the restore")
				}
				run(t, target, streamTraffic(400))
				run(t, target, streamTick)
				compareStreams(t, target, "after more")
				for _, c := range copies {
					c.follow(t, target)
					c.compare(t, target, "after more")
				}
				if modes := pgtest.Column[string](t, target, lastModes); strings.Join(modes, " ") != "differential differential differential differential" {
					t.Errorf("refreshed as %v", modes)
				}
				run(t, source, streamTick)
				compareStreams(t, source, "where it came from")
				run(t, target, "drop materialized view kept; drop view above")
				run(t, target, "drop table orders, customers, sales cascade")
				dropAll(t, target, extension, flavour)
			})
		}
	}
}

const streamSources = `
create table customers (id int primary key, name text not null);
create table orders (id int primary key, customer_id int, amount numeric);
create table sales (region text, n int) partition by list (region);
create table sales_eu partition of sales for values in ('eu');
create table sales_us partition of sales for values in ('us');
insert into customers select i, 'c' || i from generate_series(1, 9) i;
`

// streamTraffic changes everything, with ids from a number on.
func streamTraffic(from int) string {
	return strings.ReplaceAll(`
insert into orders select N + i, i % 9 + 1, i from generate_series(1, 50) i;
update orders set amount = amount + 1 where id % 7 = 0;
delete from orders where id % 11 = 0;
insert into sales_eu values ('eu', N);
insert into sales values ('us', N), ('eu', N);
update sales_us set n = n + 1;
`, "N", fmt.Sprint(from))
}

const streamTick = "update app_internal.pgt_stream_table_state set checked_at = '-infinity'; select app.tick_once()"

// keptRows are what a materialized view has of stream tables in several modes.
const keptRows = "select 'totals' as source, count(*) as n, sum(n) as of from totals union all select 'large', count(*), sum(amount) from large union all select 'numbers', count(*), sum(n) from numbers"

func isNotFilled(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55000" && strings.HasPrefix(pg.Message, "stream table is not filled yet: ")
}

const lastModes = `
select h.mode
from app.pgt_stream_tables s
cross join lateral (
    select h.mode
    from app.pgt_refresh_history h
    where h.stream_table = s.pgt_schema || '.' || s.pgt_name
    order by h.started_at desc
    limit 1
) h
where s.effective_mode = 'differential'`

func streamsToDump(t *testing.T) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	spec := `
version: 1
extension: {name: sluice_dump_streams, version: 1.2.3, schema: app, imperative: [outboxes]}
schema: [schema.sql]
stream_tables:
  - name: public.totals
    outbox: true
    query: |
      SELECT customer_id, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer_id
  - name: public.named
    query: |
      SELECT o.id, o.amount, c.name FROM orders o JOIN customers c ON c.id = o.customer_id
  - name: app.regions
    query: |
      SELECT region, max(n) AS top, count(*) AS n FROM sales GROUP BY region
  - name: public.numbers
    refresh_mode: at_commit
    query: |
      SELECT c.name, count(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.name
  - name: public.large
    refresh_mode: immediate
    outbox: {immediate: true}
    query: |
      SELECT id, amount FROM orders WHERE amount > (SELECT avg(amount) FROM orders)
  - name: public.greatest
    refresh_mode: immediate
    query: |
      SELECT max(amount) AS amount FROM large
  - name: public.reached
    refresh_mode: at_commit
    outbox: true
    query: |
      WITH RECURSIVE r(a, b) AS (SELECT customer_id, id FROM orders UNION SELECT r.a, o.id FROM r JOIN orders o ON o.customer_id = r.b) SELECT a, b FROM r
  - name: app.busiest
    outbox: true
    query: |
      WITH s AS (SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id) SELECT customer_id, total FROM s WHERE total = (SELECT max(total) FROM s)
`
	for name, text := range map[string]string{"schema.sql": streamSources, "spec.yaml": spec} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return installed.Load(t, filepath.Join(dir, "spec.yaml"))
}

// compareStreams compares each stream table with its query.
func compareStreams(t *testing.T, conn *pgx.Conn, when string) {
	t.Helper()
	for _, def := range pgtest.Column[string](t, conn, "select format('%I.%I|%s', pgt_schema, pgt_name, query) from app.pgt_stream_tables") {
		table, query, _ := strings.Cut(def, "|")
		wrong := pgtest.Column[string](t, conn, fmt.Sprintf(`
select x::text from ((table %[1]s except all (%[2]s)) union all ((%[2]s) except all table %[1]s)) x`, table, query))
		if len(wrong) > 0 {
			t.Errorf("%s, %s: %q", when, table, wrong)
		}
	}
	if bad := pgtest.Column[string](t, conn, "select pgt_name || ': ' || status || ' ' || coalesce(last_error, '') from app.pgt_stream_tables where status <> 'active'"); len(bad) > 0 {
		t.Errorf("%s: %q", when, bad)
	}
}
