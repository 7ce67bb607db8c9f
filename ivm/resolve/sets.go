package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// sets are the calls in a select list that return rows: all of them together, for each row, as ROWS FROM has them.
type sets struct {
	*resolver
	scope *scope
	each  algebra.Each
}

// setReturning is the reason of a call that returns rows where none can be followed.
const setReturning = "set-returning function"

// bind binds an item of a select list, and puts columns in the place of calls that return rows.
func (c *sets) bind(t target, bind func(target) algebra.Scalar) algebra.Scalar {
	reasons := len(c.result.Full)
	bound := bind(t)
	if !c.returnsSet(bound.Expr) || !c.plainSets(bound.Expr, true) {
		return bound
	}
	added := slices.DeleteFunc(slices.Clone(c.result.Full[reasons:]), func(f Reason) bool { return f.What == setReturning })
	c.result.Full = append(c.result.Full[:reasons:reasons], added...)
	return algebra.Scalar{Expr: bound.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		call, ok := e.Call()
		if !ok || !c.callable(call).Set {
			return sqltext.Expr{}, false
		}
		column := c.columnOf(call.Name, c.silent().checker().Type(e), c.resultOf(e, c.scope).Shape)
		c.each.Calls, c.each.Cols = append(c.each.Calls, algebra.RowCall{Call: algebra.Scalar{Expr: e}}), append(c.each.Cols, column.id)
		return sqltext.Column(int(column.id)), true
	})}
}

// returnsSet reports whether a call in an expression returns rows.
func (c *sets) returnsSet(e sqltext.Expr) bool {
	if call, ok := e.Call(); ok && c.callable(call).Set {
		return true
	}
	return slices.ContainsFunc(e.Children(), c.returnsSet)
}

// plainSets reports whether calls that return rows stand where they are always computed, not within each other, and return values of one column.
func (c *sets) plainSets(e sqltext.Expr, may bool) bool {
	form := e.Form()
	may = may && form.Kind != sqltext.CaseForm && form.Kind != sqltext.CoalesceForm
	if call, ok := e.Call(); ok {
		if c.callable(call).Set {
			kind := c.resultOf(e, c.scope).Kind
			if !may || call.Over != nil || kind != catalog.ValueShape && kind != catalog.ArrayShape {
				return false
			}
			may = false
		}
		may = may && !c.isAggregate(call) && call.Over == nil
	}
	return !slices.ContainsFunc(e.Children(), func(below sqltext.Expr) bool { return !c.plainSets(below, may) })
}

// over are the rows of the calls for each row of a tree.
func (c *sets) over(node algebra.Node) algebra.Node {
	if len(c.each.Calls) == 0 {
		return node
	}
	return c.each.With([]algebra.Node{node})
}
