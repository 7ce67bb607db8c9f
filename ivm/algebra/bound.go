package algebra

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Bound is a comparison of what rows have with a value that is the same for all of them.
type Bound struct {
	Of    Scalar // over the rows
	Op    sqltext.Operator
	Value Scalar // over the one row that has the value
}

// converses are the comparisons with their sides exchanged, and complements those that are true where others are false.
var (
	converses   = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
	complements = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
)

// BoundsIn are the comparisons that a condition consists of; none if it says anything else of the value.
func BoundsIn(cond Scalar, rows, value []ColID) []Bound {
	var bounds []Bound
	for _, e := range cond.Expr.Conjuncts() {
		parts := []sqltext.Expr{e}
		if x, low, high, ok := e.Between(); ok {
			parts = []sqltext.Expr{sqltext.Compare(sqltext.Operator{Name: ">="}, x, low), sqltext.Compare(sqltext.Operator{Name: "<="}, x, high)}
		}
		for _, part := range parts {
			if !slices.ContainsFunc(Scalar{part}.Columns(), func(id ColID) bool { return slices.Contains(value, id) }) {
				continue
			}
			bound, ok := boundIn(part, rows, value)
			if !ok {
				return nil
			}
			bounds = append(bounds, bound)
		}
	}
	return bounds
}

func boundIn(e sqltext.Expr, rows, value []ColID) (b Bound, ok bool) {
	form := e.Form()
	if form.Kind != sqltext.OperationForm || !isOwn(form.Operator, "<", "<=", ">", ">=", "=") || len(form.Parts) != 2 {
		return b, false
	}
	l, r, op := Scalar{form.Parts[0]}, Scalar{form.Parts[1]}, form.Operator
	if l.MadeOf(value) {
		l, r, op.Name = r, l, converses[op.Name]
	}
	if !l.MadeOf(rows) || !r.MadeOf(value) || l.Expr.Form().Kind == sqltext.RowForm || r.Expr.Form().Kind == sqltext.RowForm {
		return b, false
	}
	return Bound{l, op, r}, true
}

// Equal reports whether the rows must have the value itself.
func (b Bound) Equal() bool { return b.Op.Name == "=" }

// Meets is the comparison with another value.
func (b Bound) Meets(value Scalar) Scalar {
	return Scalar{sqltext.Compare(b.Op, b.Of.Expr, value.Expr)}
}

// Fails is true where Meets is false, but not where it is null.
func (b Bound) Fails(value Scalar) Scalar {
	op := b.Op
	op.Name = complements[op.Name]
	return Scalar{sqltext.Compare(op, b.Of.Expr, value.Expr)}
}

// Looser reports whether rows may meet one value and fail another.
func (b Bound) Looser(one, other Scalar) Scalar {
	op := b.Op
	op.Name = op.Name[:1]
	return Scalar{sqltext.Compare(op, other.Expr, one.Expr)}
}

// Single reports whether a relation has exactly one row, whatever tables hold.
func Single(n Node) bool {
	switch n := n.(type) {
	case *Aggregate:
		return n.Global && len(n.Keys) == 0
	case *Source:
		return n.Table.OneRow()
	case *Values:
		return len(n.Rows) == 1
	case *Project:
		return Single(n.Input)
	case *Kept:
		return Single(n.Input)
	case *Join:
		return len(n.On) == 0 && Single(n.Left) && Single(n.Right)
	}
	return false
}

// BoundsOf are the comparisons that decide which rows pass a semi-join with one row: where that row changes, a row that comes or goes meets one of them for
// one value, and not for the other. If it has to be equal, only that one is needed. There are none where something else decides.
func BoundsOf(n *Semi, columns *Columns) []Bound {
	if n.Anti || n.AnySign || !Single(n.Right) {
		return nil
	}
	var all []Bound
	decided := true
	for _, cond := range n.On {
		bounds := BoundsIn(cond, n.Left.Columns(), n.Right.Columns())
		decided = decided && len(bounds) > 0
		for _, b := range bounds {
			if !sorted(columns.InfoOf(b.Of)) || !sorted(columns.InfoOf(b.Value)) {
				return nil
			}
			if b.Equal() {
				return []Bound{b}
			}
		}
		all = append(all, bounds...)
	}
	if !decided {
		return nil
	}
	return all
}

// sorted reports whether comparisons of values agree with one order of them.
func sorted(i Info) bool {
	return i.Equality.Sorted()
}
