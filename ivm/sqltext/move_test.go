package sqltext

import (
	"fmt"
	"testing"
)

func TestMove(t *testing.T) {
	to := map[Relation]string{{"app", "orders"}: "twin", {"Odd one", `a"b`}: "twin", {"public", "orders"}: "other"}
	for _, c := range [][2]string{
		{"create table app.orders (id int)", "create table twin.orders (id int)"},
		{"create view app.v as select app.orders.id from app.orders, app.others", "create view app.v as select twin.orders.id from twin.orders, app.others"},
		{`select * from "Odd one"."a""b" x`, `select * from twin."a""b" x`},
		{"select nextval('app.orders'::regclass), to_regclass('app.orders'), f('app.orders')", "select nextval('twin.orders'::regclass), to_regclass('twin.orders'), f('app.orders')"},
		{"comment on table app.orders is 'What app.orders has.'", "comment on table twin.orders is 'What app.orders has.'"},
		{"create function app.f() returns void language plpgsql as $function$begin execute 'create trigger t on public.orders'; end$function$",
			"create function app.f() returns void language plpgsql as $function$begin execute 'create trigger t on other.orders'; end$function$"},
		{"begin execute 'create view '\n    'app.orders as select ''x''' using 1; end", "begin execute 'create view twin.orders as select ''x''' using 1; end"},
		{"select orders.app.orders -- app.orders", "select orders.app.orders -- app.orders"},
	} {
		if got := Move(c[0], to); got != c[1] {
			t.Errorf("%s\nbecame %s\nnot    %s", c[0], got, c[1])
		}
	}
	grant := "grant usage on schema app, public to app"
	if got := MoveSchemas(grant, map[string]string{"app": "twin"}); got != "grant usage on schema twin, public to app" {
		t.Errorf("%s became %s", grant, got)
	}
}

func TestMakes(t *testing.T) {
	body := `create function app.f() returns void language plpgsql as $function$
begin
    create table app.a as select 1;
    create or replace view app.b as select * from app.c;
    create sequence app.d;
    create index i on app.a (x);
    create trigger t after insert on app.e referencing new table as n for each statement execute function app.g();
    execute 'create or replace trigger t after update on public.h for each statement execute function app.g()';
end;
$function$`
	for what, got := range map[string][]Relation{
		"[app.a app.b app.d]":   Makes(body),
		"[app.e public.h]":      Triggered(body),
		`["create table".view]`: Makes(`create table "create table".view (a int)`),
	} {
		if fmt.Sprint(got) != what {
			t.Errorf("%s, not %s", got, what)
		}
	}
}
