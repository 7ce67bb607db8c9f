package coverage

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// fill makes n rows of each table. How many rows belong together does not depend on n.
func fill(n int) string {
	return strings.ReplaceAll(`
insert into customers select i, nullif(i / 10, 3), 'c' || i from generate_series(1, $n) i;
insert into orders select i, 1 + i / 4, date '2026-01-01' + i / 10, i % 50, case when i % 3 > 0 then 'n' || i % 3 end from generate_series(1, $n) i;
insert into lines select 1 + i / 3, 1 + i % 3, 1 + i * 7 % $n, nullif(i % 6, 0) from generate_series(1, $n) i;
insert into parts select i, i / 10, i % 20 / 2.0, i % 9 / 2.0, (array['small', 'large', null]::size[])[1 + i % 3], (case i % 3 when 0 then '{a,b}' when 1 then '{c}' end)::text[],
    jsonb_build_object('city', 'x' || i % 7, 'n', i % 3), json_build_object('i', i),
    xmlelement(name part, xmlelement(name offer, i % 7 / 2.0), case when i % 4 > 0 then xmlelement(name offer, xmlattributes('s' || i % 3 as size), 1) end) from generate_series(1, $n) i;
insert into events select nullif(i / 10, 2), nullif(i / 2, 5) from generate_series(1, $n) i;
`, "$n", fmt.Sprint(n))
}

// single are changes of one row of each source, about the middle of n; ctid stands for the place of a row.
func single(source string, n int) []string {
	half := map[string]string{"customers": "id = %d", "orders": "id = %d", "parts": "id = %d", "lines": "order_id = %[2]d and no = 2", "events": "ctid = '$ctid'"}[source]
	where := fmt.Sprintf(half+"%[3]s", n/2, n/6, "")
	some := map[string][]string{
		"customers": {"insert into customers values ($m, $k, 'new')", "update customers set name = 'other'", "update customers set region = $k + 1"},
		"orders":    {"insert into orders values ($m, $h, '2026-02-03', 45, 'new')", "update orders set amount = amount + 7", "update orders set customer = customer + 1", "update orders set note = 'n2'"},
		"lines":     {"insert into lines values ($h, 9, $h, 5)", "update lines set quantity = 4", "update lines set part = part + 1"},
		"parts":     {"insert into parts values ($m, $k, 7, 1.5, 'small', '{a,z}', '{\"city\": \"x1\"}', '{}')", "update parts set price = price + 1", "update parts set kind = kind + 1, weight = 1", "update parts set page = '<part><offer size=\"s\">3</offer></part>'"},
		"events":    {"insert into events values ($k, $h)", "update events set n = n + 1", "update events set kind = kind + 1"},
	}[source]
	all := append(some, "delete from "+source)
	for i := range all {
		if !strings.HasPrefix(all[i], "insert") {
			all[i] += " where " + where
		}
		all[i] = strings.NewReplacer("$m", fmt.Sprint(n+10), "$k", fmt.Sprint(n/20), "$h", fmt.Sprint(n/2)).Replace(all[i])
	}
	if source == "events" { // those that the recursive query reaches, and that lead no further
		all = append(all, "insert into events values ($l, $m)", "update events set n = n + 1 where kind = $l", "delete from events where kind = $l",
			"delete from events where kind = 1 and n is null")
		for i := range all {
			all[i] = strings.NewReplacer("$m", fmt.Sprint(n+10), "$l", fmt.Sprint(n/10)).Replace(all[i])
		}
	}
	return all
}

// changes are random statements on tables that fill has made of 40 rows; some fail.
func changes(r *rand.Rand) string {
	few := func() string { return fmt.Sprintf("(id * 7 + %d) %% 13 < 2", r.IntN(13)) }
	n := func(max int) int { return 1 + r.IntN(max) }
	all := []func() string{
		func() string { return fmt.Sprintf("insert into customers values (%d, %d, 'new')", 40+n(60), r.IntN(5)) },
		func() string {
			return fmt.Sprintf("update customers set region = nullif(%d, 4), name = name || '+' where %s", r.IntN(5), few())
		},
		func() string { return "delete from customers where " + few() },
		func() string {
			return fmt.Sprintf("insert into orders select 40 + i, %d, date '2026-01-01' + i %% 4, i %% 50, case when i %% 2 = 0 then 'n1' end from generate_series(%d, %[2]d + 2) i", n(14), n(60))
		},
		func() string {
			return fmt.Sprintf("update orders set amount = amount + %d, placed = placed + 1 where %s", n(20)-10, few())
		},
		func() string {
			return fmt.Sprintf("update orders set customer = %d, note = nullif(note, 'n2') where %s", n(14), few())
		},
		func() string { return "delete from orders where " + few() },
		func() string {
			return fmt.Sprintf("insert into lines values (%d, %d, %d, nullif(%d, 3))", n(20), 3+n(9), n(40), n(6))
		},
		func() string {
			return fmt.Sprintf("update lines set quantity = nullif(%d, 2), part = %d where no = %d and order_id %% 5 = %d", n(6), n(40), n(3), r.IntN(5))
		},
		func() string { return fmt.Sprintf("delete from lines where order_id = %d", n(14)) },
		func() string {
			return fmt.Sprintf("insert into parts values (%d, %d, %d, 2.5, 'large', '{a,d}', '{\"city\": \"x2\"}', '[1]')", 40+n(60), r.IntN(5), n(9))
		},
		func() string {
			return fmt.Sprintf("update parts set price = %d.5, kind = %d, tags = tags || 'e'::text where %s", n(9), r.IntN(5), few())
		},
		func() string {
			return fmt.Sprintf("update parts set weight = %d, size = null, doc = doc - 'n' where %s", n(9), few())
		},
		func() string {
			return fmt.Sprintf("update parts set page = nullif('<part>' || repeat('<offer>%d.0</offer><offer size=\"s\"/>', %d) || '</part>', '<part></part>')::xml where %s", n(3), r.IntN(4), few())
		},
		func() string { return "delete from parts where " + few() },
		func() string {
			return fmt.Sprintf("insert into events select nullif(%d, 3), nullif(%d, 4) from generate_series(1, %d)", r.IntN(6), n(24), n(2))
		},
		func() string {
			return fmt.Sprintf("update events set n = nullif(%d, 9), kind = %d where n %% 7 = %d", n(24), r.IntN(5), r.IntN(7))
		},
		func() string {
			return fmt.Sprintf("delete from events where n %% 11 = %d or kind is null and n > 15", r.IntN(11))
		},
		func() string {
			return fmt.Sprintf("with gone as (delete from orders where id = %d returning id) delete from lines l using gone g where l.order_id = g.id", n(40))
		},
	}
	return all[r.IntN(len(all))]()
}
