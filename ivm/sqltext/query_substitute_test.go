package sqltext

import "testing"

func TestSubstituteTables(t *testing.T) {
	instead := map[[2]string]Substitute{
		{"", "orders"}: {"public.orders", "seen_orders"}, {"public", "orders"}: {"public.orders", "seen_orders"},
		{"old", "orders"}: {"old.orders", "seen_old"}, {"", "It"}: {"public.It", "seen it"},
	}
	found := func(schema, name string) (Substitute, bool) {
		s, ok := instead[[2]string{schema, name}]
		return s, ok
	}
	for query, want := range map[string]string{
		"select orders.id from orders -- orders":                            "select orders.id from seen_orders as orders -- orders",
		"select id from only public . orders where public.orders.id > 0":    "select id from only seen_orders as orders where orders.id > 0",
		"select o.id from orders o join public.orders as p using (id)":      "select o.id from seen_orders o join seen_orders as p using (id)",
		"select o.a from orders o (a)":                                      "select o.a from seen_orders o (a)",
		"select public.orders.id from public.orders, old.orders":            `select "public.orders".id from seen_orders as "public.orders", seen_old as "old.orders"`,
		"select public.orders.* from orders, old.orders":                    `select "public.orders".* from seen_orders as "public.orders", seen_old as "old.orders"`,
		"select orders.* from old.orders union all select * from orders":    "select orders.* from seen_old as orders union all select * from seen_orders as orders",
		"select q.id from (select old.orders.id from old.orders) q, orders": "select q.id from (select orders.id from seen_old as orders) q, seen_orders as orders",
		"with orders as (select * from public.orders) select * from orders": "with orders as (select * from seen_orders as orders) select * from orders",
		"with x as (select * from orders) select * from x, others":          "with x as (select * from seen_orders as orders) select * from x, others",
		`select "It".a from "It" left join others on true`:                  `select "It".a from "seen it" as "It" left join others on true`,
		"select from where":                                                 "select from where",
	} {
		if got := SubstituteTables(query, found); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", query, got, want)
		}
	}
}
