package sqltext

import (
	"strings"
	"testing"
)

func TestIdent(t *testing.T) {
	for name, want := range map[string]string{
		"orders": "orders", "Orders": `"Orders"`, "select": `"select"`, "value": "value", "user": `"user"`, "order": `"order"`,
		`a"b`: `"a""b"`, "1a": `"1a"`, "a b": `"a b"`, "ü": `"ü"`, "a$b": `"a$b"`, "left": `"left"`, "between": `"between"`, "": `""`,
	} {
		if got := Ident(name); got != want {
			t.Errorf("Ident(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestLiteral(t *testing.T) {
	for value, want := range map[string]string{"a": "'a'", "it's": "'it''s'", `a\b`: ` E'a\\b'`, "": "''"} {
		if got := Literal(value); got != want {
			t.Errorf("Literal(%q) = %s, want %s", value, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for sql, want := range map[string]string{
		"create table s.t (a int)":      "table s.t",
		`create view "S".v as select 1`: `view "S".v`,
		"create index i on s.t (a)":     "index s.i",
		"create sequence s.q":           "sequence s.q",
		"create schema s":               "schema s",
		"create trigger t after insert on s.t execute function s.f()":                             "trigger t on s.t",
		"create function s.f(a int, b text[] default null, out c int) language sql as 'select 1'": "function s.f(int4, text[])",
		"create function s.f() returns table (a int) language sql as 'select 1'":                  "function s.f()",
		"create procedure s.p(a s.typ, b timestamptz) language plpgsql as 'begin end'":            "procedure s.p(s.typ, timestamptz)",
	} {
		got, err := Describe(sql)
		if err != nil || got.Kind+" "+got.Signature() != want {
			t.Errorf("Describe(%s) = %s %s, %v; want %s", sql, got.Kind, got.Signature(), err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	good := "create function f() returns int language plpgsql as $$ begin return 1; end $$;\nselect 1"
	if err := Check(good); err != nil {
		t.Error(err)
	}
	for bad, want := range map[string]string{
		"select from where": "syntax error",
		"select 1; create function s.f() returns int language plpgsql as $$ begin retrun 1; end $$":  "plpgsql of s.f()",
		"create function f() returns int language plpgsql as $$ begin if true then return 1; end $$": "plpgsql of",
	} {
		if err := Check(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s) = %v, want %s", bad, err, want)
		}
	}
}
