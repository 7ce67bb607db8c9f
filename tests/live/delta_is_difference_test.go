package live

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// changeSchema is what the views of TestChanges read: keys and none, nulls, duplicates, odd names.
const changeSchema = `
create table a (id int primary key, x int, s text, n numeric);
create table b (x int, y int, s text);
create table "C ""c""" ("select" int, mult int, d1 text);
`

// changeViews are followed by their changes: linear ones, and groups over them.
var changeViews = []string{
	`select id, x + 1 as x1, upper(s) from a where x > 1 or s is null`,
	`select s, n from a`,
	`select * from b`,
	`select a.id, b.y, a.s || b.s as ss from a join b on a.x = b.x`,
	`select l.y, r.y as y2 from b l join b r on l.x = r.y`,
	`select l.y as y1, r.y as y2, t.x from b l, b r, b t where l.x = r.x and r.y = t.y and t.x <> l.y`,
	`select a.id, b.y, c.mult from a join b using (x) join "C ""c""" c on c."select" = b.y where c.d1 <> a.s`,
	`select id, "select" from a cross join "C ""c""" where id < "select"`,
	`select s, x from a union all select s, y from b where y > 2 union all values ('v', 1), ('w', null)`,
	`select u.s, c.mult from (select s, x from a union all select s, y from b) u join "C ""c""" c on c."select" = u.x`,
	`with big as (select x, count_of.n from (select x, y as n from b where y > 0) count_of) select p.n, q.n as m from big p join big q on p.x = q.x`,
	`select u.k, v.k as l from (select x as k from a union all select y from b) u join (select y as k from b union all select mult from "C ""c""") v on u.k = v.k`,
	`select x.n, b.y from b join (values (1, 'one'), (2, 'two'), (null, 'no')) as x(k, n) on x.k = b.x`,
	`select * from a natural join b`,
	`select x, count(*) as c, sum(id) as s, max(s) as m from a group by x`,
	`select count(*) as c from b group by x, y`,
	`select x + y as z, s, string_agg(s, ',' order by s) as l, avg(x) filter (where y > 1) as v from b group by 1, 2 having count(*) > 1`,
	`select distinct s, x from b`,
	`select distinct l.x from b l join b r on l.x = r.y`,
	`select s from a union select s from b`,
	`select a.id, a.s, min(b.y) as m from a join b on a.x = b.x group by a.id`,
	`select u.x, count(distinct u.s) as n from (select x, s from a union all select y, s from b) u group by u.x`,
	`select count(*) as n, sum(x) as s, max(s) as m from a`,
	`select m, count(*) as c from (select x, max(y) as m from b group by x) g group by m`,
	`select a.id, g.n from a join (select x, count(*) as n from b group by x having count(*) > 1) g on g.x = a.x`,
	`with g as (select x, sum(y) as t from b group by x) select l.x, r.x as rx from g l join g r on l.t < r.t`,
	`select distinct s from (select distinct s, x from b) d union all select min(s) from a`,
	`select g.n, v.k from (select count(*) as n from "C ""c""") g cross join (values (1), (2)) as v(k)`,
	`select mx, count(*) as c from (select x, max(t) as mx from (select x, y, sum(x) as t from b group by x, y) i group by x) o group by mx`,
	`select u.s, count(*) as n from (select s from a union select s from b) u join b on b.s = u.s group by u.s`,
	`select s, count(*) filter (where y > 1) as f, sum(y) filter (where x is not null) as fs, min(y) as lo, max(y) filter (where x > 1) as hi, avg(y * 2) as a from b group by s`,
	`select sum(n) as t, avg(n) filter (where x > 0) as v, min(s) as m, count(s) as c from a having count(*) >= 0`,
	`select n * 2 as k, sum(n + 1.5) as t, max(id) - min(id) as span from a group by n having sum(n) is not null`,
	`select trunc(u.k) as t, u.z, count(*) as c from (select x / 2 as k, null as z from b union all select n, s from a) u group by 1, 2`,
	`select trunc(u.k) as t from (select x / 2 as k from b union all select n from a) u join b on b.y = u.k`,
	`select d1, bool_or(mult > 2) as o, sum(mult) * 2 as t from "C ""c""" group by d1 having max("select") is distinct from 3`,
	`select id, array[x, null, id] as xs, ('[' || coalesce(x, 0) || ', "\u00e9"]')::jsonb as j, decode(md5(s), 'hex') as raw, timestamp '2020-01-31 12:00:00.123456' + make_interval(months => x) as at, date '2024-02-29' + x as day from a`,
	`select array[x] as xs, max(timestamp '2020-01-31' + make_interval(months => y)) as last, sum(x / 3.0) as thirds, decode(md5(max(s)), 'hex') as raw from b group by array[x]`,
}

