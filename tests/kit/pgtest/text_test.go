package pgtest

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	statements := []string{
		"select 'a;b', \"c;d\", 'it''s;', E'\\';', E'a''\\';'",
		"-- a comment; with\nselect 1",
		"/* one; /* two; */ three; */ select $$ ; $$, $t$ ; $$ ; $t$, $1",
		"create rule r as on insert to t do also (delete from u; delete from v)",
		"create function f() returns int\nbegin atomic select case when true then 1 end; select 2; end",
		"begin",
		"commit",
	}
	got := Split(strings.Join(statements, ";\n") + ";\n-- the end\n;")
	if !slices.Equal(got, statements) {
		t.Errorf("got\n%s", strings.Join(got, "\n=>\n"))
	}
}

func TestTable(t *testing.T) {
	table := Table{Names: []string{"n", "name"}, Right: []bool{true, false},
		Rows: [][]string{{"1", "é"}, {"10", "NULL"}}}
	want := "n  | name\n---+-----\n 1 | é\n10 | NULL\n(2 rows)\n"
	if got := table.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSessionAnswersAsPsql(t *testing.T) {
	db := DB(t)
	s := OpenSession(t, db.DSN(), "me")
	got := s.Run(t.Context(), `
create table t (n int primary key);
insert into t values (1), (2);
do $$ begin raise notice 'hello'; end $$;
select *, current_setting('application_name') as app from t where n > 1;
insert into t values (2);
select 'not reached';`)
	want := `INSERT 0 2
NOTICE: hello
n | app
--+----
2 | me
(1 row)
ERROR (23505): duplicate key value violates unique constraint "t_pkey"
DETAIL: Key (n)=(2) already exists.
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	expectText(t, s.Run(t.Context(), "listen c; notify c, 'x'"), "")
	expectText(t, s.Notifications(t.Context(), 50e6), "NOTIFY c: x\n")
	expectText(t, s.Run(t.Context(), "select 1 as n"), "n\n-\n1\n(1 row)\n")
}

func expectText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
