package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// calls adds to each row those that functions return: generate_series is the one that is known.
func (w world) calls(n *algebra.Each, out zset) {
	w.each(n.Input, func(b binding, row []value, times int) {
		var lists [][]value
		most := 0
		for _, c := range n.Calls {
			list := series(c, b)
			lists, most = append(lists, list), max(most, len(list))
		}
		found := false
		for i := range most {
			made := slices.Clone(row)
			for _, list := range lists {
				if i < len(list) {
					made = append(made, list[i])
				} else {
					made = append(made, null)
				}
			}
			if n.Ordinality {
				made = append(made, value{n: i + 1})
			}
			if all(n.On, bind(n.Columns(), made)) {
				out.add(made, times)
				found = true
			}
		}
		if n.Keeps && !found {
			out.add(slices.Concat(row, slices.Repeat([]value{null}, len(n.Cols))), times)
		}
	})
}

func series(c algebra.RowCall, b binding) (list []value) {
	call, ok := c.Call.Expr.Call()
	if !ok || call.Name != "generate_series" {
		panic("no meaning of " + c.Call.Expr.SQL())
	}
	from, to := eval(call.Args[0], b), eval(call.Args[1], b)
	for n := from.n; !from.null && !to.null && n <= to.n; n++ {
		list = append(list, value{n: n})
	}
	return list
}
