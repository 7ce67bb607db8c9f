package ivm

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A small evaluator of trees over Z-sets: what they mean, written down without regard to speed. Values are integers, and null; conditions are 1, 0 or null.

type value struct {
	n    int
	null bool
}

var null = value{null: true}

func truth(b bool) value {
	if b {
		return value{n: 1}
	}
	return value{}
}

// zset maps rows, as keyOf has them, to their multiplicities, which are not 0.
type zset map[string]int

func (z zset) add(row []value, times int) {
	key := keyOf(row)
	if z[key] += times; z[key] == 0 {
		delete(z, key)
	}
}

// minus is z less another.
func (z zset) minus(other zset) zset {
	out := zset{}
	for row, n := range z {
		out[row] = n
	}
	for row, n := range other {
		if out[row] -= n; out[row] == 0 {
			delete(out, row)
		}
	}
	return out
}

func (z zset) equal(other zset) bool { return len(z.minus(other)) == 0 }

// rows calls visit for each row, always in the same order.
func (z zset) rows(visit func(row []value, times int)) {
	var keys []string
	for key := range z {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		visit(parseRow(key), z[key])
	}
}

// String shows rows with their multiplicities.
func (z zset) String() string {
	var rows []string
	z.rows(func(row []value, times int) { rows = append(rows, fmt.Sprint(row, ": ", times)) })
	return fmt.Sprint(rows)
}

// keyOf is a row as a key: two numbers for each cell.
func keyOf(row []value) string {
	var key []byte
	for _, cell := range row {
		isNull := int64(0)
		if cell.null {
			isNull = 1
		}
		key = binary.AppendVarint(binary.AppendVarint(key, isNull), int64(cell.n))
	}
	return string(key)
}

func parseRow(key string) []value {
	var row []value
	for left := []byte(key); len(left) > 0; {
		isNull, read := binary.Varint(left)
		n, more := binary.Varint(left[read:])
		row, left = append(row, value{int(n), isNull == 1}), left[read+more:]
	}
	return row
}

// world is what tables hold, and how they have changed. Tables are known by name.
type world struct {
	now, changes map[string]zset
	done, some   map[algebra.Node]zset
	moments      map[string]int // of this refresh and of the one before
	unsigned     bool           // rows that come and go do not cancel each other, as in SQL before it adds up: some has them
}

// signs is the same world where rows cancel each other, or do not.
func (w world) signs(signed bool) world {
	w.unsigned = !signed
	return w
}

// evaluate makes the rows of a node, once.
func (w world) evaluate(n algebra.Node) zset {
	done := w.done
	if w.unsigned {
		done = w.some
	}
	rows, known := done[n]
	if !known {
		rows = w.compute(n)
		done[n] = rows
	}
	return rows
}

