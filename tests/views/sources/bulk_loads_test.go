package sources

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const loadedSpec = `
version: 1
extension: {name: shop, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: public.totals
    refresh_mode: MODE
    query: |
      SELECT customer_id, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer_id
  - name: public.regions
    refresh_mode: MODE
    query: |
      SELECT region, max(n) AS top, count(*) AS c FROM sales GROUP BY region
`

const bulk = `
insert into orders select i, i % 100, i from generate_series(1000, 20000) i;
update orders set amount = amount + 1 where id % 7 = 0;
delete from orders where id % 11 = 0;
insert into sales select i, case i % 2 when 0 then 'eu' else 'us' end, i from generate_series(1000, 2000) i;
`

// loads are ways to write rows of which no trigger learns, with the tick that follows or without.
var loads = []struct {
	name   string
	before []string
	after  []string
}{
	{"one transaction", []string{"begin", "alter table orders disable trigger user", "alter table sales disable trigger user"},
		[]string{"alter table orders enable trigger user", "alter table sales enable trigger user", "select pgtrickle.attach()", "commit"}},
	{"several transactions", []string{"alter table orders disable trigger user", "alter table sales disable trigger user"},
		[]string{"alter table orders enable trigger user", "alter table sales enable trigger user", "select pgtrickle.attach()"}},
	{"without attach", []string{"begin", "alter table orders disable trigger user", "alter table sales disable trigger user"},
		[]string{"alter table orders enable trigger user", "alter table sales enable trigger user", "commit"}},
	{"never enabled", []string{"alter table orders disable trigger user", "alter table sales disable trigger user"}, nil},
	{"beside writers", []string{"begin", "alter table orders disable trigger user", "alter table sales disable trigger user"},
		[]string{"alter table orders enable trigger user", "alter table sales enable trigger user", "commit", "insert into orders values (50000, 1, 1)", "delete from sales where n % 3 = 0"}},
}

// TestBulkLoads has rows loaded while the triggers of their tables are disabled, as docs/operations.md does: stream tables are recomputed once, and follow again.
// Until then their status says that they do not show the rows, but where attach() was left out: then the next tick notices.
func TestBulkLoads(t *testing.T) {
	for _, mode := range []string{"auto", "immediate", "at_commit"} {
		conn := pgtest.DB(t).Connect(t)
		extension := follows(t, replicated, strings.ReplaceAll(loadedSpec, "MODE", mode))
		exec(t, conn, replicated, extension.Install(generator.Plain), extension.Fill(), replicatedTraffic)
		for _, load := range loads {
			when := mode + ", " + load.name
			exec(t, conn, "delete from orders", "delete from sales")
			refresh(t, conn)
			exec(t, conn, load.before...)
			exec(t, conn, bulk)
			exec(t, conn, load.after...)
			attached := len(load.after) > 2 && load.after[2] == "select pgtrickle.attach()"
			waits := len(pgtest.Column[string](t, conn, "select pgt_name from pgtrickle.pgt_status() where status = 'initializing'"))
			switch {
			case attached && mode == "immediate":
				compare(t, conn, when)
			case attached && waits != 2:
				t.Errorf("%s: %d stream tables are to be recomputed, not 2", when, waits)
			}
			refresh(t, conn)
			compare(t, conn, when+", recomputed")
			exec(t, conn, "insert into orders values (60000, 1, 1)", "update sales set n = n + 1")
			refresh(t, conn)
			compare(t, conn, when+", followed again")
			exec(t, conn, "delete from orders where id = 60000")
		}
	}
}
