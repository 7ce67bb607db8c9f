package pgtest_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestDatabaseBelongsToAPlainOwner(t *testing.T) {
	db := pgtest.DB(t)
	db.Exec(t, "create table public.t (n int); create schema s")
	expect(t, "user", pgtest.One[string](t, db, "select current_user::text"), pgtest.Owner)
	expect(t, "superuser", pgtest.One[bool](t, db, "select rolsuper from pg_roles where rolname = current_user"), false)
	expect(t, "as superuser", pgtest.One[string](t, pgtest.Connect(t, db.SuperDSN()), "select current_user::text"), "postgres")
}

func TestTemplateIsBuiltOnceAndCopied(t *testing.T) {
	built := 0
	for n := range 3 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			template := pgtest.Template(t, "numbers", func(ctx context.Context, conn *pgx.Conn) error {
				built++
				_, err := conn.Exec(ctx, "create table t as select 1 as n")
				return err
			})
			db := pgtest.DB(t, template)
			expect(t, "rows", pgtest.One[int](t, db, "select count(*) from t"), 1)
			db.Exec(t, "insert into t values ($1)", n)
		})
	}
	expect(t, "built", built, 1)
}

func TestDatabaseIsDroppedThoughConnectionsAreOpen(t *testing.T) {
	var name string
	t.Run("user", func(t *testing.T) {
		db := pgtest.DB(t)
		name = db.Name
		conn, err := pgx.Connect(context.Background(), db.DSN())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
	})
	other := pgtest.DB(t)
	expect(t, "databases", pgtest.One[int](t, other, "select count(*) from pg_database where datname = $1", name), 0)
}

func TestRowsAndNotices(t *testing.T) {
	db := pgtest.DB(t)
	expect(t, "rows", pgtest.Rows(t, db, "values (1, null, '{a,b}'::text[]), ($1, 'x', null)", 2),
		[][]string{{"1", "NULL", "{a,b}"}, {"2", "x", "NULL"}})
	expect(t, "column", pgtest.Column[int64](t, db, "select generate_series(1, 3)::bigint"), []int64{1, 2, 3})
	db.Exec(t, "do $$ begin raise warning 'careful' using hint = 'look'; end $$")
	expect(t, "notices", db.Notices(), []string{"WARNING: careful\nHINT: look"})
	expect(t, "taken", len(db.Notices()), 0)
}

func TestPgbouncerPoolsTransactions(t *testing.T) {
	db := pgtest.DB(t)
	dsn := pgtest.Pgbouncer(t, db)
	a, b := pgtest.Connect(t, dsn), pgtest.Connect(t, dsn)
	const pid = "select pg_backend_pid() + $1"
	first := pgtest.One[int](t, a, pid, 0)
	expect(t, "server process", pgtest.One[int](t, b, pid, 0), first)
	expect(t, "user", pgtest.One[string](t, b, "select current_user::text"), pgtest.Owner)
}

func TestCronRunsHere(t *testing.T) {
	if !pgtest.HasCron(t) {
		t.Log("no pg_cron for this version")
		return
	}
	conn := pgtest.Connect(t, pgtest.Server(t).DSN(pgtest.CronDatabase))
	expect(t, "jobs", pgtest.One[int](t, conn, "select count(*) from cron.job"), 0)
}

// TestCheckPlpgsql has one function for each thing that the check must see.
func TestCheckPlpgsql(t *testing.T) {
	db := pgtest.DB(t)
	db.Exec(t, `
create schema "My s";
create table public.t (n int);
create function "My s".good(i int) returns int immutable language plpgsql as $$ begin return i + 1; end $$;
create function "My s".unused() returns void language plpgsql as $$ declare v int; begin end $$;
create procedure "My s".wrong() language plpgsql as $$ begin perform nothing from public.t; end $$;
create function "My s".idle() returns trigger language plpgsql as $$ begin return null; end $$;
create function "My s".seen() returns trigger language plpgsql as $$
    begin perform count(n) from added; perform old.m; return null; end $$;
create trigger seen after insert on public.t referencing new table as added
    for each statement execute function "My s".seen();`)
	if !db.Server.HasLibrary("plpgsql_check") {
		return
	}
	var got []string
	for _, f := range pgtest.Findings(t, db, `"My s"`) {
		got = append(got, fmt.Sprintf("%s %s %s", f.Function, f.Level, f.Message))
	}
	expect(t, "findings", strings.Join(got, "\n"), strings.TrimSpace(`
"My s".idle() error no trigger calls this trigger function: it cannot be checked
"My s".seen() error record "old" has no field "m"
"My s".unused() performance routine is marked as VOLATILE, should be IMMUTABLE
"My s".unused() warning unused variable "v"
"My s".wrong() error column "nothing" does not exist`))
	expect(t, "left behind", pgtest.One[int](t, db, "select count(*) from pg_extension where extname = 'plpgsql_check'"), 0)
}
