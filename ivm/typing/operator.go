package typing

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// operand is a side of an operator.
type operand struct {
	typ  string
	expr sqltext.Expr // zero if it is no expression by itself
}

func (c *Checker) operand(e sqltext.Expr) operand { return operand{c.Type(e), e} }

// operation is the type of an operator and of what SQL has a syntax for in its place.
func (c *Checker) operation(f sqltext.Form) string {
	switch f.Kind {
	case sqltext.OperationForm:
		if len(f.Parts) == 2 && rowOf(f.Parts[0]) != nil && rowOf(f.Parts[1]) != nil {
			return c.rows(f)
		}
		if sub, ok := rowSubquery(f); ok {
			c.compared(sub, c.Subquery(f.Parts[1]))
			return Boolean
		}
		if len(f.Parts) == 1 {
			return c.prefix(f.Operator, c.operand(f.Parts[0]))
		}
		return c.operator(f.Operator, c.operand(f.Parts[0]), c.operand(f.Parts[1]))
	case sqltext.AnyForm:
		c.anyOf(f)
	case sqltext.ListForm:
		c.list(f)
	case sqltext.BetweenForm:
		value := c.operand(f.Parts[0])
		c.operator(sqltext.Operator{Pos: f.Pos, Name: ">="}, value, c.operand(f.Parts[1]))
		c.operator(sqltext.Operator{Pos: f.Pos, Name: "<="}, value, c.operand(f.Parts[2]))
	case sqltext.DistinctForm:
		if rowOf(f.Parts[0]) != nil && rowOf(f.Parts[1]) != nil {
			return c.rows(f)
		}
		c.operator(f.Operator, c.operand(f.Parts[0]), c.operand(f.Parts[1]))
	case sqltext.NullIfForm:
		return c.nullIf(f)
	}
	return Boolean
}

// nullIf is of the type that = takes its first part for.
func (c *Checker) nullIf(f sqltext.Form) string {
	found, types := c.resolve(f.Operator, []operand{c.operand(f.Parts[0]), c.operand(f.Parts[1])})
	if found.args == nil {
		return ""
	}
	return c.settled(types, found.args, 0)
}

// anyOf is value = ANY (array).
func (c *Checker) anyOf(f sqltext.Form) {
	value, array := c.operand(f.Parts[0]), c.operand(f.Parts[1])
	if array.typ == Unknown {
		found, types := c.resolve(f.Operator, []operand{value, {typ: Unknown}})
		if found.args != nil {
			c.literal(array.expr, c.settled(types, found.args, 1)+"[]")
		}
		return
	}
	if array.typ == "" {
		return
	}
	info, _ := c.Catalog.TypeInfo(c.Catalog.BaseType(array.typ))
	if info.Elem == "" {
		c.report(f.Operator.Pos, noArray)
		return
	}
	c.operator(f.Operator, value, operand{typ: info.Elem})
}

// list is value IN (…): several constants are an array, which has a common type, if they have any.
func (c *Checker) list(f sqltext.Form) {
	value := c.operand(f.Parts[0])
	if row := rowOf(f.Parts[0]); row != nil {
		for _, item := range f.Parts[1:] {
			if rowOf(item) != nil {
				c.rows(sqltext.Form{Operator: f.Operator, Parts: []sqltext.Expr{f.Parts[0], item}})
			}
		}
		return
	}
	var constants, columns []operand
	types := []string{value.typ}
	for _, item := range f.Parts[1:] {
		o := c.operand(item)
		if len(item.Columns()) > 0 {
			columns = append(columns, o)
			continue
		}
		constants, types = append(constants, o), append(types, o.typ)
	}
	if one, _, ok := c.commonType(types); ok && len(constants) > 1 && one != "" && one != Record {
		c.operator(f.Operator, value, operand{typ: one})
		for _, o := range constants {
			if o.typ == Unknown {
				c.literal(o.expr, one)
			}
		}
		constants = nil
	}
	for _, o := range append(constants, columns...) {
		c.operator(f.Operator, value, o)
	}
}

// prefix is the type of an operator before its only side.
func (c *Checker) prefix(op sqltext.Operator, right operand) string {
	return c.result(op, []operand{right})
}

// operator is the type of an operator between two sides.
func (c *Checker) operator(op sqltext.Operator, left, right operand) string {
	return c.result(op, []operand{left, right})
}

