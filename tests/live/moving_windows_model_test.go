package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const movingDDL = `create table ev (id int, k int, ts timestamptz, at timestamp, n numeric);
create index on ev (ts);
create table keyed (id int primary key, k int not null, until timestamptz not null);
create view latest as select k, max(ts) as ts from ev where ts <= now() group by k;
`

// movingQueries compare with the time or with values of all rows, alone and with the rest of SQL. What they compare is a few milliseconds from the edges.
var movingQueries = []string{
	"select * from ev where ts > now() - interval '1 hour'", "select id, k from ev where ts + interval '1 hour' <= now()", "select k, count(*), sum(n) from ev where ts between now() - interval '1 hour' and now() group by k",
	"select distinct k from ev where at > localtimestamp - interval '1 hour'", "select e.id, d.until from ev e join keyed d on d.k = e.k and d.until > now() where e.ts < current_timestamp",
	"select id from keyed d where not exists (select from ev e where e.k = d.k and e.ts > now() - interval '1 hour')", "select id from keyed where until > now() or k in (select k from ev where ts <= now())",
	"select d.id, e.n from keyed d left join (select * from ev where ts > now()) e on e.k = d.k", "select k, max(ts) as last from ev group by k having max(ts) < now()",
	"select id, row_number() over (partition by k order by until, id) as place from keyed where until <= now()", "select id, n from ev where n > (select avg(n) from ev) and ts > now() - interval '1 hour'",
	"select id from keyed where case when k = 1 then until < now() else until > now() - interval '1 hour' end", "select * from latest", "select k from ev where ts < now() except select k from keyed where until < now()",
	"select id from keyed where until > (select min(ts) from ev)", "select k, n from ev where n between (select min(n) from ev where k = 1) and (select avg(n) from ev)", "select id from keyed where until = (select max(until) from keyed)",
	"select k, sum(n) from ev group by k having sum(n) >= (select sum(n) / 3 from ev)", "select id from keyed where id < (select count(*) from ev where ts > now())", "select count(*) from keyed where now() >= until",
	"select id, until from keyed where until > now() order by until, id limit 2", "select d.id from keyed d where exists (select from latest l where l.k = d.k) and d.until::date <= current_date",
	"select x.k, x.n from (select k, count(*) as n from keyed where until > now() - interval '1 hour' group by k) x where x.n > (select avg(n) from ev)",
}

// TestRandomMoving refreshes while time passes and rows change, and compares as of the same moment, which is that of the transaction.
func TestRandomMoving(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	fmt.Sscan(os.Getenv("SLUICE_TEST_SEED"), &seed)
	random := rand.New(rand.NewPCG(seed, 5))
	text := "version: 1\nextension: {name: sluice_moving, version: 1.0.0}\nschema: [schema.sql]\nstream_tables:\n"
	for n, query := range movingQueries {
		text += fmt.Sprintf("  - name: public.moving_%d\n    refresh_mode: differential\n    schedule: 1d\n    query: |\n      %s\n", n, query)
	}
	db := pgtest.DB(t)
	conn := db.Connect(t)
	run(t, conn, movingDDL)
	run(t, conn, installed.Over(t, text, movingDDL).Install("plain"))
	for n := range movingQueries {
		run(t, conn, fmt.Sprintf("select pgtrickle.refresh_stream_table('public.moving_%d')", n))
	}
	edge := func() string {
		base := []string{"now()", "now() - interval '1 hour'", "now() - interval '1 day'", "now() + interval '1 day'"}[random.IntN(4)]
		return fmt.Sprintf("%s + interval '%d microseconds'", base, random.IntN(20000)-4000)
	}
	value := func(from ...string) string { return from[random.IntN(len(from))] }
	steps := 20
	if pgtest.Long() {
		steps = 1500
	}
	for step := range steps {
		run(t, conn, "begin")
		for range random.IntN(4) {
			switch random.IntN(8) {
			case 0:
				run(t, conn, fmt.Sprintf("delete from ev where ctid = any (array(select ctid from ev order by random() limit %d))", random.IntN(4)))
			case 1:
				run(t, conn, fmt.Sprintf("update ev set ts = %s, n = %s where k = %d", edge(), value("1", "1.0", "5", "null", "'NaN'"), random.IntN(4)))
			case 2:
				run(t, conn, fmt.Sprintf("update keyed set until = %s where id = %d", edge(), random.IntN(12)))
			case 3:
				run(t, conn, value("delete from ev", "delete from keyed where id % 2 = 0", "delete from ev where n > 2", "update keyed set k = k % 3 + 1"))
			case 4:
				run(t, conn, fmt.Sprintf("insert into keyed values (%d, %d, %s) on conflict (id) do update set until = excluded.until", random.IntN(12), random.IntN(4), edge()))
			default:
				run(t, conn, fmt.Sprintf("insert into ev select %d + g, (%[1]d + g) %% 4, %s, %s, %s from generate_series(0, %d) g",
					random.IntN(9), value(edge(), "null"), edge(), value("1", "-2", "2.50", "null", "random()::numeric(4, 2)"), random.IntN(3)))
			}
		}
		for n, query := range movingQueries {
			mode := pgtest.Column[string](t, conn, fmt.Sprintf("select mode from pgtrickle.refresh_stream_table('public.moving_%d')", n))
			differ := pgtest.Rows(t, conn, fmt.Sprintf(`select * from (
				(select 'missing', g::text from (%[2]s) g except all select 'missing', m::text from moving_%[1]d m) union all (select 'extra', m::text from moving_%[1]d m except all select 'extra', g::text from (%[2]s) g)) d`, n, query))
			if len(differ) > 0 {
				t.Fatalf("seed %d, step %d: %s: %v: %v", seed, step, query, mode, differ)
			}
		}
		run(t, conn, value("commit", "commit", "commit", "rollback"))
		run(t, conn, fmt.Sprintf("select pg_sleep(%g)", pause(random)))
		if n := random.IntN(len(movingQueries)); step%4 == 0 {
			if checked := fmt.Sprint(pgtest.Rows(t, conn, fmt.Sprintf("select missing, extra from pgtrickle.check_stream_table('public.moving_%d')", n))); checked != "[[0 0]]" {
				t.Fatalf("seed %d, step %d: %s: checked %s", seed, step, movingQueries[n], checked)
			}
		}
	}
	reasons := pgtest.Rows(t, conn, "select stream_table, reason, count(*) from pgtrickle.pgt_refresh_history where mode = 'full' and reason <> 'filled for the first time' group by 1, 2")
	if len(reasons) > 0 {
		t.Errorf("seed %d: recomputed: %v", seed, reasons)
	}
}

// pause is a pause of some milliseconds, or none.
func pause(random *rand.Rand) float64 { return float64(random.IntN(3)) * 0.002 }