// compute makes the rows of a node. It panics where groups are made of rows that count less than nothing.
func (w world) compute(n algebra.Node) zset {
	out := zset{}
	switch n.(type) {
	case *algebra.Aggregate, *algebra.Top, *algebra.Window, *algebra.Bag, *algebra.Consolidate, *algebra.Recursion: // which add up
		if w.unsigned {
			return support(w.signs(true).evaluate(n))
		}
	}
	switch n := n.(type) {
	case *algebra.Source:
		if n.Table.Clock {
			out.add([]value{{n: w.moments[n.Table.Name]}}, 1)
			return out
		}
		return picked(w.now[n.Table.Name], n.Cols)
	case *algebra.Changes:
		changes := w.changes[n.Of.Table.Name]
		if w.unsigned {
			changes = support(changes)
		}
		return picked(changes, n.Of.Cols)
	case *algebra.Values:
		for _, row := range n.Rows {
			var cells []value
			for _, cell := range row {
				cells = append(cells, eval(cell.Expr, nil))
			}
			out.add(cells, 1)
		}
	case *algebra.Filter:
		w.each(n.Input, func(b binding, row []value, times int) {
			if all(n.Conds, b) {
				out.add(row, times)
			}
		})
	case *algebra.Project:
		w.each(n.Input, func(b binding, _ []value, times int) { out.add(computed(n.Items, b), times) })
	case *algebra.Union:
		for _, from := range n.From {
			w.each(from.Input, func(b binding, _ []value, times int) { out.add(b.row(from.Cols), times) })
		}
	case *algebra.Negate:
		if w.unsigned {
			return w.evaluate(n.Input)
		}
		return zset{}.minus(w.evaluate(n.Input))
	case *algebra.Consolidate:
		w.evaluate(n.Input).rows(func(row []value, times int) {
			switch {
			case n.Only == 0:
				out.add(row, times)
			case times*int(n.Only) > 0:
				out.add(row, times*int(n.Only))
			}
		})
	case *algebra.Recursion:
		w.recursion(n, out)
	case *algebra.Kept:
		return w.evaluate(n.Input)
	case *algebra.Bag:
		return bag(w.evaluate(n.Input))
	case *algebra.Distinct:
		return support(w.signs(false).evaluate(n.Input))
	case *algebra.Join:
		w.pairs(w.evaluate(n.Left), w.evaluate(n.Right), n.Columns(), n.On, func(l, r []value, times int) { out.add(slices.Concat(l, r), times) })
	case *algebra.Outer:
		w.outer(n, out)
	case *algebra.Semi:
		w.semi(n, out)
	case *algebra.Each:
		w.calls(n, out)
	case *algebra.Aggregate:
		w.aggregate(n, out)
	case *algebra.Top:
		w.top(n, out)
	case *algebra.Window:
		w.window(n, out)
	default:
		panic(fmt.Sprintf("no meaning of %T", n))
	}
	return out
}

// binding is a row by the numbers of its columns.
type binding map[int]value

func bind(cols []algebra.ColID, row []value) binding {
	b := binding{}
	for i, id := range cols {
		b[int(id)] = row[i]
	}
	return b
}

func (b binding) row(cols []algebra.ColID) []value {
	row := []value{}
	for _, id := range cols {
		row = append(row, b[int(id)])
	}
	return row
}

func (w world) each(n algebra.Node, visit func(b binding, row []value, times int)) {
	cols := n.Columns()
	w.evaluate(n).rows(func(row []value, times int) { visit(bind(cols, row), row, times) })
}

func picked(table zset, cols []algebra.SourceCol) zset {
	out := zset{}
	table.rows(func(row []value, times int) {
		var some []value
		for _, c := range cols {
			some = append(some, row[c.Attr])
		}
		out.add(some, times)
	})
	return out
}

// pairs calls visit for the rows of two relations that make all conditions true.
func (w world) pairs(left, right zset, cols []algebra.ColID, on []algebra.Scalar, visit func(l, r []value, times int)) {
	left.rows(func(l []value, m int) {
		right.rows(func(r []value, n int) {
			if all(on, bind(cols, slices.Concat(l, r))) {
				visit(l, r, m*n)
			}
		})
	})
}

func (w world) outer(n *algebra.Outer, out zset) {
	left, right := w.evaluate(n.Left), bag(w.evaluate(n.Right))
	met := [2]map[string]bool{{}, {}}
	w.pairs(left, right, n.Columns(), n.On, func(l, r []value, times int) {
		out.add(slices.Concat(l, r), times)
		met[0][keyOf(l)], met[1][keyOf(r)] = true, true
	})
	nulls := func(of algebra.Node) []value { return slices.Repeat([]value{null}, len(of.Columns())) }
	left.rows(func(l []value, times int) {
		if !met[0][keyOf(l)] {
			out.add(slices.Concat(l, nulls(n.Right)), times)
		}
	})
	if n.Full {
		right.rows(func(r []value, times int) {
			if !met[1][keyOf(r)] {
				out.add(slices.Concat(nulls(n.Left), r), times)
			}
		})
	}
}

func (w world) semi(n *algebra.Semi, out zset) {
	right := w.signs(!n.AnySign).evaluate(n.Right)
	matches := map[string]int{}
	w.pairs(support(w.evaluate(n.Left)), right, slices.Concat(n.Left.Columns(), n.Right.Columns()), n.On, func(l, _ []value, times int) { matches[keyOf(l)] += times })
	w.evaluate(n.Left).rows(func(l []value, times int) {
		if matches[keyOf(l)] > 0 != n.Anti {
			out.add(l, times)
		}
	})
}

