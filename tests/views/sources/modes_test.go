package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const modesSchema = `
create schema app;
create table app.t (id int primary key, status text not null, qty int not null default 7);
create table u (id int primary key, t int not null);
`

// modesOf are stream tables in a mode: one that reads what is altered, one over a join that does, and one that does not.
const modesOf = `
  - name: public.sums_MODE
    refresh_mode: MODE
    query: |
      SELECT status, sum(qty) AS qty FROM app.t GROUP BY status
  - name: public.joined_MODE
    refresh_mode: MODE
    query: |
      SELECT u.id, t.qty FROM u JOIN app.t t ON t.id = u.t
  - name: public.ids_MODE
    refresh_mode: MODE
    query: |
      SELECT id, status FROM app.t
`

// alteration is what happens to table app.t, and back.
type alteration struct {
	name, do, undo string
	table          string // as it is called then; empty: app.t
	without        bool   // column qty
	broken         string // the stream tables that cannot go on
}

var alterations = []alteration{
	{name: "dropped column", do: "alter table app.t drop column qty", undo: "alter table app.t add qty int not null default 7", without: true, broken: "sums joined"},
	{name: "renamed column", do: "alter table app.t rename qty to amount", undo: "alter table app.t rename amount to qty", without: true, broken: "sums joined"},
	{name: "retyped column", do: "alter table app.t alter qty type text", undo: "alter table app.t alter qty type int using qty::int", broken: "sums"},
	{name: "retyped column that fits", do: "alter table app.t alter qty type bigint", undo: "alter table app.t alter qty type int"},
	{name: "renamed table", do: "alter table app.t rename to t2", undo: "alter table app.t2 rename to t", table: "app.t2", broken: "sums joined ids"},
	{name: "moved table", do: "create schema other; alter table app.t set schema other", undo: "alter table other.t set schema app", table: "other.t", broken: "sums joined ids"},
	{name: "renamed schema", do: "alter schema app rename to other", undo: "alter schema other rename to app", table: "other.t", broken: "sums joined ids"},
	{name: "dropped table", do: "drop table app.t", undo: "create table app.t (id int primary key, status text not null, qty int not null)", table: "none", broken: "sums joined ids"},
	{name: "dropped schema", do: "drop schema app cascade", undo: "create schema app; create table app.t (id int primary key, status text not null, qty int not null)", table: "none", broken: "sums joined ids"},
	{name: "table made again", do: "drop table app.t; create table app.t (id int primary key, status text not null, qty int not null)"},
	{name: "table made again without the column", do: "drop table app.t; create table app.t (id int primary key, status text not null)",
		undo: "alter table app.t add qty int not null default 7", without: true, broken: "sums joined"},
}

// TestAlteredInEachMode alters a table under stream tables in each mode. Until the next tick, statements may fail, with an error of one sentence that says what to do. From then on they succeed, and
// stream tables have their old rows and say why. When the table is as it was, they are recomputed and follow it again.
func TestAlteredInEachMode(t *testing.T) {
	for _, modes := range []string{"auto differential full", "immediate", "at_commit"} {
		for _, a := range alterations {
			t.Run(strings.ReplaceAll(modes+"/"+a.name, " ", "_"), func(t *testing.T) { alterInModes(t, strings.Fields(modes), a) })
		}
	}
}

func alterInModes(t *testing.T, modes []string, a alteration) {
	conn := pgtest.DB(t).Connect(t)
	spec := "version: 1\nextension: {name: modes, version: 1.0.0}\nschema: [schema.sql]\nstream_tables:"
	before := map[string][]string{}
	for _, mode := range modes {
		spec += strings.ReplaceAll(modesOf, "MODE", mode)
		for _, table := range []string{"sums_", "joined_", "ids_"} {
			before[table+mode] = nil
		}
	}
	extension := follows(t, modesSchema, spec)
	exec(t, conn, modesSchema, "insert into app.t values (1, 'a', 10), (2, 'b', 20); insert into u values (1, 1), (2, 2)", extension.Install(generator.Plain), extension.Fill())
	now := "call pgtrickle.tick()"
	due := "update pgtrickle_internal.pgt_stream_table_state set checked_at = '-infinity'"
	exec(t, conn, now)
	id := 10
	write := func() []error {
		id++
		statements := []string{fmt.Sprintf("insert into u values (%d, 1)", id)}
		switch {
		case a.table == "none":
		case a.without:
			statements = append(statements, fmt.Sprintf("insert into app.t values (%d, 'a')", id))
		default:
			table := "app.t"
			if a.table != "" {
				table = a.table
			}
			statements = append(statements, fmt.Sprintf("insert into %s values (%d, 'a', '5')", table, id), fmt.Sprintf("update %s set qty = '6' where id = %d", table, id))
		}
		var errs []error
		for _, sql := range statements {
			if _, err := conn.Exec(context.Background(), sql); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", sql, err))
			}
		}
		return errs
	}
	rows := func(table string) []string {
		return pgtest.Column[string](t, conn, "select r::text from "+table+" r order by 1")
	}
	for table := range before {
		before[table] = rows(table)
	}

	exec(t, conn, a.do)
	for _, err := range write() {
		isOneSentence(t, err)
		if len(modes) > 1 {
			t.Errorf("until the next tick: %v", err)
		}
	}
	exec(t, conn, due, now)
	for _, err := range write() {
		t.Errorf("after the tick: %v", err)
	}
	exec(t, conn, due, now)
	for table := range before {
		kind, mode, _ := strings.Cut(table, "_")
		broken := slices.Contains(strings.Fields(a.broken), kind)
		wanted := "active"
		if broken {
			wanted = "failing"
			if mode == "immediate" {
				wanted = "suspended"
			}
			if now := rows(table); !slices.Equal(now, before[table]) {
				t.Errorf("%s has %q, not its old rows %q", table, now, before[table])
			}
		}
		hasStatus(t, conn, table, wanted)
		if !broken {
			isExact(t, conn, table)
		}
	}

	if a.undo != "" {
		exec(t, conn, a.undo)
	}
	a.table, a.without = "", false
	exec(t, conn, due, now)
	for _, err := range write() {
		t.Errorf("after all: %v", err)
	}
	exec(t, conn, due, now)
	for table := range before {
		hasStatus(t, conn, table, "active")
		isExact(t, conn, table)
	}
}

func isOneSentence(t *testing.T, err error) {
	t.Helper()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.InternalQuery != "" || strings.Contains(pg.Message, "\n") || pg.Hint == "" || strings.Count(pg.Where, "\n") > 12 {
		t.Errorf("not one sentence with a hint: %v\n%s", err, pgtest.ErrorText(err))
	}
}

func hasStatus(t *testing.T, conn *pgx.Conn, table, wanted string) {
	t.Helper()
	if got := pgtest.One[string](t, conn, "select status || coalesce(': ' || last_error, '') from pgtrickle.pgt_status() where pgt_name = $1", table); !strings.HasPrefix(got, wanted) {
		t.Errorf("%s is %s, not %s", table, got, wanted)
	}
}

func isExact(t *testing.T, conn *pgx.Conn, table string) {
	t.Helper()
	query := pgtest.One[string](t, conn, "select query from pgtrickle.pgt_stream_tables where pgt_name = $1", table)
	if wrong := pgtest.Column[string](t, conn, fmt.Sprintf("select x::text from ((table %[1]s except all (%[2]s)) union all ((%[2]s) except all table %[1]s)) x", table, query)); len(wrong) > 0 {
		t.Errorf("%s: %q", table, wrong)
	}
}
