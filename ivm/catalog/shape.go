package catalog

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Shape is what values of a type consist of, as far as * and field names need to know.
type Shape struct {
	Kind    ShapeKind
	Columns []Column // of a row
	Element *Shape   // of an array
}

// ShapeKind says what a value is.
type ShapeKind int

// The kinds of values. Of an unknown one only the server knows.
const (
	UnknownShape ShapeKind = iota
	ValueShape             // no row and no array
	RowShape
	ArrayShape
)

// Array is the shape of an array of such values.
func (s Shape) Array() Shape { return Shape{Kind: ArrayShape, Element: &s} }

// Elements is the shape of the elements of such an array.
func (s Shape) Elements() Shape {
	if s.Kind == ArrayShape {
		return *s.Element
	}
	return Shape{}
}

// Field is the shape of a field of such a row.
func (c *Catalog) Field(s Shape, field string) Shape {
	for _, column := range s.Columns {
		if column.Name == field {
			return c.ShapeOf(column.Type)
		}
	}
	return Shape{}
}

// TypeIn spells a type that a query names as Column.Type does, with its schema where it is not PostgreSQL's own.
func (c *Catalog) TypeIn(path []string, t sqltext.Type) string {
	s := &script{Catalog: c, path: path}
	if path == nil {
		s.path = c.path
	}
	return s.resolve(t).SQL()
}

// ShapeOf describes what values of a type, spelled as Column.Type is, consist of.
func (c *Catalog) ShapeOf(typ string) Shape {
	if element, ok := strings.CutSuffix(typ, "[]"); ok {
		return c.ShapeOf(strings.TrimRight(element, "[]")).Array()
	}
	if sqltext.IsBuiltin(typ) || builtin().types[sqltext.Unsized(typ)] {
		return builtinShape(typ)
	}
	t, err := sqltext.ParseType(typ)
	if err != nil {
		return Shape{}
	}
	if t.Schema == "" {
		return builtinShape(t.Name)
	}
	if r := c.relations[name{t.Schema, t.Name}]; r != nil {
		return rowOf(r)
	}
	return c.shapeOfMade(c.types[name{t.Schema, t.Name}])
}

// builtinShape is that of PostgreSQL's own types. The two vectors are arrays with a name of their own.
func builtinShape(typ string) Shape {
	switch {
	case typ == "oidvector" || typ == "int2vector":
		return Shape{Kind: ValueShape}.Array()
	case typ == sqltext.Record || strings.HasPrefix(typ, "any") || !sqltext.IsBuiltin(typ) && !builtin().types[typ]:
		return Shape{}
	}
	return Shape{Kind: ValueShape}
}

// rowOf is the shape of rows of a relation.
func rowOf(r *Relation) Shape {
	if r.isView() { // its columns are those of its query
		return Shape{}
	}
	return Shape{Kind: RowShape, Columns: r.Columns}
}

func (c *Catalog) shapeOfMade(t *Type) Shape {
	switch {
	case t == nil:
		return Shape{}
	case t.Kind == ddl.CompositeType:
		return Shape{Kind: RowShape, Columns: t.Columns}
	case t.Kind == ddl.DomainType:
		return c.ShapeOf(t.Base)
	}
	return Shape{Kind: ValueShape}
}

// Result is what a call of a function returns, or each of its rows.
type Result struct {
	Shape
	Name     string // of the column, where the function gives its only one a name
	Argument bool   // the type follows from the arguments
}

// CallResult describes what a call returns, as far as all functions that it can mean agree. Without a path it is the catalog's.
func (c *Catalog) CallResult(path []string, schema, function string, args int) Result {
	if path == nil {
		path = c.path
	}
	var results []Result
	for _, f := range overloads(c.functions, path, schema, function) {
		if f.takes(args) {
			results = append(results, c.resultOf(f))
		}
	}
	if (schema == "" || schema == "pg_catalog") && builtin().functions[function].Known {
		results = append(results, builtinResult(function))
	}
	return agreed(results)
}

// resultOf is the result of a function that DDL makes.
func (c *Catalog) resultOf(f Function) Result {
	switch {
	case f.Kind == ddl.AggregateRoutine:
		return Result{} // it is that of its last function
	case len(f.Columns) == 1:
		return Result{Shape: c.ShapeOf(f.Columns[0].Type), Name: f.Columns[0].Name}
	case len(f.Columns) > 1:
		return Result{Shape: Shape{Kind: RowShape, Columns: f.Columns}}
	}
	return Result{Shape: c.ShapeOf(f.Returns)}
}

// builtinResult is the result of PostgreSQL's own functions of a name.
func builtinResult(function string) Result {
	columns, returns := builtin().columns[function], builtin().returns[function]
	switch {
	case len(columns) == 0 && len(returns) == 0:
		return Result{Shape: Shape{Kind: ValueShape}}
	case len(columns) == 0 && !slices.Contains(returns, sqltext.Record):
		return Result{Argument: true}
	case len(columns) != 1 || len(returns) > 0:
		return Result{}
	case len(columns[0]) == 1:
		return Result{Shape: Shape{Kind: ValueShape}, Name: columns[0][0].Name}
	}
	return Result{Shape: Shape{Kind: RowShape, Columns: columns[0]}}
}

// agreed is the result that all have; unknown where they differ.
func agreed(results []Result) Result {
	if len(results) == 0 {
		return Result{}
	}
	first := results[0]
	for _, r := range results[1:] {
		sameColumns := slices.EqualFunc(r.Columns, first.Columns, func(a, b Column) bool { return a.Name == b.Name })
		if r.Kind != first.Kind || r.Name != first.Name || r.Argument != first.Argument || !sameColumns {
			return Result{}
		}
	}
	return first
}

// System returns the columns of one of PostgreSQL's own catalogs and views of them. Exact says that they are the same in all versions. It is not
// found where DDL makes a relation that the name means.
func (c *Catalog) System(schema, relation string) (columns []string, exact, found bool) {
	if schema == "" {
		schema = "pg_catalog"
	}
	variants := builtin().relations[name{schema, relation}]
	for _, variant := range variants {
		for _, column := range variant {
			if !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
		}
	}
	return columns, len(variants) == 1, len(variants) > 0
}
