package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

func TestFunctionBodyOf(t *testing.T) {
	for _, c := range []struct{ name, statement, want string }{
		{"sql", "create function f() returns int language sql stable as $$ with a as (select * from b) select count(*) from a, s.c where g(1) > 0 $$", "understood: b s.c; calls count g"},
		{"atomic", "create function f(x int) returns int stable begin atomic select max(y) from b where y > x; end", "understood: b; calls max"},
		{"return", "create function f(x int) returns int immutable return x + abs(x)", "understood; calls abs"},
		{"plpgsql", `create function f(a int) returns setof int language plpgsql stable as $$
declare x int := (select max(y) from t1); c cursor for select * from t2; r record;
begin
  select count(*) into x from t3 where id = a;
  x := x + (select 1 from t4);
  for r in select * from t5 loop x := x + 1; end loop;
  if exists (select from t6) then return next 1; end if;
  perform g(1);
  return query select 1 from t7;
  return;
exception when others then raise notice '%', (select 1 from t8);
end $$`, "understood: t3 t4 t5 t6 t7 t8 t1 t2; calls count g max"},
		{"dynamic", "create function f() returns int language plpgsql as $$ declare x int; begin execute 'select 1 from t' into x; return x; end $$", "understood, dynamic"},
		{"dynamic loop", "create function f() returns int language plpgsql as $$ declare r record; begin for r in execute 'select 1' loop return 1; end loop; end $$", "understood, dynamic"},
		{"computes", "create function f(a int) returns int language plpgsql as 'begin return a + 1; end'", "understood"},
		{"c", "create function f() returns int language c as 'lib', 'f'", "not understood"},
		{"python", "create function f() returns int language plpython3u as 'return 1'", "not understood"},
		{"wrong", "create function f() returns int language sql as 'selec 1'", "not understood"},
		{"wrong plpgsql", "create function f() returns int language plpgsql as 'begin'", "not understood"},
		{"no function", "select 1", "not understood"},
		{"no body", "create function f() returns int language plpgsql", "not understood"},
	} {
		if got := bodyShown(FunctionBodyOf(c.statement)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func bodyShown(b FunctionBody) string {
	shown := "not understood"
	if b.Understood {
		shown = "understood"
	}
	if b.Dynamic {
		shown += ", dynamic"
	}
	for i, r := range b.Tables {
		if i == 0 {
			shown += ":"
		}
		shown += " " + strings.TrimPrefix(r.Schema+"."+r.Name, ".")
	}
	calls := ""
	for _, u := range b.Uses {
		if u.Kind == UsesFunction {
			calls += " " + u.Name
		}
	}
	if calls != "" {
		shown += fmt.Sprintf("; calls%s", calls)
	}
	return shown
}
