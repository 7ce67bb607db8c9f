package emit

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Keep writes a node as a materialized common table expression, once, and reads
// the node from it from then on. What it keeps counts once.
func (w *writer) Keep(n algebra.Node, names []string) Leaf {
	if leaf, ok := w.done[n]; ok {
		return leaf
	}
	leaf := Leaf{Columns: map[algebra.ColID]string{}}
	for i, id := range n.Columns() {
		leaf.Columns[id] = names[i]
	}
	leaf.SQL = w.Add(n, names, true)
	leaf.Alias = leaf.SQL
	w.done[n] = leaf
	return leaf
}

// distinct writes each row once. Multiplicities do not matter, only that there are rows.
func (w *writer) distinct(n *algebra.Distinct, names []string) []string {
	return w.once(n.Input, names)
}

func (w *writer) once(n algebra.Node, names []string) []string {
	if u, ok := n.(*algebra.Union); ok {
		var lines []string
		for i, b := range u.From {
			if i > 0 {
				lines = append(lines, "union")
			}
			block := w.block(b.Input)
			lines = append(append(lines, clause("select", some(block.list(b.Cols, names)))...), block.from()...)
		}
		if len(u.From) > 1 {
			return lines
		}
	}
	block := w.block(n)
	return append(clause("select distinct", some(block.list(n.Columns(), names))), block.from()...)
}

// some is a list that is not empty: without columns all rows are alike.
func some(list []string) []string {
	if len(list) == 0 {
		return []string{"1 as one"}
	}
	return list
}

// aggregate writes groups over rows that count once each.
func (w *writer) aggregate(n *algebra.Aggregate, names []string) []string {
	b := w.block(w.expanded(n.Input))
	var list, keys []string
	sorted := algebra.SortedKeys(w.columns, n.Keys)
	for i, k := range n.Keys {
		expr, key := b.named(b.over(k.Expr.Expr)), fmt.Sprint(i+1)
		if info := w.columns.Info(k.ID); info.Varied {
			if _, plain := b.over(k.Expr.Expr).Column(); !plain {
				expr = "(" + expr + ")"
			}
			expr, key = sqltext.Least(expr, info.Type, sorted), expr
		}
		list, keys = append(list, as(expr, names[i])), append(keys, key)
	}
	for i, a := range n.Aggs {
		list = append(list, as(b.named(b.over(a.Call.Expr)), names[len(n.Keys)+i]))
	}
	lines := append(clause("select", append(list, as("1", Mult))), b.from()...)
	switch {
	case len(keys) > 0:
		lines = append(lines, clause("group by", keys)...)
	case len(n.Aggs) == 0: // one group all the same
		lines = append(lines, "having true")
	}
	return lines
}
