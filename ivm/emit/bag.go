package emit

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// union writes the branches one below the other.
func (w *writer) union(n *algebra.Union, names []string) []string {
	var lines []string
	for i, b := range n.From {
		if i > 0 {
			lines = append(lines, "union all")
		}
		if inner, ok := b.Input.(*algebra.Union); ok && slices.Equal(inner.Cols, b.Cols) {
			lines = append(lines, w.union(inner, names)...)
		} else {
			lines = append(lines, w.block(b.Input).render(b.Cols, names)...)
		}
	}
	return lines
}

// values writes constant rows.
func (w *writer) values(n *algebra.Values, names []string) []string {
	var rows []string
	for _, row := range n.Rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, cell.Expr.SQL())
		}
		rows = append(rows, "("+strings.Join(append(cells, "1"), ", ")+")")
	}
	var columns []string
	for _, name := range append(append([]string{}, names...), Mult) {
		columns = append(columns, sqltext.Ident(name))
	}
	return []string{"select *", "from (values " + strings.Join(rows, ", ") + ") v(" + strings.Join(columns, ", ") + ")"}
}

// bag repeats each row as often as it counts. The condition is always true: because of it the planner expects five of each, and not a thousand.
func (w *writer) bag(n *algebra.Bag, names []string) []string {
	rows := w.read(&algebra.Consolidate{Input: n.Input})
	var list []string
	for i, id := range n.Columns() {
		list = append(list, as("b."+sqltext.Ident(rows.Columns[id]), names[i]))
	}
	return append(clause("select", append(list, as("1", Mult))), "from "+rows.SQL+" b", "join generate_series(1, b."+Mult+") n on n.n = abs(n.n)")
}

// unrepeated is the leaf of a bag for those who ask whether it has a row. To repeat rows took a third of query 22 of TPC-H.
func (w *writer) unrepeated(n *algebra.Bag) Leaf {
	leaf := w.read(&algebra.Consolidate{Input: n.Input})
	leaf.Signed = false
	return leaf
}

// grouped is a column of d that is added up, and its key.
func grouped(name string, info algebra.Info) (column, key string) {
	return sqltext.Grouped("d", name, info.Type, info.Equality.Comparable(), info.Varied)
}

// consolidate adds up equal rows.
func (w *writer) consolidate(n *algebra.Consolidate, names []string) []string {
	from := w.read(n.Input)
	var list, keys []string
	_, net := n.Input.(*algebra.Changes) // of one table, which are added up already
	net = net && n.Only != 0
	for i, id := range n.Input.Columns() {
		column, key := grouped(from.Columns[id], w.columns.Info(id))
		if net {
			column = "d." + sqltext.Ident(from.Columns[id])
		}
		if column != "d."+sqltext.Ident(names[i]) {
			column = as(column, names[i])
		}
		list, keys = append(list, column), append(keys, key)
	}
	sum, sign := "sum(d."+Mult+")", " <> 0"
	if net {
		sum = "d." + Mult
	}
	count := sum
	switch n.Only {
	case algebra.Come:
		sign = " > 0"
	case algebra.Gone:
		count, sign = "-"+sum, " < 0"
	}
	lines := append(clause("select", append(list, as(count, Mult))), "from "+aliased(from.SQL, "d"))
	if net {
		return append(lines, "where "+sum+sign)
	}
	if len(keys) > 0 {
		lines = append(lines, clause("group by", keys)...)
	}
	return append(lines, "having "+sum+sign)
}
