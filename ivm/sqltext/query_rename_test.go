package sqltext

import "testing"

func TestRenameTables(t *testing.T) {
	names := map[[2]string][2]string{
		{"", "totals"}: {"", "order_totals"}, {"public", "totals"}: {"public", "order_totals"}, {"", "Mixed"}: {"other", "it's"},
	}
	renamed := func(schema, name string) (string, string, bool) {
		to, ok := names[[2]string{schema, name}]
		return to[0], to[1], ok
	}
	for query, want := range map[string]string{
		"select total from totals":                                   "select total from order_totals",
		"SELECT  totals.total, t.totals FROM totals, x t":            "SELECT  order_totals.total, t.totals FROM order_totals, x t",
		"select totals.a from x totals join totals t on t.a = 1":     "select totals.a from x totals join order_totals t on t.a = 1",
		"select public.totals.total from public . totals -- totals":  "select public.order_totals.total from public.order_totals -- totals",
		"with totals as (select 1 as a) select totals.a from totals": "with totals as (select 1 as a) select totals.a from totals",
		`select "Mixed".a, 'totals' from "Mixed"`:                    `select "it's".a, 'totals' from other."it's"`,
		"select (select max(totals.x) from totals) from y":           "select (select max(order_totals.x) from order_totals) from y",
		"select from where":                                          "select from where",
	} {
		if got := RenameTables(query, renamed); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", query, got, want)
		}
	}
}

func TestReplaceTables(t *testing.T) {
	by := func(schema, name string) (string, bool) {
		sql, ok := map[string]string{".totals": "one", "public.totals": "one", `.it's`: "two"}[schema+"."+name]
		return sql, ok
	}
	for query, want := range map[string]string{
		"select total from totals":                                       "select total from one as totals",
		"SELECT totals.total, t.* FROM totals, public . totals AS t":     "SELECT totals.total, t.* FROM one as totals, one AS t",
		"select public.totals.total from public.totals -- totals":        "select totals.total from one as totals -- totals",
		"with totals as (select 1 as a) select totals.a from totals":     "with totals as (select 1 as a) select totals.a from totals",
		`select "it's".a, 'totals' from "it's" x(a), other`:              `select "it's".a, 'totals' from two x(a), other`,
		"select (select max(totals.x) from totals t) from app.totals, y": "select (select max(totals.x) from one t) from app.totals, y",
		"select from where": "select from where",
	} {
		if got := ReplaceTables(query, by); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", query, got, want)
		}
	}
}
