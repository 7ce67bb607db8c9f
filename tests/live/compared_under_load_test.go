package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const comparedDDL = "create table sales (id int primary key, customer int not null, amount numeric not null);\ncreate table customers (id int primary key, name text not null);\n"

const comparedSpec = `version: 1
extension: {name: compared, version: 1.0.0}
schema: [%s]
stream_tables:
  - name: public.totals
    query: |
      select customer, count(*) as n, sum(amount) as total, max(amount) as most from sales group by customer
  - name: public.named
    query: |
      select c.name, s.amount from sales s join customers c on c.id = s.customer
  - name: public.upper
    query: |
      select name, sum(amount) as total from named group by name
  - name: public.immediate
    refresh_mode: immediate
    query: |
      select customer, sum(amount) as total from sales group by customer
`

// TestComparedUnderLoad compares stream tables while others write and refresh: what they commit between two statements of a comparison is no
// difference, in READ COMMITTED either. One that finds no moment without commits, as on a machine that is busy, is refused and tried again.
func TestComparedUnderLoad(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "schema.sql")
	if err := os.WriteFile(schema, []byte(comparedDDL), 0o644); err != nil {
		t.Fatal(err)
	}
	extension := installed.Text(t, fmt.Sprintf(comparedSpec, schema))
	db := pgtest.DB(t)
	db.Exec(t, comparedDDL+"insert into customers select i, 'c' || i % 5 from generate_series(0, 9) i; insert into sales select i, i % 10, i from generate_series(1, 2000) i")
	db.Exec(t, extension.Install(generator.Plain))
	db.Exec(t, extension.Fill())

	conn := db.Connect(t)
	stop := make(chan struct{})
	ended := make(chan error, 3)
	for n, statement := range []string{
		"insert into sales values ($1, $1 % 10, $1 % 100) on conflict (id) do update set amount = excluded.amount + 1",
		"delete from sales where id = $1",
		"select from pgtrickle.tick_once() where $1 % 50 = 0",
	} {
		conn := db.Connect(t)
		go func() { ended <- write(t, conn, statement, n*1000, stop) }()
	}
	compared := 0
	for compared < pgtest.ShortOrLong(16, 60) {
		for _, name := range []string{"public.totals", "public.named", "public.upper", "public.immediate"} {
			var missing, extra int
			err := conn.QueryRow(t.Context(), "select missing, extra from pgtrickle.check_stream_table($1)", name).Scan(&missing, &extra)
			if err != nil && !strings.Contains(err.Error(), "its sources change too fast") {
				t.Fatal(err)
			} else if err == nil {
				compared++
			}
			if missing != 0 || extra != 0 {
				t.Errorf("%s: %d rows are missing, %d are extra", name, missing, extra)
			}
		}
	}
	close(stop)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// write runs a statement with one number after the other until it is stopped.
func write(t *testing.T, conn *pgx.Conn, statement string, from int, stop chan struct{}) error {
	for n := from; ; n++ {
		select {
		case <-stop:
			return nil
		default:
		}
		if _, err := conn.Exec(t.Context(), statement, n%3000); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
}
