package ddl

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// TestDefinitions shows where each definition of a script stands; what the definitions say, the tests of the catalog show.
func TestDefinitions(t *testing.T) {
	if golden.Update() {
		flag.Set("rewrite", "true")
	}
	datadriven.RunTest(t, "testdata/places", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		definitions, errs := Definitions(d.Input)
		for _, def := range definitions {
			fmt.Fprintf(&b, "%s: %s\n", strings.TrimPrefix(fmt.Sprintf("%T", def), "*ddl."), excerptAt(d.Input, def.At()))
		}
		for _, e := range errs {
			fmt.Fprintf(&b, "error: %s: %s\n", e.Message, excerptAt(d.Input, e.Offset))
		}
		return b.String()
	})
}

func excerptAt(text string, at int) string {
	line, _, _ := strings.Cut(text[at:], "\n")
	return string([]rune(line)[:min(20, len([]rune(line)))])
}

func TestTypeSQL(t *testing.T) {
	for want, typ := range map[string]sqltext.Type{
		"integer":                     {Name: "int4"},
		"numeric(12,2)[]":             {Name: "numeric", Modifier: "12,2", Array: true},
		"timestamp(3) with time zone": {Name: "timestamptz", Modifier: "3"},
		"interval day to second(3)":   {Name: "interval", Modifier: "day to second(3)"},
		"interval(3)":                 {Name: "interval", Modifier: "3"},
		"bpchar":                      {Name: "bpchar"},
		"character(1)":                {Name: "bpchar", Modifier: "1"},
		`"char"`:                      {Name: "char"},
		`"My".int4(1)`:                {Schema: "My", Name: "int4", Modifier: "1"},
		`app."Mood"[]`:                {Schema: "app", Name: "Mood", Array: true},
	} {
		if got := typ.SQL(); got != want {
			t.Errorf("%+v: got %s, want %s", typ, got, want)
		}
	}
}

func TestStatements(t *testing.T) {
	got := fmt.Sprintf("%q", Statements("\\connect x\ncreate table a (b text default ';');\n-- c;\ncopy a from stdin;\n1;2\n\\.\nselect $$;$$"))
	if want := `["create table a (b text default ';')" "copy a from stdin" "select $$;$$"]`; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// Whatever a script holds, reading it ends, and what it finds lies within.
func FuzzDefinitions(f *testing.F) {
	for _, seed := range []string{
		"create table t (a int primary key, constraint n not null a, b int generated always as (a) virtual) partition by list (a);",
		"create view v (a) as select 1 with check option; create materialized view m as select 1 with no data",
		"create function f(a int) returns int begin atomic select case when true then 1 end; end; copy t from stdin;\n1;\n\\.\n",
		"alter table only s.t add column a numeric(1) not null, drop b, add unique using index i; alter table t rename a to b",
		"create type t as (a int); create domain d as text check (value <> ''); create aggregate g(int) (sfunc = f, stype = int)",
		"create operator === (leftarg = int, function = f); create cast (int as text) with function f(int); drop table a, b",
		"\\restrict x\nselect set_config('search_path', 'a, \"b\"', false); set search_path = a; create schema s create table t ()",
		"E'\\'' $a$ ; $$ $a$ /* /* */ */ -- ;\n ; \"a\"\"b\" U&\"\\0061\" create rule r as on insert to t do (a; b);",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		definitions, errs := Definitions(script)
		for _, d := range definitions {
			if d.At() < 0 || d.At() > len(script) {
				t.Errorf("%T at %d of %d", d, d.At(), len(script))
			}
		}
		for _, e := range errs {
			if e.Offset < 0 || e.Offset > len(script) {
				t.Errorf("%s at %d of %d", e.Message, e.Offset, len(script))
			}
		}
	})
}
