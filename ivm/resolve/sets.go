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
	rows  []rowsOfCall
}

// rowsOfCall are the columns of a call that returns rows of several, of which fields are read.
type rowsOfCall struct {
	call    sqltext.Expr
	columns []column
}

// setReturning is the reason of a call that returns rows where none can be followed.
const setReturning = "set-returning function"

// bind binds an item of a select list, and puts columns in the place of calls that return rows.
func (c *sets) bind(t target, bind func(target) algebra.Scalar) algebra.Scalar {
	reasons := len(c.result.Full)
	bound := bind(t)
	if !c.returnsSet(bound.Expr) || !c.plainSets(bound.Expr, true, false) {
		return bound
	}
	added := slices.DeleteFunc(slices.Clone(c.result.Full[reasons:]), func(f Reason) bool { return f.What == setReturning })
	c.result.Full = append(c.result.Full[:reasons:reasons], added...)
	return algebra.Scalar{Expr: c.columnsFor(bound.Expr)}
}

// columnsFor is an expression with columns in the place of the calls in it that return rows.
func (c *sets) columnsFor(e sqltext.Expr) sqltext.Expr {
	return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		if form := e.Form(); form.Kind == sqltext.FieldForm && c.isSetOfRows(form.Parts[0]) {
			return c.field(form), true
		}
		call, ok := e.Call()
		switch {
		case ok && slices.ContainsFunc(call.Args, func(arg sqltext.Expr) bool { return c.takesRow(call, arg) }):
			return c.ofRows(e, call), true
		case !ok || !c.callable(call).Set:
			return sqltext.Expr{}, false
		}
		column := c.columnOf(call.Name, c.silent().checker().Type(e), c.resultOf(e, c.scope).Shape)
		c.each.Calls, c.each.Cols = append(c.each.Calls, algebra.RowCall{Call: algebra.Scalar{Expr: e}}), append(c.each.Cols, column.id)
		return sqltext.Column(int(column.id)), true
	})
}

// keyed are functions whose rows have a column that is never null, by which they are known from those that other calls have more of.
var keyed = map[string]string{"json_each": "key", "jsonb_each": "key", "json_each_text": "key", "jsonb_each_text": "key"}

// takesRow reports whether a call makes JSON of an argument that is a call which returns rows.
func (c *sets) takesRow(call sqltext.Call, arg sqltext.Expr) bool {
	rows, ok := arg.Call()
	plain := !call.Named && !call.Variadic && !c.isAggregate(call) && c.isBuiltin(call) && (call.Name != "row_to_json" || len(call.Args) == 1)
	return ok && plain && rowFunctions[call.Name] != "" && keyed[rows.Name] != "" && c.isBuiltin(rows) && c.isSetOfRows(arg)
}

// ofRows is a call with JSON in the place of the rows that it takes.
func (c *sets) ofRows(e sqltext.Expr, call sqltext.Call) sqltext.Expr {
	args := slices.Clone(call.Args)
	for i, arg := range args {
		if !c.takesRow(call, arg) {
			args[i] = c.columnsFor(arg)
			continue
		}
		of, _ := arg.Call()
		rows := c.rowsOf(arg)
		row := jsonbOf(rows.columns)
		if rowFunctions[call.Name] == asJSON {
			row = c.jsonOf(rows.columns)
		}
		key := sqltext.Column(int(named(rows.columns, keyed[of.Name])[0]))
		args[i] = parsed("case when k is not null then v end", map[string]int{"k": 1, "v": 2}).Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
			id, is := e.Column()
			if id == 1 {
				return key, is
			}
			return row, is
		})
	}
	if call.Name == "row_to_json" {
		return args[0]
	}
	return e.Calling(call.Name, args...)
}

// isSetOfRows reports whether an expression is a call that returns rows of several columns, which are known.
func (c *sets) isSetOfRows(e sqltext.Expr) bool {
	call, ok := e.Call()
	if !ok || !c.callable(call).Set {
		return false
	}
	result := c.resultOf(e, c.scope)
	return result.Kind == catalog.RowShape && !result.open
}

// field is a field of the rows of a call.
func (c *sets) field(form sqltext.Form) sqltext.Expr {
	return sqltext.Column(int(named(c.rowsOf(form.Parts[0]).columns, form.Field)[0]))
}

// rowsOf are the columns of a call. Calls that are alike give the same rows, side by side.
func (c *sets) rowsOf(call sqltext.Expr) rowsOfCall {
	at := slices.IndexFunc(c.rows, func(known rowsOfCall) bool { return sqltext.Equal(known.call, call) })
	if at >= 0 {
		return c.rows[at]
	}
	rows := rowsOfCall{call: call}
	for _, f := range c.resultOf(call, c.scope).Columns {
		rows.columns = append(rows.columns, c.columnOf(f.Name, c.catalog.PlainType(f.Type), c.catalog.ShapeOf(f.Type)))
		c.each.Cols = append(c.each.Cols, rows.columns[len(rows.columns)-1].id)
	}
	c.each.Calls = append(c.each.Calls, algebra.RowCall{Call: algebra.Scalar{Expr: call}})
	c.rows = append(c.rows, rows)
	return rows
}

// returnsSet reports whether a call in an expression returns rows.
func (c *sets) returnsSet(e sqltext.Expr) bool {
	if call, ok := e.Call(); ok && c.callable(call).Set {
		return true
	}
	return slices.ContainsFunc(e.Children(), c.returnsSet)
}

// plainSets reports whether calls that return rows stand where they are always computed, not within each other, and return values of one column, or rows of
// which a field is read or JSON is made: a whole row that is null is not the same as one of nulls.
func (c *sets) plainSets(e sqltext.Expr, may, field bool) bool {
	form := e.Form()
	may = may && form.Kind != sqltext.CaseForm && form.Kind != sqltext.CoalesceForm
	if call, ok := e.Call(); ok {
		if c.callable(call).Set {
			kind := c.resultOf(e, c.scope).Kind
			if !may || call.Over != nil || kind != catalog.ValueShape && kind != catalog.ArrayShape && !(field && c.isSetOfRows(e)) {
				return false
			}
			may = false
		}
		may = may && !c.isAggregate(call) && call.Over == nil
	}
	field = form.Kind == sqltext.FieldForm && !form.Parts[0].IsZero() && c.hasField(form)
	above, _ := e.Call()
	return !slices.ContainsFunc(e.Children(), func(below sqltext.Expr) bool { return !c.plainSets(below, may, field || c.takesRow(above, below)) })
}

// hasField reports whether the rows of which a field is read have one of that name.
func (c *sets) hasField(form sqltext.Form) bool {
	return slices.ContainsFunc(c.resultOf(form.Parts[0], c.scope).Columns, func(f catalog.Column) bool { return f.Name == form.Field })
}

// over are the rows of the calls for each row of a tree.
func (c *sets) over(node algebra.Node) algebra.Node {
	if len(c.each.Calls) == 0 {
		return node
	}
	return c.each.With([]algebra.Node{node})
}
