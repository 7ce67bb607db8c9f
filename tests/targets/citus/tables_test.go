//go:build citus

package citus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// newTables is a cluster with the tables and stream tables of a folder of testdata.
func newTables(t testing.TB, name string) (*cluster, *spec.Spec) {
	t.Helper()
	c := newCluster(t, "")
	schema, err := os.ReadFile(filepath.Join("testdata", name, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t, 0)
	for _, statement := range pgtest.Split(string(schema)) {
		mustExec(t, conn, statement)
	}
	c.install(t, migration(t, name))
	specs, errs := spec.Load(filepath.Join("testdata", name, "spec.yaml"))
	if !errs.Empty() {
		t.Fatal(errs)
	}
	return c, specs[0]
}

// refreshed refreshes all stream tables.
func refreshed(t testing.TB, conn *pgx.Conn, s *spec.Spec) {
	t.Helper()
	for _, table := range s.StreamTables {
		mustExec(t, conn, "select * from "+pgx.Identifier{s.Extension.Schema}.Sanitize()+".refresh_stream_table($1)", table.Relation.Schema+"."+table.Relation.Name)
	}
}

// equal compares all stream tables with their queries, as bags.
func equal(t testing.TB, conn *pgx.Conn, s *spec.Spec, when string) {
	t.Helper()
	mustExec(t, conn, "set search_path = public, "+pgx.Identifier{s.Extension.Schema}.Sanitize())
	for _, table := range s.StreamTables {
		name := pgx.Identifier{table.Relation.Schema, table.Relation.Name}.Sanitize()
		count := func(from string) map[string]int {
			rows := map[string]int{}
			for _, row := range pgtest.Rows(t, conn, "select q.* from "+from+" q") {
				rows[strings.Join(row, "|")]++
			}
			return rows
		}
		got, want := count(name), count("(\n"+strings.TrimSuffix(strings.TrimSpace(table.Query.Text), ";")+"\n)")
		for row, n := range want {
			if got[row] != n {
				t.Errorf("%s: %s has %d times %s, want %d", when, name, got[row], row, n)
			}
		}
		for row, n := range got {
			if want[row] == 0 {
				t.Errorf("%s: %s has %d times %s, want none", when, name, n, row)
			}
		}
		if found := pgtest.Rows(t, conn, "select * from "+pgx.Identifier{s.Extension.Schema}.Sanitize()+".check_stream_table($1)", table.Relation.Schema+"."+table.Relation.Name); found[0][0] != "0" || found[0][1] != "0" {
			t.Errorf("%s: check_stream_table of %s finds %v", when, name, found)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// change is a random statement on the sources.
func change(r *rand.Rand) string {
	customer, id, amount := r.IntN(30), r.IntN(60), []string{"null", "1", "2.50", "2.5", "9", "100"}[r.IntN(6)]
	status, region := []string{"null", "'paid'", "'void'", "'open'"}[r.IntN(4)], []string{"null", "'n'", "'s'", "'w'"}[r.IntN(4)]
	switch r.IntN(16) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("insert into orders values (%d, %d, %s, %s, %s) on conflict do nothing", id, customer, amount, status, region)
	case 4:
		return fmt.Sprintf("insert into orders select g, g %% 30, %s, %s, %s from generate_series(%d, %d) g on conflict (customer_id, id) do update set amount = excluded.amount", amount, status, region, id, id+r.IntN(30))
	case 5:
		return fmt.Sprintf("update orders set amount = %s, status = %s where customer_id = %d", amount, status, customer)
	case 6:
		return fmt.Sprintf("update orders set region = %s where id = %d", region, id)
	case 7:
		return fmt.Sprintf("delete from orders where customer_id = %d", customer)
	case 8:
		return fmt.Sprintf("delete from orders where id = %d", id)
	case 9, 10:
		return fmt.Sprintf("insert into customers values (%d, 'c%d', %s, '2000-01-01') on conflict (id) do update set region = excluded.region", customer, id, region)
	case 11:
		return fmt.Sprintf("delete from customers where id = %d", customer)
	case 12, 13:
		return fmt.Sprintf("insert into notes select %d, c.id from customers c where c.id = %d on conflict do nothing", id, customer)
	case 14:
		return fmt.Sprintf("insert into regions values (coalesce(%s, 'x'), 'r%d', %d) on conflict (region) do update set name = excluded.name, rate = excluded.rate", region, r.IntN(3), r.IntN(3))
	}
	if r.IntN(10) == 0 {
		return []string{"truncate notes", "truncate orders", "truncate regions", "delete from regions"}[r.IntN(4)]
	}
	return fmt.Sprintf("insert into orders (id, customer_id, amount) select o.id + 100, o.customer_id, o.amount from orders o where o.id < %d on conflict do nothing", id/10)
}

// TestStreamTables changes the sources at random from all nodes, in transactions that end in different ways, and compares each stream table with its query.
func TestStreamTables(t *testing.T) {
	c, s := newTables(t, "tables")
	conns := []*pgx.Conn{c.connect(t, 0), c.connect(t, 1), c.connect(t, 2)}
	r := rand.New(rand.NewPCG(seed, 1))
	refreshed(t, conns[0], s)
	equal(t, conns[0], s, "empty")
	for round := range 25 {
		conn, when := conns[r.IntN(3)], ""
		for range 1 + r.IntN(6) {
			statements := []string{change(r)}
			if r.IntN(3) == 0 {
				statements = append([]string{"begin"}, change(r), "savepoint a", change(r), []string{"rollback to a", "release a"}[r.IntN(2)], change(r), []string{"commit", "rollback"}[r.IntN(2)])
			}
			when += strings.Join(statements, "; ") + ";\n"
			for _, sql := range statements {
				if strings.HasPrefix(sql, "truncate") && conn != conns[0] {
					continue
				}
				mustExec(t, conn, sql)
			}
		}
		if fault := map[int]func(testing.TB, *cluster, int) error{5: moveOnline, 10: splitOnline, 15: splitShard, 20: moveShards}[round]; fault != nil {
			when += "with a fault\n"
			if err := fault(t, c, round%8); err != nil {
				t.Fatal(err)
			}
		}
		refreshed(t, conns[0], s)
		equal(t, conns[0], s, fmt.Sprintf("round %d, after\n%s", round, when))
	}
}

// TestOddTables has names and values that need quotes.
func TestOddTables(t *testing.T) {
	c, s := newTables(t, "oddtables")
	conn := c.connect(t, 0)
	refreshed(t, conn, s)
	const odd = `"Odd 'sources'"."Täble % with $1 and ""quotes"" that has a long name of bytes"`
	for n, sql := range []string{
		`insert into ` + odd + ` values ('it''s', 1, '{"a": 1}', array['x', null]), ('%s', 2, null, '{}'), ('', 3, '{"a":  1}', null), ('"', 4, '[]', array['"', '\'])`,
		`insert into ` + odd + ` select 'k' || g % 5, g, case when g % 2 = 0 then '{"a": 1}'::json end from generate_series(10, 40) g`,
		`insert into "reference table" values ('a', '%'), ('b', null), ('c', '$sql$')`,
		`insert into "from" select gen_random_uuid(), chr(97 + g % 4), g / 3.0, 'nan', 'infinity', '\x00ff' from generate_series(1, 20) g`,
		`update "from" set "double" = '-0', seen = '-infinity', price = null where "order" = 'a'`,
		`update "from" set "double" = 0 where "order" = 'a'`,
		`update "reference table" set "%L" = '' where "order" = 'b'`,
		`delete from ` + odd + ` where "select" % 3 = 0`,
		`truncate "from"`,
	} {
		mustExec(t, conn, sql)
		refreshed(t, conn, s)
		equal(t, conn, s, fmt.Sprintf("statement %d", n))
	}
	down := installed.Migration(t, filepath.Join("testdata", "oddtables", "spec.yaml"), "down")
	c.install(t, down+migration(t, "oddtables")) // as where the stream tables change
	refreshed(t, conn, s)
	equal(t, conn, s, "installed again")
	c.install(t, down)
	if left := pgtest.Column[string](t, conn, `select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname like 'Odd ''sch%'
		union all select t.tgname from pg_trigger t where t.tgname like 'odd-Names%'`); len(left) > 0 {
		t.Errorf("the down script leaves %v", left)
	}
	mustExec(t, conn, `insert into "from" values (gen_random_uuid())`)
}

// TestDistributionIsChecked has sources that are not distributed as the DDL says, at first and later, and triggers that are disabled.
func TestDistributionIsChecked(t *testing.T) {
	for what, c := range map[string]struct{ schema, want string }{
		"other column":       {"orders', 'id", "needs table public.orders distributed by customer_id"},
		"not colocated":      {"customers', 'id', colocate_with => 'none", "needs table public.customers colocated with public.orders"},
		"no reference table": {"regions', 'region", "needs public.regions as a reference table"},
	} {
		t.Run(what, func(t *testing.T) { refusedAtInstall(t, c.schema, c.want) })
	}
	c, s := newTables(t, "tables")
	conn := c.connect(t, 0)
	mustExec(t, conn, "insert into orders select g, g % 9, g from generate_series(1, 100) g")
	refreshed(t, conn, s)
	onShards := func(sql string) { mustExec(t, conn, "select run_command_on_shards('orders', $1)", sql) }
	onShards("alter table %s disable trigger all")
	mustExec(t, conn, "delete from orders where customer_id = 3") // nobody notes it
	_, err := conn.Exec(t.Context(), "select shop.refresh_stream_table('totals')")
	if text := pgtest.ErrorText(err); !strings.Contains(text, "changes of shard public.orders_") {
		t.Error(text)
	}
	onShards("alter table %s enable trigger all")
	refreshed(t, conn, s)
	equal(t, conn, s, "after triggers were disabled")
	mustExec(t, conn, "select update_distributed_table_colocation('orders', 'none')")
	_, err = conn.Exec(t.Context(), "select shop.refresh_stream_table('totals')")
	if text := pgtest.ErrorText(err); !strings.Contains(text, "needs table public.orders colocated with shop_internal.totals_rows") {
		t.Error(text)
	}
	mustExec(t, conn, "call shop.tick()")
	if got := pgtest.One[string](t, conn, "select status || ' ' || (last_error is null) from shop.pgt_stream_tables where pgt_name = 'totals'"); got != "failing false" {
		t.Error(got)
	}
}

// refusedAtInstall distributes a table in another way than the DDL, and installs.
func refusedAtInstall(t *testing.T, call, want string) {
	c := newCluster(t, "")
	schema, err := os.ReadFile(filepath.Join("testdata", "tables", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t, 0)
	table, _, _ := strings.Cut(call, "'")
	for _, statement := range pgtest.Split(string(schema)) {
		if strings.Contains(statement, "table('"+table+"'") {
			statement = "select create_distributed_table('" + call + "')"
		}
		if !strings.Contains(statement, "notes") {
			mustExec(t, conn, statement)
		}
	}
	script := pgtest.Split("begin;" + migration(t, "tables") + "commit;")
	for _, statement := range script {
		if _, err = conn.Exec(t.Context(), statement); err != nil {
			break
		}
	}
	if text := pgtest.ErrorText(err); !strings.Contains(text, want) {
		t.Errorf("%s, not %s", text, want)
	}
}

// TestShardsOnCoordinator moves a shard to the coordinator, which then writes it without a connection.
func TestShardsOnCoordinator(t *testing.T) {
	c, s := newTables(t, "tables")
	conn := c.connect(t, 0)
	mustExec(t, conn, "insert into orders select g, g % 30, g from generate_series(1, 100) g")
	refreshed(t, conn, s)
	mustExec(t, conn, "select citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', true)", c.nodes[0].Port)
	mustExec(t, conn, `select citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, '127.0.0.1', $1, 'block_writes')
		from (select * from citus_shards where table_name = 'public.orders'::regclass order by shardid limit 3) s`, c.nodes[0].Port)
	r := rand.New(rand.NewPCG(seed, 2))
	for round := range 8 {
		for range 8 {
			mustExec(t, conn, change(r))
		}
		refreshed(t, conn, s)
		equal(t, conn, s, fmt.Sprintf("round %d", round))
	}
}

// TestStreamTableErrors calls what cannot be done.
func TestStreamTableErrors(t *testing.T) {
	c, _ := newTables(t, "tables")
	for _, wrong := range []struct {
		node      int
		sql, want string
	}{
		{0, "select shop.refresh_stream_table('nothing')", "ERROR (42704): stream table not found: nothing"},
		{0, "select shop.refresh_stream_table(null)", "ERROR (42704): stream table not found: <null>"},
		{1, "select shop.refresh_stream_table('totals')", "ERROR (55000): stream tables are refreshed from the coordinator"},
		{0, "insert into shop.totals (customer_id) values (1)", "ERROR (0A000)"},
	} {
		_, err := c.connect(t, wrong.node).Exec(t.Context(), wrong.sql)
		if text := pgtest.ErrorText(err); !strings.HasPrefix(text, wrong.want) {
			t.Errorf("%s: %s, not %s", wrong.sql, text, wrong.want)
		}
	}
	conn := c.connect(t, 0)
	mustExec(t, conn, "insert into orders values (1, 1, 10)")
	mustExec(t, conn, "begin")
	mustExec(t, conn, "insert into orders values (2, 1, 10)") // not seen, as it is not committed
	mustExec(t, conn, "select * from shop.refresh_stream_table('totals')")
	mustExec(t, conn, "commit")
	if got := pgtest.One[int](t, conn, "select orders from shop.totals"); got != 1 {
		t.Errorf("%d orders are seen", got)
	}
	mustExec(t, conn, "call shop.tick()")
	if got := pgtest.One[int](t, conn, "select orders from shop.totals"); got != 2 {
		mustExec(t, conn, "select * from shop.refresh_stream_table('totals')")
		if got := pgtest.One[int](t, conn, "select orders from shop.totals"); got != 2 {
			t.Errorf("%d orders are seen in the end", got)
		}
	}
}