// result is the type of what an operator makes of its sides.
func (c *Checker) result(op sqltext.Operator, sides []operand) string {
	found, types := c.resolve(op, sides)
	if found.args == nil {
		return found.result
	}
	result, _ := c.generic(types, found.args, found.result)
	return result
}

// resolve finds the operator that is meant: oper of parse_oper.c. Where a type is not known, it has a result at most.
func (c *Checker) resolve(op sqltext.Operator, sides []operand) (found candidate, types []string) {
	var all []candidate
	for _, side := range sides {
		types = append(types, side.typ)
	}
	for _, o := range c.Catalog.OperatorsIn(c.Path, op.Schema, op.Name) {
		if (o.Left == "") == (len(sides) == 1) {
			all = append(all, candidate{args: []string{o.Left, o.Right}[2-len(sides):], result: o.Result})
		}
	}
	if slices.Contains(types, "") {
		return candidate{result: c.agreed(types, all)}, types
	}
	found, ok := c.exactOperator(types, all)
	if !ok {
		matching := c.matching(types, all)
		if len(matching) == 0 {
			c.noOperator(op, types, all)
			return candidate{}, types
		}
		if found, ok = c.choose(types, matching); !ok {
			c.ambiguous(op.Pos, manyOperators, c.joined(op, types))
			return candidate{}, types
		}
	}
	for i, side := range sides {
		if side.typ == Unknown {
			c.literal(side.expr, c.settled(types, found.args, i))
		}
	}
	return found, types
}

// exactOperator finds the operator with just these sides; a literal is taken for the type of the other side.
func (c *Checker) exactOperator(types []string, all []candidate) (candidate, bool) {
	if len(types) == 2 {
		types = slices.Clone(types)
		if types[0] == Unknown {
			types[0] = types[1]
		} else if types[1] == Unknown {
			types[1] = types[0]
		}
	}
	if found, ok := exact(types, all); ok || len(types) < 2 || types[0] != types[1] {
		return found, ok
	}
	base := c.Catalog.BaseType(types[0])
	return exact([]string{base, base}, all)
}

// agreed is the result that all candidates have which can be meant, where a type is not known.
func (c *Checker) agreed(types []string, all []candidate) string {
	result, found := "", false
	for _, cand := range c.matching(types, all) {
		if found && cand.result != result || isPolymorphic(cand.result) {
			return ""
		}
		result, found = cand.result, true
	}
	if c.Catalog.Extended() {
		return ""
	}
	return result
}

// noOperator reports that there is no such operator, unless an extension may have it.
func (c *Checker) noOperator(op sqltext.Operator, types []string, all []candidate) {
	switch {
	case c.Catalog.Extended():
	case len(all) > 0:
		c.report(op.Pos, noOperatorForTypes, c.joined(op, types))
	case elsewhere[op.Name] != "":
		c.reportHint(op.Pos, noSuchOperator, "write "+elsewhere[op.Name], c.joined(op, types))
	default:
		c.report(op.Pos, noSuchOperator, c.joined(op, types))
	}
}

// joined prints an operator with the types of its sides as PostgreSQL's messages do.
func (c *Checker) joined(op sqltext.Operator, types []string) string {
	types = c.shownAll(types)
	name := op.Name
	if op.Schema != "" {
		name = op.Schema + "." + name
	}
	if len(types) == 1 {
		return name + " " + types[0]
	}
	return strings.Join([]string{types[0], name, types[1]}, " ")
}

// ambiguous reports that several candidates are as good, unless types or extensions are not known.
func (c *Checker) ambiguous(at int, p problem, what string) {
	if !c.Catalog.Extended() {
		c.report(at, p, what)
	}
}

// subquery is the type of a subquery in an expression, which is compared with the value before it.
func (c *Checker) subquery(e sqltext.Expr, sub sqltext.Subquery) string {
	columns := c.Subquery(e)
	switch sub.Kind {
	case sqltext.Exists:
		return Boolean
	case sqltext.Any, sqltext.All:
		c.compared(sub, columns)
		return Boolean
	case sqltext.JSONArray:
		return ""
	}
	if len(columns) == 0 {
		return ""
	}
	if len(columns) > 1 {
		c.report(sub.Pos, oneColumn)
		return ""
	}
	if info, _ := c.Catalog.TypeInfo(columns[0]); sub.Kind == sqltext.Array && columns[0] != "" && info.Kind != catalog.ArrayKind {
		return columns[0] + "[]"
	}
	return columns[0]
}
