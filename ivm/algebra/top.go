package algebra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Top keeps the first rows in an order, of all rows or of those that agree in Keys: what LIMIT, OFFSET and DISTINCT ON leave.
type Top struct {
	Input         Node
	Keys          []ColID
	Order         []sqltext.SortItem // of columns
	Then          []sqltext.SortItem // decides between rows that are equal in the order
	Count, Offset Scalar             // integers without columns; an expression that is zero stands for none
	Ties          bool               // also the rows that are equal to the last one in the order
}

func (n *Top) Columns() []ColID { return n.Input.Columns() }
func (n *Top) Inputs() []Node   { return []Node{n.Input} }

// With keeps the first rows of another input alike.
func (n *Top) With(in []Node) Node {
	return &Top{in[0], n.Keys, n.Order, n.Then, n.Count, n.Offset, n.Ties}
}

func (n *Top) reads() []Scalar {
	all := make([]Scalar, 0, len(n.Keys)+len(n.Order))
	for _, id := range n.Keys {
		all = append(all, Ref(id))
	}
	for _, item := range slices.Concat(n.Order, n.Then) {
		all = append(all, Scalar{item.Expr})
	}
	for _, e := range []Scalar{n.Count, n.Offset} {
		if !e.Expr.IsZero() {
			all = append(all, e)
		}
	}
	return all
}

// Sorted are the columns of Order.
func (n *Top) Sorted() []ColID {
	var ids []ColID
	for _, item := range n.Order {
		ids = append(ids, Scalar{item.Expr}.Columns()...)
	}
	return ids
}

// same reports whether both keep the same rows of one input.
func (n *Top) same(other *Top) bool {
	return n.Ties == other.Ties && slices.Equal(n.Keys, other.Keys) && n.Count.Expr.IsZero() == other.Count.Expr.IsZero() &&
		slices.EqualFunc(n.Order, other.Order, func(a, b sqltext.SortItem) bool { return a.SQL() == b.SQL() })
}

// text is the operator for people.
func (p *printer) top(n *Top) string {
	text := "top"
	if len(n.Keys) > 0 {
		text += " by " + strings.Join(p.idTexts(n.Keys), ", ")
	}
	for i, item := range n.Order {
		word := ", "
		if i == 0 {
			word = " ordered "
		}
		id, _ := item.Expr.Column()
		text += word + item.Over(p.id(ColID(id)))
	}
	if !n.Count.Expr.IsZero() {
		text += fmt.Sprintf(" limit %s", n.Count.Expr.SQL())
	}
	if !n.Offset.Expr.IsZero() {
		text += fmt.Sprintf(" offset %s", n.Offset.Expr.SQL())
	}
	if n.Ties {
		text += " with ties"
	}
	return text
}
