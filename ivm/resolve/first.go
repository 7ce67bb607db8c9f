package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// firsts keeps the first rows of a relation in an order, with columns for what they are sorted by.
type firsts struct {
	*resolver
	rel    relation
	over   func(algebra.Scalar) algebra.Scalar
	hidden []algebra.Item // columns that the relation lacks
	place  int
	clause string
	failed bool // it can only be recomputed

	keys          []algebra.ColID // of DISTINCT ON
	order         []sqltext.SortItem
	count, offset algebra.Scalar
	ties          bool
}

// bound takes LIMIT, i being 0, or OFFSET.
func (f *firsts) bound(i int, e algebra.Scalar) {
	if i == 0 {
		f.count = e
	} else {
		f.offset = e
	}
}

// fail notes once that something in the order or in LIMIT is not followed.
func (f *firsts) fail(what string) {
	if !f.failed {
		f.failed = true
		f.full(f.place, what, "")
	}
}

// sort adds what the rows are sorted by next: a column, or an expression that is none.
func (f *firsts) sort(item sqltext.SortItem, id algebra.ColID, other algebra.Scalar) {
	if id == 0 {
		if id = f.column(other); id == 0 {
			return
		}
	}
	item.Expr = sqltext.Column(int(id))
	f.order = append(f.order, item)
}

// breakTies sorts rows that the ORDER BY leaves equal by the order in which they come from a subquery, as PostgreSQL does where that is enough.
func (f *firsts) breakTies(order *ordering) {
	if order == nil || !f.limited() && f.clause != "DISTINCT ON" {
		return
	}
	if len(order.keys) == 0 && len(f.order) == 0 {
		f.lostOrder(f.place, f.clause, "write the order beside it: ORDER BY … "+f.clause+" …")
	}
	for _, key := range order.keys {
		p, _ := f.rel.node.(*algebra.Project)
		at := slices.IndexFunc(p.Items, func(i algebra.Item) bool { id, ok := i.Expr.Column(); return ok && id == key.id })
		if at >= 0 {
			f.sort(key.SortItem, p.Items[at].ID, algebra.Scalar{})
		} else {
			f.sort(key.SortItem, 0, algebra.Ref(key.id))
		}
	}
}

// key adds a column of which each value has first rows of its own.
func (f *firsts) key(id algebra.ColID, other algebra.Scalar) {
	if id == 0 {
		id = f.column(other)
	}
	if id != 0 && !slices.Contains(f.keys, id) {
		f.keys = append(f.keys, id)
	}
}

// column is a hidden column for an expression; 0 if there can be none.
func (f *firsts) column(e algebra.Scalar) algebra.ColID {
	_, selects := f.rel.node.(*algebra.Project)
	switch {
	case e.Expr.IsZero():
		return 0 // which was reported
	case !selects || f.over == nil:
		f.fail("ORDER BY an expression that is not in the select list")
		return 0
	}
	e = f.over(e)
	if _, calls := f.callIn([]sqltext.Expr{e.Expr}, isWindow); calls {
		f.fail("ORDER BY a window function that is not in the select list")
		return 0
	}
	at := slices.IndexFunc(f.hidden, func(i algebra.Item) bool { return sqltext.Equal(i.Expr.Expr, e.Expr) })
	if at >= 0 {
		return f.hidden[at].ID
	}
	id := f.typed(f.computed("order"+itoa(len(f.hidden)+1), e), func() catalog.Shape { return catalog.Shape{Kind: catalog.ValueShape} }, e.Expr)
	f.hidden = append(f.hidden, algebra.Item{ID: id, Expr: e})
	return id
}

// node is the relation's node, with no rows but the first ones.
func (f *firsts) node() algebra.Node {
	node := f.rel.node
	if len(f.hidden) > 0 {
		p := node.(*algebra.Project)
		node = &algebra.Project{Input: p.Input, Items: slices.Concat(p.Items, f.hidden)}
	}
	if len(f.keys) > 0 {
		node = &algebra.Top{Input: node, Keys: f.keys, Order: f.order, Count: algebra.Scalar{Expr: sqltext.Integer(1)}}
	}
	if f.limited() {
		node = &algebra.Top{Input: node, Order: f.order, Count: f.count, Offset: f.offset, Ties: f.ties}
	}
	if len(f.hidden) > 0 {
		node = &algebra.Project{Input: node, Items: algebra.Same(f.rel.ids)}
	}
	return node
}

func (f *firsts) limited() bool { return !f.count.Expr.IsZero() || !f.offset.Expr.IsZero() }
