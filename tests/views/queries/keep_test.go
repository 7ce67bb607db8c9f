package queries

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// keep makes stream tables, of one query in six in the short run, and compares them with their queries while the tables change.
func (f *file) keep(t *testing.T, rounds int) string {
	all, followed, immediate := []string{}, []string{}, 0
	for n, q := range f.taken {
		if q.followed {
			immediate++
		}
		if !pgtest.Chosen(n, 6) {
			continue
		}
		all = append(all, q.text)
		if q.followed {
			followed = append(followed, q.text)
		}
	}
	conn := f.db.Connect(t, "default_query_exec_mode=exec")
	k := &keeper{t: t, conn: conn, random: rand.New(rand.NewPCG(1, uint64(len(all)))), said: &strings.Builder{}, wrong: map[string]bool{}}
	made := []*generator.Extension{f.install(t, k, "later", spec.RefreshAuto, all)}
	if len(followed) > 0 {
		made = append(made, f.install(t, k, "now", spec.RefreshImmediate, followed))
	}
	k.tables = k.read("select c.oid::regclass::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1")
	k.compareAll("filled")
	for n := range rounds {
		k.change()
		for m := range all {
			k.exec(fmt.Sprintf("select later.refresh_stream_table('later.q%d')", m+1))
		}
		k.compareAll(fmt.Sprintf("round %d", n+1))
	}
	for _, e := range made {
		f.db.Exec(t, e.Uninstall())
	}
	said := fmt.Sprintf("%s%d recomputed or followed, %d immediate\n", k.said, len(f.taken), immediate)
	f.taken = nil
	return said
}

// install applies the stream tables of a mode, and has the keeper compare them.
func (f *file) install(t *testing.T, k *keeper, schema, mode string, queries []string) *generator.Extension {
	e, errs := f.generate(t, schema, mode, queries...)
	if !errs.Empty() {
		t.Fatalf("%s: %v", mode, errs)
	}
	did, err := commandtest.Apply(t.Context(), k.conn, e, commandtest.ApplyOptions{})
	if err != nil {
		t.Fatalf("%s: %s", mode, pgtest.ErrorText(err))
	}
	for _, u := range did.Unfilled {
		fmt.Fprintf(k.said, "not filled: %s: %s\n", u.Name, u.Why)
	}
	for n, q := range queries {
		k.pairs = append(k.pairs, pair{fmt.Sprintf("%s.q%d", schema, n+1), q})
	}
	return e
}

// keeper changes tables and compares.
type keeper struct {
	t      *testing.T
	conn   *pgx.Conn
	random *rand.Rand
	tables []string
	pairs  []pair
	said   *strings.Builder
	wrong  map[string]bool // what was reported before
}

// pair is a stream table and its query.
type pair struct{ relation, query string }

func (k *keeper) read(sql string) []string {
	k.t.Helper()
	rows, err := k.conn.Query(k.t.Context(), sql)
	if err != nil {
		k.t.Fatalf("%s\nin: %s", pgtest.ErrorText(err), sql)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		k.t.Fatalf("%s\nin: %s", pgtest.ErrorText(err), sql)
	}
	return all
}

// exec runs a statement and reports an error, once, unless it is one of a constraint that any writer gets.
func (k *keeper) exec(sql string) {
	_, err := k.conn.Exec(k.t.Context(), sql)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && strings.HasPrefix(pg.Code, "23") {
		return
	}
	if err != nil {
		k.report(pgtest.ErrorText(err) + "\nin: " + sql)
	}
}

func (k *keeper) report(what string) {
	if !k.wrong[what] {
		fmt.Fprintln(k.said, what)
	}
	k.wrong[what] = true
}

// compareAll compares the rows of all pairs by their text.
func (k *keeper) compareAll(when string) {
	for _, p := range k.pairs {
		if k.wrong[p.relation] {
			continue
		}
		rows := k.read(fmt.Sprintf(`
with query_ as materialized (select query__::text as row from (%s
) query__), kept_ as materialized (select kept__::text as row from %s kept__)
select 'missing ' || m.row from (table query_ except all table kept_) m
union all
select 'surplus ' || s.row from (table kept_ except all table query_) s
order by 1 limit 6`, p.query, p.relation))
		if len(rows) > 0 {
			k.wrong[p.relation] = true
			fmt.Fprintf(k.said, "%s: %s differs from %s\n    %s\n", when, p.relation, p.query, strings.Join(rows, "\n    "))
		}
	}
}

// change runs random statements on each table.
func (k *keeper) change() {
	for _, table := range k.tables {
		columns := k.read(`select attname::text from pg_attribute where attrelid = '` + table + `'::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = '' order by attnum`)
		for range 1 + k.random.IntN(2) {
			switch n := k.random.IntN(10); {
			case n < 4:
				k.insert(table, columns)
			case n < 7:
				k.update(table, columns)
			case n < 9:
				k.exec(fmt.Sprintf("delete from %s x where %s", table, k.some("x", 3)))
			default:
				k.exec(fmt.Sprintf("begin; delete from %s x where %s; rollback", table, k.some("x", 8)))
			}
		}
	}
}

// some is a condition that holds for n of 16 rows.
func (k *keeper) some(alias string, n int) string {
	return fmt.Sprintf("get_byte(decode(md5(%s::text || '%d'), 'hex'), 0) %% 16 < %d", alias, k.random.IntN(1000), n)
}

// another is the value of a column in some row, or null.
func (k *keeper) another(table, column string) string {
	return fmt.Sprintf("(select o.%[2]s from %[1]s o order by md5(o::text || '%[3]d') limit 1)", table, quoted(column), k.random.IntN(1000))
}

// insert adds copies of rows with values of other rows in them.
func (k *keeper) insert(table string, columns []string) {
	if len(columns) == 0 {
		k.exec("insert into " + table + " default values")
		return
	}
	var names, values []string
	for _, c := range columns {
		names = append(names, quoted(c))
		switch n := k.random.IntN(8); {
		case c == "id":
			values = append(values, fmt.Sprintf("(select coalesce(max(o.id), 0) from %s o) + row_number() over ()", table))
		case n == 0:
			values = append(values, "null")
		case n < 4:
			values = append(values, k.another(table, c))
		default:
			values = append(values, "x."+quoted(c))
		}
	}
	k.exec(fmt.Sprintf("insert into %s (%s) select %s from %s x where %s on conflict do nothing", table, strings.Join(names, ", "), strings.Join(values, ", "), table, k.some("x", 6)))
}

// update gives rows values of other rows.
func (k *keeper) update(table string, columns []string) {
	if len(columns) == 0 {
		return
	}
	column := columns[k.random.IntN(len(columns))]
	value := k.another(table, column)
	switch {
	case column == "id":
		value = "x.id + 100"
	case k.random.IntN(6) == 0:
		value = "null"
	}
	k.exec(fmt.Sprintf("update %s x set %s = %s where %s", table, quoted(column), value, k.some("x", 5)))
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
