// Package costs compares what explain promises to read for a changed row with what the server has read.
package costs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// rows is how many each table has, ten for each row of the table above it.
const rows = 40_000

const schema = `
create table regions (id int primary key, n int not null, name text not null);
create table customers (id int primary key, region int not null, n int not null);
create table orders (id int primary key, customer int not null, product int not null, n int not null);
create table products (id int primary key, n int not null);
create index on customers (region);
create index on orders (customer);
create index on orders (product);
`

var queries = map[string]string{
	"filtered": "select id, n from orders where n > 5",
	"joined":   "select o.id, o.n, c.n as c, r.n as r, p.n as p from orders o join customers c on c.id = o.customer join regions r on r.id = c.region join products p on p.id = o.product",
	"summed":   "select c.id, sum(o.n) as total, sum(r.n) as r from orders o join customers c on c.id = o.customer join regions r on r.id = c.region group by c.id",
	"extremes": "select c.region, min(o.n) as least, max(p.n) as most, count(*) as n from orders o join customers c on c.id = o.customer join products p on p.id = o.product group by c.region",
	"distinct": "select distinct c.region, p.n from orders o join customers c on c.id = o.customer join products p on p.id = o.product",
	"grouped":  "select c.id, c.n, t.total from customers c join (select customer, sum(n) as total from orders group by customer) t on t.customer = c.id",
	"twice":    "select a.id, a.n, b.n as b from customers a join customers b on b.id = a.region",
	"united":   "select id, n from customers union all select o.id, p.n from orders o join products p on p.id = o.product",
}

// promise is what explain says of a table: that rows of it are found by columns, or that all of it is read.
var (
	source  = regexp.MustCompile(`^public\.(\w+): `)
	promise = regexp.MustCompile(`^  reads (all of|a row of|the rows of|the rows of its group in) public\.(\w+)`)
)

// TestPromises changes a row of each source of each view, and looks at what the refresh reads. A table may be read as a whole only where explain says so,
// and not at all where it does not name it.
func TestPromises(t *testing.T) {
	text := "version: 1\nextension: {name: costs, version: 1.0.0}\nschema: [schema.sql]\nstream_tables:\n"
	for name, query := range queries {
		text += fmt.Sprintf("  - name: public.%s\n    schedule: 1h\n    refresh_mode: differential\n    query: |\n      %s\n", name, query)
	}
	db := pgtest.DB(t)
	db.Exec(t, schema+fmt.Sprintf(`
insert into regions select i, i %% 50, 'r' || i from generate_series(1, %[1]d) i;
insert into products select i, i %% 50 from generate_series(1, %[1]d) i;
insert into customers select i, 1 + i / 10, i %% 50 from generate_series(1, %[1]d - 10) i;
insert into orders select i, 1 + i / 10, 1 + i / 10, i %% 50 from generate_series(1, %[1]d - 10) i;
analyze`, rows))
	db.Exec(t, installed.Over(t, text, schema).Install(generator.Plain))
	db.Exec(t, "call pgtrickle_internal.pgt_fill()")
	s := load(t, text)
	for name := range queries {
		t.Run(name, func(t *testing.T) {
			explained, _, errs, err := generator.Explain(s, "public."+name, "", "text")
			if err != nil || !errs.Empty() {
				t.Fatal(err, errs)
			}
			promised := promises(explained)
			if len(promised) == 0 {
				t.Fatalf("no source in:\n%s", explained)
			}
			for of, reads := range promised {
				holds(t, db.Connect(t), name, of, reads)
			}
		})
	}
}

func load(t *testing.T, text string) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.yaml": text, "schema.sql": schema} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	specs, errs := spec.Load(filepath.Join(dir, "spec.yaml"))
	if !errs.Empty() {
		t.Fatal(errs)
	}
	return specs[0]
}

// promises are, for each source, the tables that a changed row has read, and whether as a whole.
func promises(explained string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	_, costs, _ := strings.Cut(explained, "\ncost class of each source")
	costs, _, _ = strings.Cut(costs, "\n\n")
	var of map[string]bool
	for _, line := range strings.Split(costs, "\n") {
		if m := source.FindStringSubmatch(line); m != nil {
			of = map[string]bool{}
			all[m[1]] = of
		} else if m := promise.FindStringSubmatch(line); m != nil {
			of[m[2]] = of[m[2]] || m[1] == "all of"
		}
	}
	return all
}

// holds changes a row of a source, refreshes, and compares. What it does is rolled back.
func holds(t *testing.T, conn *pgx.Conn, name, source string, promised map[string]bool) {
	t.Helper()
	read := func() map[string]int64 {
		counts := map[string]int64{}
		for _, row := range pgtest.Rows(t, conn, "select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where schemaname = 'public'") {
			var n int64
			fmt.Sscan(row[1], &n)
			counts[row[0]] = n
		}
		return counts
	}
	run(t, conn, fmt.Sprintf("begin; update %s set n = n + 7 where id = 777", source))
	before := read()
	if mode := pgtest.One[string](t, conn, "select mode from pgtrickle.refresh_stream_table($1)", "public."+name); mode != "differential" {
		t.Errorf("a change of %s: refreshed in mode %s", source, mode)
	}
	after := read()
	run(t, conn, "rollback")
	for table, n := range after {
		n -= before[table]
		whole, named := promised[table]
		named = named || table == source // the changed row itself
		switch {
		case named && !whole && n > rows/20:
			t.Errorf("a change of %s: %d rows of %s are read, by its columns as explain has it", source, n, table)
		case !named && n > 0:
			t.Errorf("a change of %s: %d rows of %s are read, which explain does not name", source, n, table)
		}
	}
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
