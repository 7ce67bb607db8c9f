package emit

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// fold is an aggregate function over rows, without what a tree of groups has of it.
type fold struct {
	name   string         // of its column
	sql    string         // the call, with %s for the argument
	arg    algebra.Scalar // none: *
	filter []algebra.Scalar
	and    string // a further condition, with %s for the argument
	zero   bool   // 0 rather than null over nothing
}

// groups writes groups of a node's rows, which count once each, as a common table expression.
func (w *writer) groups(n algebra.Node, keys []algebra.Item, names []string, folds []fold) string {
	return w.add(CTE{groups: true}, func(c *CTE) {
		b := w.block(w.expanded(n))
		var list, numbers []string
		for i, k := range keys {
			list = append(list, as(b.named(b.over(k.Expr.Expr)), names[i]))
			numbers = append(numbers, fmt.Sprint(i+1))
		}
		for _, f := range folds {
			list = append(list, as(b.foldSQL(f), f.name))
		}
		c.Lines, c.Comment = append(clause("select", list), b.from()...), "γ("+w.comment(n)+")"
		if len(keys) > 0 {
			c.Lines = append(c.Lines, clause("group by", numbers)...)
		}
	})
}

func (b *block) foldSQL(f fold) string {
	arg := "*"
	if !f.arg.Expr.IsZero() {
		arg = b.named(b.over(f.arg.Expr))
	}
	sql := strings.ReplaceAll(f.sql, "%s", arg)
	var conds []string
	for _, c := range f.filter {
		conds = append(conds, b.named(b.over(c.Expr)))
	}
	if f.and != "" {
		conds = append(conds, strings.ReplaceAll(f.and, "%s", arg))
	}
	if len(conds) > 0 {
		sql += " filter (where " + strings.Join(conjuncts(conds), " and ") + ")"
	}
	if f.zero {
		sql = "coalesce(" + sql + ", 0)"
	}
	return sql
}

// Bind reports that a node's rows are read from a leaf.
func (w *writer) Bind(n algebra.Node, leaf Leaf) { w.done[n] = leaf }

// Flat returns the columns of a node that stands over one leaf as expressions over it, and the conditions under which it has a row.
func (w *writer) Flat(n algebra.Node) (list, conds []string) {
	b := w.block(n)
	for _, id := range n.Columns() {
		list = append(list, b.named(b.over(algebra.Ref(id).Expr)))
	}
	for _, c := range b.conds {
		conds = append(conds, fenced(b.named(c)))
	}
	return list, conds
}

// NameLast gives the last common table expression another name.
func (w *writer) NameLast(name string) {
	last := &w.CTEs[len(w.CTEs)-1]
	last.Name = name
	w.written[strings.Join(last.Lines, "\n")] = name
}

// Rebind gives the leaf that a node is read from another name.
func (w *writer) Rebind(n algebra.Node, name string) {
	leaf := w.done[n]
	leaf.SQL, leaf.Alias = name, name[:1]
	w.done[n] = leaf
}
