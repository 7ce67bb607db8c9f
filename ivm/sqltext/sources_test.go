package sqltext

import (
	"strings"
	"testing"
)

// TestReadsOf: names of WITH queries are no tables where they are seen, and only there.
func TestReadsOf(t *testing.T) {
	for query, want := range map[string]string{
		"select 1":                            "",
		"select * from b, s.a join c on true": "b s.a c",
		"with a as (select * from x) select * from a, s.a":                                                                "x s.a",
		"with a as (select * from a), b as (select * from a, c), c as (select 1) table b":                                 "a c",
		"with recursive a as (select * from b union all select * from a), b as (select 1) table a":                        "",
		"select * from a where exists (with a as (select 1) select from a) and x in (table b)":                            "a b",
		"with a as (select 1) select (select count(*) from a), (with b as (table a) select 1 from b, c) from (table a) s": "c",
		"with a as (select 1) (select * from a union select * from b) except table c order by (select d from d)":          "b c d",
		"select * from f(array(select x from a)) as g, lateral (select * from b where b.x = g) h":                         "a b",
		"select * from a as x for update of x":                                                                            "a",
		`select "Ä" from "Ä b"."C" tablesample bernoulli (1)`:                                                             "Ä b.C",
	} {
		reads, err := ReadsOf(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		var got []string
		for _, table := range reads.Tables {
			name := strings.TrimPrefix(table.Schema+"."+table.Name, ".")
			got = append(got, name)
			if !strings.Contains(query[table.Pos:], table.Name) {
				t.Errorf("%s: %s does not stand at %d", query, name, table.Pos)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
}

func TestReadsOfUses(t *testing.T) {
	reads, err := ReadsOf(`select app.f(x::app.t) collate "c" from g(1) where exists (select 1 from t where y operator(app.~~~) h(z))`)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, use := range reads.Uses {
		found[string(use.Kind)+" "+strings.TrimPrefix(use.Schema+"."+use.Name, ".")] = true
	}
	for _, want := range []string{"function app.f", "type app.t", "collation c", "function g", "operator app.~~~", "function h"} {
		if !found[want] {
			t.Errorf("%s is not among %v", want, found)
		}
	}
}

func TestTidy(t *testing.T) {
	for sql, want := range map[string]string{
		`CHECK ((a <> 'A  B'::text)) NOT ENFORCED`:                 `check ((a <> 'A  B'::text)) not enforced`,
		`FROM ( VALUES ("A B",$$X$$), ( E'\'Y' )) "*VALUES*"`:      `from (values ("A B",$$X$$), (E'\'Y' )) "*VALUES*"`,
		"(\n  SELECT U&\"d\\0061t\", B'01', X'FF', 1E5, $1 -- Not": "(\n  select U&\"d\\0061t\", B'01', X'FF', 1E5, $1 -- Not",
		`HASH (Id) 'open`:                     `HASH (Id) 'open`,
		`AS $function$SELECT ( 1 )$function$`: `as $function$SELECT ( 1 )$function$`,
	} {
		if got := Tidy(sql); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}
