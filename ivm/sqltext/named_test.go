package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamed describes statements by the stand-in for a name, also where the name is a keyword, a type or a part of other words.
func TestNamed(t *testing.T) {
	for _, name := range []string{"orders", "inbox", "big", "int4", "integer", "function", "table", "public", "plpgsql", "begin", "qzq", "aqzqb", "user", "Odd", "b", "returns"} {
		id := Ident(name)
		for _, sql := range []string{
			"create table public." + id + " (a bigint, b integer);",
			"create function public." + Ident("claim_"+name) + "(a bigint, integer, b public." + id + ") returns int language plpgsql as $$begin return 1; end$$;",
			"create trigger " + Ident(name+"_new") + " after insert on public." + id + " for each row execute function public.f();",
			"create index " + Ident(name+"_key") + " on public." + id + " (a);",
		} {
			for range 2 { // parsed, then found
				want, err := Describe(sql)
				got, gotErr := Named{name}.Describe(sql)
				if err != nil || gotErr != nil || fmt.Sprint(got.Statement) != fmt.Sprint(want.Statement) {
					t.Errorf("%s: %v, %v; want %v, %v", sql, got.Statement, gotErr, want.Statement, err)
				}
				if err := got.CheckBody(); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		}
	}
}

// TestNamedFinds wrong statements of one name after right ones of others, and tells what was written.
func TestNamedFinds(t *testing.T) {
	for _, sql := range []string{"select orders from;", "select 1 orders orders;"} {
		for _, name := range []string{"orders", "parcels"} {
			wrong := strings.ReplaceAll(sql, "orders", name)
			if err := (Named{name}).Check(wrong); err == nil || strings.Contains(err.Error(), standIn) {
				t.Errorf("%s: %v", wrong, err)
			}
			if err := (Named{name}).Check("select 1 as " + name); err != nil {
				t.Error(err)
			}
		}
	}
	c, err := Named{"orders"}.Describe("create function f.orders() returns int language plpgsql as $$begin orders :=; end$$;")
	if err == nil {
		err = c.CheckBody()
	}
	if err == nil || strings.Contains(err.Error(), standIn) {
		t.Error(err)
	}
}
