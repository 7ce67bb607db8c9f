package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// windows are queries with window functions and grouping sets over tables of one column, alone and upon others.
var windows = []string{
	"select a from l group by rollup (a)", "select count(*)::int + grouping(a) as a from l group by grouping sets ((a), (), (a))",
	"select coalesce(a, 7) + coalesce(b, 7) as a from (select l.a, r.a as b from l, r) q group by cube (a, b) having count(*) <> 2",
	"select rank() over (partition by grouping(a) order by count(*))::int as a from l group by rollup (a)",
	"select row_number() over (order by a)::int as a from l", "select rank() over (order by a desc)::int as a from l", "select a + count(*) over (partition by a)::int as a from l",
	"select a from (select a, row_number() over (partition by a)::int as n from l) q where n = 1", "select sum(a) over ()::int as a from l",
	"select n as a from (select a, row_number() over (partition by a order by b)::int as n from (select l.a, r.a as b from l, r) q) q where a > 1",
	"select max(b) over (partition by a)::int as a from (select l.a, r.a as b from l left join r on r.a > l.a) q",
	"select a from (select a, rank() over (partition by a, count(*))::int as n from l group by a) q where n = 1",
	"select rank() over (order by count(*))::int as a from l group by a", "select lag(a) over (order by a) as a from l",
	"select coalesce(sum(a) over (partition by a), 0)::int + coalesce(sum(b) over (partition by b), 0)::int as a from (select l.a, r.a as b from l, r) q",
}

// window adds what window functions compute of each row's partition.
func (w world) window(n *algebra.Window, out zset) {
	partitions, order := map[string][]binding{}, []string{}
	cols := n.Input.Columns()
	bag(w.evaluate(n.Input)).rows(func(row []value, times int) {
		b := bind(cols, row)
		name := keyOf(computed(n.Keys, b))
		if partitions[name] == nil {
			order = append(order, name)
		}
		for range times {
			partitions[name] = append(partitions[name], bind(cols, row))
		}
	})
	for _, name := range order {
		rows := partitions[name]
		results := make([][]value, len(rows))
		for _, c := range n.Calls {
			call, _ := c.Call.Expr.Call()
			for i, v := range windowed(call, rows) {
				results[i] = append(results[i], v)
			}
		}
		for i, b := range rows {
			out.add(slices.Concat(b.row(cols), results[i]), 1)
		}
	}
}

// windowed is what a call makes of each row. Within rows of the node's keys it partitions by what it says itself.
func windowed(call sqltext.Call, rows []binding) []value {
	values := func(b binding, list []sqltext.Expr) []value {
		var all []value
		for _, e := range list {
			all = append(all, eval(e, b))
		}
		return all
	}
	compared := func(a, b binding) int {
		for _, item := range call.Over.Order {
			if c := order(eval(item.Expr, a), eval(item.Expr, b)); c != 0 {
				if item.Desc {
					return -c
				}
				return c
			}
		}
		return 0
	}
	result := make([]value, len(rows))
	for i, b := range rows {
		var partition []int
		for k, other := range rows {
			if slices.Equal(values(b, call.Over.Partition), values(other, call.Over.Partition)) {
				partition = append(partition, k)
			}
		}
		slices.SortStableFunc(partition, func(k, l int) int { return compared(rows[k], rows[l]) })
		at := slices.Index(partition, i)
		first := slices.IndexFunc(partition, func(k int) bool { return compared(rows[k], b) == 0 })
		result[i] = null
		switch call.Name {
		case "row_number":
			result[i] = value{n: at + 1}
		case "rank":
			result[i] = value{n: first + 1}
		case "lag":
			if at > 0 {
				result[i] = eval(call.Args[0], rows[partition[at-1]])
			}
		default:
			var frame []binding
			for _, k := range partition {
				if len(call.Over.Order) == 0 || compared(rows[k], b) <= 0 {
					frame = append(frame, rows[k])
				}
			}
			a := algebra.Agg{Func: call.Name}
			for _, arg := range call.Args {
				a.Args = append(a.Args, algebra.Scalar{Expr: arg})
			}
			result[i] = folded(a, frame)
		}
	}
	return result
}

// order compares values; null is the largest.
func order(a, b value) int {
	switch {
	case a == b:
		return 0
	case a.null || !b.null && a.n > b.n:
		return 1
	}
	return -1
}
