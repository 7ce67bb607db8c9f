// Package typing finds the types of expressions by PostgreSQL's rules, and what is wrong with them: chapter 10 of its manual, and parse_func.c,
// parse_oper.c and parse_coerce.c of its sources, which the manual sums up.
//
// A type is spelled as format_type does, without lengths. Unknown is that of a string or a null that nothing has given a type yet. A type that only the
// server knows is "": what follows from it is not known either, and never wrong.
package typing

import (
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Types that the rules name.
const (
	Unknown = "unknown"
	Boolean = "boolean"
	Record  = "record"
	text    = "text"
)

// Checker finds types in one query.
type Checker struct {
	Catalog  *catalog.Catalog
	Path     []string // along which names are looked up; nil: the catalog's
	Column   func(id int) string
	Subquery func(sub sqltext.Expr) []string // types of the columns; nil if they are not known
	Report   func(at int, code, message, hint string)
}

// Type is the type of a bound expression, with what is wrong with it reported.
func (c *Checker) Type(e sqltext.Expr) string {
	typ := c.typeOf(e)
	if info, _ := c.Catalog.TypeInfo(typ); info.Differs {
		return ""
	}
	return typ
}

func (c *Checker) typeOf(e sqltext.Expr) string {
	if e.IsZero() {
		return ""
	}
	if id, ok := e.Column(); ok {
		return c.Catalog.PlainType(c.Column(id))
	}
	if _, ok := e.Ref(); ok { // of a whole row, or reported
		return ""
	}
	if sub, ok := e.Subquery(); ok {
		return c.subquery(e, sub)
	}
	if call, ok := e.Call(); ok {
		return c.call(call)
	}
	if name, ok := e.ValueFunction(); ok {
		return valueFunctions[name]
	}
	return c.form(e, e.Form())
}

// valueFunctions are the types of functions without parentheses; those of others are names.
var valueFunctions = map[string]string{
	"current_date": "date", "current_time": "time with time zone", "current_timestamp": "timestamp with time zone",
	"localtime": "time without time zone", "localtimestamp": "timestamp without time zone",
	"current_user": "name", "session_user": "name", "user": "name", "current_role": "name", "current_catalog": "name", "current_schema": "name",
}

// form is the type of what has a syntax of its own.
func (c *Checker) form(e sqltext.Expr, f sqltext.Form) string {
	switch f.Kind {
	case sqltext.ConstantForm:
		return c.constant(f)
	case sqltext.OperationForm, sqltext.AnyForm, sqltext.ListForm, sqltext.BetweenForm, sqltext.DistinctForm, sqltext.NullIfForm:
		return c.operation(f)
	case sqltext.LogicForm, sqltext.TestForm:
		for _, part := range f.Parts {
			c.Boolean(part, f.Word)
		}
		return Boolean
	case sqltext.NullTestForm, sqltext.PredicateForm:
		c.types(f.Parts)
		return Boolean
	case sqltext.RowForm:
		c.types(f.Parts)
		return Record
	case sqltext.ArrayForm:
		return c.array(f)
	case sqltext.ElementForm, sqltext.SliceForm:
		return c.subscript(e, f)
	case sqltext.FieldForm:
		return c.field(e, f)
	case sqltext.CastForm:
		return c.cast(f)
	case sqltext.CaseForm:
		return c.caseOf(f)
	case sqltext.CoalesceForm:
		return c.Common(f.Parts, f.Word)
	}
	return c.rare(e, f)
}

func (c *Checker) rare(e sqltext.Expr, f sqltext.Form) string {
	switch f.Kind {
	case sqltext.CollateForm:
		return c.collate(f)
	case sqltext.GroupingForm:
		return "integer"
	case sqltext.XMLForm:
		c.types(e.Children())
		return "xml"
	}
	c.types(e.Children())
	return ""
}

func (c *Checker) types(list []sqltext.Expr) []string {
	types := make([]string, len(list))
	for i, e := range list {
		types[i] = c.Type(e)
	}
	return types
}

// constant is the type of a literal: that of a number by its size, Unknown of a string.
func (c *Checker) constant(f sqltext.Form) string {
	if f.Type.IsZero() {
		return Unknown
	}
	if f.Type.Name == "bit" {
		c.bits(f.Pos, f.Text)
	}
	return c.Catalog.PlainType(f.Type.SQL())
}

// Boolean checks a condition of a clause, such as WHERE.
func (c *Checker) Boolean(e sqltext.Expr, clause string) {
	c.Argument(e, clause, Boolean)
}

// Argument checks that a clause, such as LIMIT, gets a value of a type.
func (c *Checker) Argument(e sqltext.Expr, clause, want string) {
	typ := c.Type(e)
	if typ == Unknown {
		c.literal(e, want)
	} else if c.no(c.coercible(typ, want, catalog.AssignmentCast)) {
		p := notOfType
		if want == Boolean {
			p = notBoolean
		}
		c.report(e.At(), p, clause, c.shown(want), c.shown(typ))
	}
}

// Assigned checks that a column can have a value for its default.
func (c *Checker) Assigned(e sqltext.Expr, column, want string) {
	typ, want := c.Type(e), c.Catalog.PlainType(want)
	if typ == Unknown {
		c.literal(e, want)
	} else if c.no(c.coercible(typ, want, catalog.AssignmentCast)) {
		c.report(e.At(), notAssigned, column, c.shown(want), c.shown(typ))
	}
}

// collate: only strings, and what is made of them, can have a collation.
func (c *Checker) collate(f sqltext.Form) string {
	typ := c.Type(f.Parts[0])
	if typ == Unknown {
		return text
	}
	if info, known := c.Catalog.TypeInfo(c.Catalog.BaseType(typ)); known && builtinKind(info) && !collatable(c.Catalog, typ) {
		c.report(f.Pos, noCollation, c.shown(typ))
	}
	return typ
}

func builtinKind(info catalog.TypeInfo) bool {
	return info.Kind == catalog.BaseKind || info.Kind == catalog.EnumKind || info.Kind == catalog.RangeKind
}

// collatable reports whether values of a type of PostgreSQL's own are compared by a collation.
func collatable(known *catalog.Catalog, typ string) bool {
	info, _ := known.TypeInfo(known.BaseType(typ))
	return info.Category == catalog.StringCategory && typ != `"char"` || info.Category == "Z"
}

// array is ARRAY[…]: of arrays it is one with another dimension, which has the same type.
func (c *Checker) array(f sqltext.Form) string {
	if len(f.Parts) == 0 {
		c.report(f.Pos, emptyArray)
		return ""
	}
	element := c.Common(f.Parts, f.Word)
	if info, _ := c.Catalog.TypeInfo(element); element == "" || info.Kind == catalog.ArrayKind {
		return element
	}
	return element + "[]"
}

// caseOf is CASE, with or without a value that is compared.
func (c *Checker) caseOf(f sqltext.Form) string {
	arg := ""
	if !f.Arg.IsZero() {
		if arg = c.Type(f.Arg); arg == Unknown {
			arg = text
		}
	}
	for _, tested := range f.Tested {
		if f.Arg.IsZero() {
			c.Boolean(tested, "CASE/WHEN")
		} else {
			c.operator(sqltext.Operator{Pos: f.Pos, Name: "="}, operand{typ: arg}, c.operand(tested))
		}
	}
	return c.Common(f.Parts, f.Word)
}

// subscript is an element of an array, or of what is subscripted like one, or a slice of it.
func (c *Checker) subscript(e sqltext.Expr, f sqltext.Form) string {
	typ := c.Type(f.Parts[0])
	if e.Star() || typ == "" {
		c.types(f.Parts[1:])
		return ""
	}
	base := c.Catalog.BaseType(typ)
	info, _ := c.Catalog.TypeInfo(base)
	switch {
	case base == "jsonb":
		c.types(f.Parts[1:])
		return base
	case info.Elem == "":
		c.report(e.At(), noSubscript, c.shown(typ))
		return ""
	}
	for _, bound := range f.Parts[1:] {
		if index := c.Type(bound); index == Unknown {
			c.literal(bound, "integer")
		} else if c.no(c.coercible(index, "integer", catalog.AssignmentCast)) {
			c.report(bound.At(), badSubscript)
		}
	}
	if f.Kind == sqltext.SliceForm {
		return base
	}
	return info.Elem
}

// field is a field of a composite value, or a function that is called like one.
func (c *Checker) field(e sqltext.Expr, f sqltext.Form) string {
	typ := c.Type(f.Parts[0])
	info, known := c.Catalog.TypeInfo(c.Catalog.BaseType(typ))
	var names []string
	for _, column := range info.Columns {
		if column.Name == f.Field {
			return c.Catalog.PlainType(column.Type)
		}
		names = append(names, column.Name)
	}
	switch {
	case !known || typ == Record || c.Catalog.Extended() || len(c.Catalog.Signatures(c.Path, "", f.Field)) > 0:
	case info.Kind != catalog.CompositeKind:
		c.report(e.At(), notComposite, f.Field, c.shown(typ))
	case info.Columns != nil:
		c.reportNearest(e.At(), noField, f.Field, names, f.Field, c.shown(typ))
	}
	return ""
}

func (c *Checker) shown(typ string) string { return c.Catalog.ShownType(c.Path, typ) }

func (c *Checker) shownAll(types []string) []string {
	all := make([]string, len(types))
	for i, typ := range types {
		all[i] = c.shown(typ)
	}
	return all
}

func (c *Checker) report(at int, p problem, args ...any) {
	code, message, hint := p.text(args...)
	c.Report(max(at, 0), code, message, hint)
}
