package emit

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// top writes the first rows of those that count once each. LIMIT and DISTINCT ON say most of it; other rows of several keys are numbered.
func (w *writer) top(n *algebra.Top, names []string) []string {
	b := w.block(w.expanded(n.Input))
	keys, order, then := b.plain(n.Keys), b.sorted(n.Order), b.sorted(n.Then)
	list := append(b.list(n.Columns(), names), as("1", Mult))
	count, isNumber := n.Count.Expr.Integer()
	switch {
	case len(keys) > 0 && isNumber && count == 1 && n.Offset.Expr.IsZero() && !n.Ties:
		lines := append(clause("select distinct on ("+strings.Join(keys, ", ")+")", list), b.from()...)
		return append(lines, clause("order by", slices.Concat(keys, order, then))...)
	case len(keys) > 0 || n.Ties && !n.Offset.Expr.IsZero():
		return b.numbered(n, names, keys, order, then)
	case !n.Ties:
		order = slices.Concat(order, then)
	}
	lines := append(clause("select", list), b.from()...)
	if len(order) > 0 {
		lines = append(lines, clause("order by", order)...)
	}
	return append(lines, strings.TrimSpace(Limit(n)))
}

// Limit is LIMIT and OFFSET, with a space before each.
func Limit(n *algebra.Top) (text string) {
	if !n.Offset.Expr.IsZero() {
		text = " offset " + n.Offset.Expr.SQL()
	}
	switch {
	case n.Ties:
		text += " fetch first (" + n.Count.Expr.SQL() + ") rows with ties"
	case !n.Count.Expr.IsZero():
		text = " limit " + n.Count.Expr.SQL() + text
	}
	return text
}

// numbered numbers the rows of each key, and keeps those whose numbers are asked for. A row is equal to the last one, or before it, where less rows come
// before all of its equals than are wanted.
func (b *block) numbered(n *algebra.Top, names, keys, order, then []string) []string {
	over := func(order []string) string {
		var parts []string
		if len(keys) > 0 {
			parts = append(parts, "partition by "+strings.Join(keys, ", "))
		}
		if len(order) > 0 {
			parts = append(parts, "order by "+strings.Join(order, ", "))
		}
		return " over (" + strings.Join(parts, " ") + ")"
	}
	list, last := append(b.list(n.Columns(), names), as("row_number()"+over(slices.Concat(order, then)), "__place")), "__place"
	if n.Ties {
		list, last = append(list, as("rank()"+over(order), "__rank")), "__rank"
	}
	var conds []string
	offset := ""
	if !n.Offset.Expr.IsZero() {
		offset = "coalesce((" + n.Offset.Expr.SQL() + ")::bigint, 0)"
		conds = append(conds, "p.__place > "+offset)
		offset += " + "
	}
	if !n.Count.Expr.IsZero() {
		conds = append(conds, "p."+last+" <= "+offset+"("+n.Count.Expr.SQL()+")::bigint")
	}
	var shown []string
	for _, name := range names {
		shown = append(shown, "p."+sqltext.Ident(name))
	}
	lines := append(clause("select", append(shown, as("1", Mult))), "from (")
	for _, line := range append(clause("select", list), b.from()...) {
		lines = append(lines, indent+line)
	}
	return append(lines, ") p", "where "+strings.Join(conds, " and "))
}

// plain are columns as expressions. A constant is left out: it would be taken for the place of a column, and no rows differ in it.
func (b *block) plain(ids []algebra.ColID) []string {
	var all []string
	for _, id := range ids {
		if e := b.over(sqltext.Column(int(id))); len(e.Columns()) > 0 {
			all = append(all, b.named(e))
		}
	}
	return all
}

// sorted are the items of an order, but for constants.
func (b *block) sorted(items []sqltext.SortItem) []string {
	var all []string
	for _, item := range items {
		if e := b.over(item.Expr); len(e.Columns()) > 0 {
			all = append(all, item.Over(b.named(e)))
		}
	}
	return all
}
