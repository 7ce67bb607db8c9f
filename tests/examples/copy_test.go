package examples

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const salesTable = `create table sales (sale_id bigint primary key, customer text not null, amount numeric(12, 2) not null);`

const totalsSpec = `
version: 1
extension: {name: totals, version: 1.0.0, schema: totals}
schema: [schema.sql]
stream_tables:
  - name: public.customer_totals
    query: |
      SELECT customer, sum(amount) AS total, count(*) AS sales FROM sales GROUP BY customer
    outbox: {inline_threshold_rows: 10}
consumer_groups:
  - {name: warehouse, outbox: customer_totals, auto_offset_reset: earliest}
`

const copyTables = `
create table customer_totals_copy (customer text primary key, total numeric, sales bigint);
create table copy_position (copy text primary key, last_id bigint not null);
`

// follower is a database with a stream table, another with a copy, and what follows the one for the other.
func follower(t *testing.T) (source, target *pgtest.Database, c *Copy) {
	t.Helper()
	source, target = pgtest.DB(t), pgtest.DB(t)
	extension := generate(t, totalsSpec, salesTable)
	source.Exec(t, salesTable+"insert into sales select n, 'c' || n % 40, n from generate_series(1, 200) n")
	source.Exec(t, extension.Install(generator.Plain))
	source.Exec(t, extension.Fill())
	target.Exec(t, copyTables)
	return source, target, &Copy{
		Source: pool(t, source.DSN()), Target: pool(t, target.DSN()), Group: "warehouse", Consumer: "w-1",
		Batch: 5, Lease: 30 * time.Second, Pause: 10 * time.Millisecond,
	}
}

func (c *Copy) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { c.Run(ctx); close(ended) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// refresh changes up to some sales and refreshes.
func refresh(t *testing.T, source *pgtest.Database, r *rand.Rand, most int) {
	t.Helper()
	for n := range 1 + r.IntN(most) {
		id, customer := 1+r.IntN(300), r.IntN(40)
		source.Exec(t, `delete from sales where sale_id = $1`, id)
		if n%3 > 0 {
			source.Exec(t, `insert into sales values ($1, $2, $3::text::numeric)`, id, fmt.Sprintf("c%d", customer), fmt.Sprintf("%d.25", r.IntN(100)))
		}
	}
	source.Exec(t, `select totals.refresh_stream_table('customer_totals')`)
}

// same waits until the copy has come to the newest row, and compares.
func same(t *testing.T, source, target *pgtest.Database) {
	t.Helper()
	newest := pgtest.One[int64](t, source, `select max(id) from totals.outbox_customer_totals`)
	until(t, target, fmt.Sprintf(`select coalesce((select last_id >= %d from copy_position), false)`, newest))
	table := pgtest.Rows(t, source, `select * from customer_totals order by customer collate "C"`)
	copied := pgtest.Rows(t, target, `select * from customer_totals_copy order by customer collate "C"`)
	if !slices.EqualFunc(table, copied, slices.Equal) {
		t.Fatalf("at row %d the table has %d rows %v, the copy %d rows %v", newest, len(table), table, len(copied), copied)
	}
}

// TestCopy follows a stream table through inline rows, claim checks and full refreshes, while connections of the copy are cut and its
// process is replaced.
func TestCopy(t *testing.T) {
	source, target, c := follower(t)
	target.Exec(t, `insert into copy_position values ('customer_totals', 0)`) // the group has seen the first fill
	r := rand.New(rand.NewPCG(1, 2))
	stop := c.start(t)
	for step := range 12 {
		refresh(t, source, r, []int{3, 60}[step%2])
		switch step {
		case 3, 6:
			cut(t, target)
		case 4, 7:
			cut(t, source)
		case 5:
			source.Exec(t, `update totals.pgt_settings set value = 'off' where name = 'outbox_enabled'`)
			refresh(t, source, r, 20)
			source.Exec(t, `update totals.pgt_settings set value = 'on' where name = 'outbox_enabled'`)
			refresh(t, source, r, 20)
		case 8:
			stop()
			// A process that died with all that it was granted, and one that takes its place.
			source.Exec(t, `select count(*) from totals.poll_outbox('warehouse', 'w-1', 1000, 600)`)
			refresh(t, source, r, 60)
			c.Consumer = "w-2"
			stop = c.start(t)
		}
		if step%3 == 2 {
			same(t, source, target)
		}
	}
	same(t, source, target)
	stop()
	seen := pgtest.Rows(t, source, `
		select is_claim_check, payload ? 'full_refresh', count(*) > 0 from totals.outbox_customer_totals group by 1, 2 order by 1, 2`)
	if len(seen) < 3 {
		t.Errorf("not all kinds of rows came: %v", seen)
	}
	if pending := pgtest.One[int64](t, source, `select claim_check_pending_count from totals.outbox_status('customer_totals')`); pending != 0 {
		t.Errorf("%d claim checks are not acknowledged", pending)
	}
}

// TestCopyBegins: a copy that is made later begins with a snapshot.
func TestCopyBegins(t *testing.T) {
	source, target, c := follower(t)
	r := rand.New(rand.NewPCG(3, 4))
	refresh(t, source, r, 60)
	refresh(t, source, r, 3)
	source.Exec(t, `select totals.create_consumer_group('late', 'customer_totals')`)
	c.Group = "late"
	if err := c.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, source, target)
	c.start(t)
	refresh(t, source, r, 60)
	same(t, source, target)
}

// cut ends all connections of the pools to a database.
func cut(t *testing.T, db *pgtest.Database) {
	t.Helper()
	own := pgtest.One[int32](t, db, `select pg_backend_pid()`)
	killer, err := pgx.Connect(t.Context(), db.SuperDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer killer.Close(context.Background())
	_, err = killer.Exec(t.Context(), `
		select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid not in ($1, pg_backend_pid())`, own)
	if err != nil {
		t.Fatal(err)
	}
}

// TestCopyTwice: two processes that follow at once get in each other's way, and the copy right.
func TestCopyTwice(t *testing.T) {
	source, target, c := follower(t)
	target.Exec(t, `insert into copy_position values ('customer_totals', 0)`)
	other := *c
	other.Consumer = "w-2"
	c.start(t)
	other.start(t)
	r := rand.New(rand.NewPCG(5, 6))
	for step := range 8 {
		refresh(t, source, r, []int{3, 60}[step%2])
		if step%4 == 3 {
			same(t, source, target)
		}
	}

	// Whatever they did, a row that comes again changes nothing.
	rows, err := c.Source.Query(t.Context(), `select id, is_claim_check, payload, 0 from totals.outbox_customer_totals order by id`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[refreshed])
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range all {
		if err := c.apply(t.Context(), again); err != nil {
			t.Fatal(err)
		}
	}
	same(t, source, target)
}