func (w world) aggregate(n *algebra.Aggregate, out zset) {
	type group struct {
		key  []value
		rows []binding
	}
	groups, order := map[string]*group{}, []string{}
	input := bag(w.evaluate(n.Input))
	if n.Global {
		groups[""], order = &group{}, []string{""}
	}
	input.rows(func(row []value, times int) {
		b := bind(n.Input.Columns(), row)
		key := computed(n.Keys, b)
		name := keyOf(key)
		if groups[name] == nil {
			groups[name], order = &group{key: key}, append(order, name)
		}
		for range times {
			groups[name].rows = append(groups[name].rows, b)
		}
	})
	for _, name := range order {
		g := groups[name]
		row := slices.Clone(g.key)
		for _, a := range n.Aggs {
			row = append(row, folded(a, g.rows))
		}
		out.add(row, 1)
	}
}

// top keeps the first rows of each key.
func (w world) top(n *algebra.Top, out zset) {
	groups := map[string][]binding{}
	bag(w.evaluate(n.Input)).rows(func(row []value, times int) {
		b := bind(n.Input.Columns(), row)
		key := keyOf(b.row(n.Keys))
		for range times {
			groups[key] = append(groups[key], b)
		}
	})
	offset, count := 0, 1000
	if !n.Offset.Expr.IsZero() {
		offset = eval(n.Offset.Expr, nil).n
	}
	if !n.Count.Expr.IsZero() {
		count = eval(n.Count.Expr, nil).n
	}
	for _, rows := range groups {
		slices.SortFunc(rows, func(a, b binding) int { return cmp.Or(before(n.Order, a, b), before(n.Then, a, b)) })
		for i, b := range rows {
			equal := n.Ties && i >= offset+count && before(n.Order, rows[offset+count-1], b) == 0
			if i >= offset && (i < offset+count || equal) {
				out.add(b.row(n.Columns()), 1)
			}
		}
	}
}

// before compares two rows in an order.
func before(order []sqltext.SortItem, a, b binding) int {
	for _, item := range order {
		x, y := eval(item.Expr, a), eval(item.Expr, b)
		var less int
		switch {
		case x.null && y.null:
		case x.null || y.null:
			nullsFirst := item.Nulls == sqltext.NullsFirst || item.Nulls == sqltext.NullsLarge && item.Desc
			if less = 1; x.null == nullsFirst {
				less = -1
			}
		case item.Desc:
			less = cmp.Compare(y.n, x.n)
		default:
			less = cmp.Compare(x.n, y.n)
		}
		if less != 0 {
			return less
		}
	}
	return 0
}

// folded is an aggregate over the rows of a group.
func folded(a algebra.Agg, rows []binding) value {
	result, n := null, 0
	for _, b := range rows {
		if !all(a.Filter, b) {
			continue
		}
		v := value{}
		if len(a.Args) > 0 {
			if v = eval(a.Args[0].Expr, b); v.null {
				continue
			}
		}
		n++
		switch {
		case result.null, a.Func == "max" && v.n > result.n, a.Func == "min" && v.n < result.n:
			result = v
		case a.Func == "sum":
			result.n += v.n
		}
	}
	if a.Func == "count" {
		return value{n: n}
	}
	return result
}

// support has each row once that counts anything.
func support(z zset) zset {
	out := zset{}
	for row := range z {
		out[row] = 1
	}
	return out
}

// bag panics if a row counts less than nothing.
func bag(z zset) zset {
	for row, n := range z {
		if n < 0 {
			panic(fmt.Sprintf("row %v counts %d", parseRow(row), n))
		}
	}
	return z
}

func computed(items []algebra.Item, b binding) []value {
	row := []value{}
	for _, item := range items {
		row = append(row, eval(item.Expr.Expr, b))
	}
	return row
}

func all(conds []algebra.Scalar, b binding) bool {
	return !slices.ContainsFunc(conds, func(c algebra.Scalar) bool { return eval(c.Expr, b) != truth(true) })
}
