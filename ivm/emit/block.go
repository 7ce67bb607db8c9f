package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// block is one SELECT … FROM … WHERE: joins, filters and projections over
// leaves, folded into each other. Expressions stand over the leaves' columns.
type block struct {
	w        *writer
	items    []item
	conds    []sqltext.Expr
	tests    []test
	exprs    map[algebra.ColID]sqltext.Expr // of columns above the leaves
	negative bool
	few      [][]int // items of which, or of what is joined of two, few rows are expected
	outer    *block  // whose rows this one tests
	tested   bool    // no more is asked of it than whether it has a row, and all rows count once
}

// item is a leaf under an alias.
type item struct {
	leaf  Leaf
	alias string
	kind  string         // of an outer join with the items before it; otherwise empty
	on    []sqltext.Expr // of that join
	calls []rowCall      // of functions whose rows it has; what the leaf is read from are their names then
	order string         // behind the calls
}

// block folds a node into one.
func (w *writer) block(n algebra.Node) *block {
	b := &block{w: w, exprs: map[algebra.ColID]sqltext.Expr{}}
	if n != nil {
		b.fold(n)
	}
	return b
}

func (b *block) fold(n algebra.Node) {
	if leaf, ok := b.w.leaf(n); ok {
		b.item(leaf)
		return
	}
	switch n := n.(type) {
	case *algebra.Filter:
		b.fold(n.Input)
		b.where(b.w.untested(n))
	case *algebra.Project:
		b.fold(n.Input)
		b.project(n.Items)
	case *algebra.Join:
		b.fold(n.Left)
		b.fold(n.Right)
		b.where(n.On)
	case *algebra.Outer:
		b.outerJoin(n)
	case *algebra.Semi:
		b.fold(n.Left)
		b.semi(n)
	case *algebra.Each:
		b.each(n)
	case *algebra.Negate:
		b.fold(n.Input)
		b.negative = !b.negative
	default:
		if bag, ok := n.(*algebra.Bag); ok && b.tested {
			b.item(b.w.unrepeated(bag))
			return
		}
		b.item(b.w.read(n))
	}
}

func (b *block) item(leaf Leaf) {
	alias := leaf.Alias
	for n := 2; b.taken(alias); n++ {
		alias = fmt.Sprintf("%s%d", leaf.Alias, n)
	}
	b.items = append(b.items, item{leaf: leaf, alias: alias})
	b.negative = b.negative != leaf.Taken
}

func (b *block) taken(alias string) bool {
	for at := b; at != nil; at = at.outer {
		if slices.ContainsFunc(at.items, func(i item) bool { return i.alias == alias }) {
			return true
		}
	}
	return false
}

func (b *block) where(conds []algebra.Scalar) {
	for _, c := range conds {
		b.conds = append(b.conds, b.over(c.Expr))
	}
}

func (b *block) project(items []algebra.Item) {
	exprs := make([]sqltext.Expr, len(items))
	for i, item := range items {
		exprs[i] = b.over(item.Expr.Expr)
	}
	for i, item := range items {
		b.exprs[item.ID] = exprs[i]
	}
}

// over puts what computed columns are in their place.
func (b *block) over(e sqltext.Expr) sqltext.Expr {
	return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, ok := e.Column()
		if !ok {
			return sqltext.Expr{}, false
		}
		expr, computed := b.exprs[algebra.ColID(id)]
		return expr, computed
	})
}

// named puts the leaves' names in the place of their columns.
func (b *block) named(e sqltext.Expr) string {
	if id, ok := e.Column(); ok { // most are no more than that, and printing expressions takes time
		alias, column := b.place(id)
		return sqltext.Ident(alias) + "." + sqltext.Ident(column)
	}
	return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, ok := e.Column()
		if !ok {
			return sqltext.Expr{}, false
		}
		return sqltext.Name(b.place(id)), true
	}).SQL()
}

// place is the alias and the name of a leaf's column.
func (b *block) place(id int) (alias, column string) {
	for at := b; at != nil; at = at.outer {
		if i := at.home(algebra.ColID(id)); i >= 0 {
			return at.items[i].alias, at.items[i].leaf.Columns[algebra.ColID(id)]
		}
	}
	panic(fmt.Sprintf("column %d of %s comes from nowhere", id, b.w.columns.Info(algebra.ColID(id)).Name))
}

// home is the item that a leaf's column comes from; -1 for a column of the block around this one.
func (b *block) home(id algebra.ColID) int {
	return slices.IndexFunc(b.items, func(i item) bool { _, ok := i.leaf.Columns[id]; return ok })
}

// last is the last item that a condition needs, and whether it needs others.
func (b *block) last(cond sqltext.Expr) (last int, several bool) {
	homes := map[int]bool{}
	for _, id := range cond.Columns() {
		if i := b.home(algebra.ColID(id)); i >= 0 {
			homes[i] = true
			last = max(last, i)
		}
	}
	return last, len(homes) > 1
}

// render writes the block with columns under names, and Mult.
func (b *block) render(columns []algebra.ColID, names []string) []string {
	return append(clause("select", append(b.list(columns, names), b.mult())), b.from()...)
}

// Plain writes a node's rows, which count once each, as one SELECT without Mult; nil if that takes common table expressions.
func (w *writer) Plain(n algebra.Node, names []string) []string {
	switch n.(type) {
	case *algebra.Filter, *algebra.Project, *algebra.Each, *algebra.Join, *algebra.Outer, *algebra.Semi, *algebra.Source:
	default:
		return nil
	}
	b := w.block(n)
	if len(w.CTEs) > 0 || b.negative || b.signed().leaf.Signed {
		return nil
	}
	return append(clause("select", some(b.list(n.Columns(), names))), b.from()...)
}

// list is the select list without Mult.
func (b *block) list(columns []algebra.ColID, names []string) []string {
	var list []string
	for i, id := range columns {
		list = append(list, b.column(id, names[i]))
	}
	return list
}

// column is one item of the select list.
func (b *block) column(id algebra.ColID, name string) string {
	e := b.over(sqltext.Column(int(id)))
	if id, ok := e.Column(); ok {
		if _, column := b.place(id); column == name {
			return b.named(e)
		}
	}
	return as(b.named(e), name)
}

// signed is the first item whose rows have a multiplicity.
func (b *block) signed() item {
	for _, i := range b.items {
		if i.leaf.Signed {
			return i
		}
	}
	return item{}
}

// factors is the product of what each item counts; empty if all count once.
func (b *block) factors() string {
	var factors []string
	for _, i := range b.items {
		if i.leaf.Signed {
			factor := sqltext.Ident(i.alias) + "." + Mult
			if i.leaf.Small {
				factor += "::bigint"
			}
			factors = append(factors, factor)
		}
	}
	return strings.Join(factors, " * ")
}

// mult is what a row of the block counts, as a column.
func (b *block) mult() string {
	product := b.factors()
	switch {
	case product == "" && b.negative:
		product = "1::bigint" // the least integer has no positive counterpart
	case product == "":
		product = "1"
	case !b.negative && product == sqltext.Ident(b.signed().alias)+"."+Mult:
		return product
	case b.negative && strings.Contains(product, " * "):
		product = "(" + product + ")"
	}
	if b.negative {
		product = "-" + product
	}
	return as(product, Mult)
}