// TestChanges compares, for random changes of all tables at once, each view after them with the view before them and the
// changes that its compiled SQL computes.
func TestChanges(t *testing.T) {
	known := catalog.New()
	if errs := known.AddDDL(diag.WholeFile("schema.sql", changeSchema)); !errs.Empty() {
		t.Fatal(errs.Error())
	}
	db := pgtest.DB(t)
	db.Exec(t, changeSchema+changeLogs)
	for n, query := range changeViews {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			errs := &diag.List{}
			view := ivm.Compile(query, diag.WholeFile("query.sql", query).Pos, known, errs)
			if view == nil {
				t.Fatal(errs)
			}
			sql := view.Apply.Signed(ivm.Tables{
				Log:    func(r *catalog.Relation) string { return sqltext.Qualified("changes", r.Name) },
				Stored: "old",
			})
			if sql == "" {
				t.Fatalf("%s, %v", view.Strategy, view.Full)
			}
			conn := db.Connect(t)
			for seed := range pgtest.ShortOrLong(uint64(5), 30) {
				followOnce(t, conn, view.Recompute.Rows(), hashOf(view), sql, rand.New(rand.NewPCG(seed, uint64(n))))
			}
		})
	}
}

// changeLogs has a relation changes.T for each table T: its rows now, less its rows before.
const changeLogs = `
create schema before;
create schema changes;
create table before.a (like a); create table before.b (like b); create table before."C ""c""" (like "C ""c""");
create view changes.a as select *, 1 as __mult from a union all select *, -1 from before.a;
create view changes.b as select *, 1 as __mult from b union all select *, -1 from before.b;
create view changes."C ""c""" as select *, 1 as __mult from "C ""c""" union all select *, -1 from before."C ""c""";
`

// hashOf is the column by which stored groups with nulls in their keys are found.
func hashOf(view *ivm.Plan) string {
	storage := view.Storage
	if view.Strategy != ivm.MergeGroups || !storage.Hashed() {
		return ""
	}
	return ", " + storage.HashOf("") + " as " + ivm.Hash
}

func followOnce(t *testing.T, conn *pgx.Conn, rows, hash, sql string, r *rand.Rand) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	exec := func(sql string) {
		t.Helper()
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s\n%s", pgtest.ErrorText(err), sql)
		}
	}
	exec(randomRows(r, 12))
	exec(`insert into before.a table a; insert into before.b table b; insert into before."C ""c""" table "C ""c"""`)
	exec("create temp table old on commit drop as select *" + hash + " from (" + rows + ") q")
	exec(randomRows(r, 6) + randomChanges(r))
	exec("create temp table delta on commit drop as " + sql)
	exec("create temp table new on commit drop as select *" + hash + " from (" + rows + ") q")
	columns := pgtest.Column[string](t, tx, "select attname::text from pg_attribute where attrelid = 'old'::regclass and attnum > 0 and attname <> '__hash' order by attnum")
	for i, c := range columns {
		columns[i] = sqltext.Ident(c)
	}
	wrong := pgtest.Column[string](t, tx, fmt.Sprintf(`
select x::text
from (
    select %[1]s, sum(__mult) as __mult
    from (select %[1]s, 1 as __mult from old union all select %[1]s, __mult from delta union all select %[1]s, -1 from new) z
    group by %[1]s
    having sum(__mult) <> 0
) x`, strings.Join(columns, ", ")))
	if len(wrong) > 0 {
		t.Fatalf("%d rows are wrong, such as %q:\n%s\n%s", len(wrong), wrong[:min(3, len(wrong))], rows, sql)
	}
}

// randomRows inserts rows with few distinct values, so that joins and duplicates are frequent.
func randomRows(r *rand.Rand, most int) string {
	var sql strings.Builder
	small := func() string { return []string{"0", "1", "2", "3", "4", "null"}[r.IntN(6)] }
	word := func() string { return []string{"'p'", "'q'", "''", "null"}[r.IntN(4)] }
	for range r.IntN(most + 1) {
		fmt.Fprintf(&sql, "insert into a values (%d, %s, %s, %s.5) on conflict (id) do update set x = excluded.x;\n", r.IntN(15), small(), word(), fmt.Sprint(r.IntN(3)))
		fmt.Fprintf(&sql, "insert into b values (%s, %s, %s);\n", small(), small(), word())
		fmt.Fprintf(&sql, "insert into \"C \"\"c\"\"\" values (%s, %s, %s);\n", small(), small(), word())
	}
	return sql.String()
}

func randomChanges(r *rand.Rand) string {
	all := []string{
		"update a set x = x + 1 where id % 3 = 0;", "delete from a where id > 9;", "update a set id = id + 100 where id < 3;",
		"update b set y = null where x = 1;", "delete from b where ctid in (select ctid from b limit 2);", "update b set s = 'p';",
		`update "C ""c""" set "select" = 1 where mult > 1;`, `delete from "C ""c""" where d1 is null;`, `truncate "C ""c""";`, "truncate b;",
	}
	var sql strings.Builder
	for range r.IntN(5) {
		sql.WriteString(all[r.IntN(len(all))] + "\n")
	}
	return sql.String()
}
