package resolve

import (
	"slices"
	"sync"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What (row).* stands for and which columns a function in FROM has follows from types, as far as they are known.

// shapeOf is a shape that is found out when it is asked for.
type shapeOf = func() catalog.Shape

// newColumn adds a column whose values are of a shape.
func (r *resolver) newColumn(info algebra.Info, shape shapeOf) algebra.ColID {
	id := r.columns.New(info)
	if shape != nil {
		r.shapes[id] = sync.OnceValue(shape)
	}
	return id
}

// of is a shape that is known.
func of(shape catalog.Shape) shapeOf { return func() catalog.Shape { return shape } }

// shapeOfColumn is the shape of a column's values.
func (r *resolver) shapeOfColumn(id algebra.ColID) catalog.Shape {
	if shape, ok := r.shapes[id]; ok {
		return shape()
	}
	if typ := r.columns.Info(id).Type; typ != "" {
		return r.catalog.ShapeOf(typ)
	}
	return catalog.Shape{}
}

// shape is that of the values of a bound expression.
func (r *resolver) shape(e sqltext.Expr, s *scope) catalog.Shape {
	if e.IsZero() {
		return catalog.Shape{}
	}
	if id, ok := e.Column(); ok {
		return r.shapeOfColumn(algebra.ColID(id))
	}
	if ref, ok := e.Ref(); ok {
		return r.shapeOfRow(ref, s)
	}
	if sub, ok := e.Subquery(); ok {
		return r.shapeOfSubquery(sub, s)
	}
	if _, ok := e.Call(); ok {
		return r.resultOf(e, s).Shape
	}
	form := e.Form()
	if form.Kind.One() {
		return r.same(form.One(), s)
	}
	switch form.Kind {
	case sqltext.RowForm:
		return r.shapeOfList(form.Parts)
	case sqltext.ArrayForm:
		return r.same(form.Parts, s).Array()
	case sqltext.ElementForm:
		if shape := r.shape(form.Parts[0], s); shape.Kind == catalog.ArrayShape {
			return shape.Elements()
		} else if shape.Kind == catalog.ValueShape { // of a jsonb, for example
			return shape
		}
		return catalog.Shape{}
	case sqltext.FieldForm:
		return r.catalog.Field(r.shape(form.Parts[0], s), form.Field)
	case sqltext.CastForm:
		return r.catalog.ShapeOf(r.catalog.TypeIn(r.path, form.Type))
	}
	if e.IsConcatenation() {
		return r.same(e.Children(), s)
	}
	return catalog.Shape{Kind: catalog.ValueShape}
}

// shapeOfRow is that of the whole row of a table.
func (r *resolver) shapeOfRow(ref sqltext.Ref, s *scope) catalog.Shape {
	t := r.tableAround(s, ref.Parts)
	if t == nil || t.open {
		return catalog.Shape{}
	}
	row := catalog.Shape{Kind: catalog.RowShape}
	for _, c := range t.columns {
		row.Columns = append(row.Columns, catalog.Column{Name: c.name, Type: r.columns.Info(c.id).Type})
	}
	return row
}

func (r *resolver) shapeOfSubquery(sub sqltext.Subquery, s *scope) catalog.Shape {
	switch sub.Kind {
	case sqltext.Scalar, sqltext.Array:
		rel := r.apart().silent().query(sub.Query, s)
		if len(rel.ids) == 0 {
			return catalog.Shape{}
		}
		shape := r.shapeOfColumn(rel.ids[0])
		if sub.Kind == sqltext.Array && shape.Kind != catalog.ArrayShape {
			return shape.Array()
		}
		return shape
	}
	return catalog.Shape{Kind: catalog.ValueShape}
}

// shapeOfList is the row of a list of expressions.
func (r *resolver) shapeOfList(list []sqltext.Expr) catalog.Shape {
	if slices.ContainsFunc(list, sqltext.Expr.Star) {
		return catalog.Shape{}
	}
	row := catalog.Shape{Kind: catalog.RowShape}
	for i, e := range list {
		column := catalog.Column{Name: "f" + itoa(i+1)}
		column.Type = r.typeOf(algebra.Scalar{Expr: e})
		row.Columns = append(row.Columns, column)
	}
	return row
}

// same is the shape of expressions that are brought to one type; unknown where one is not known.
func (r *resolver) same(list []sqltext.Expr, s *scope) catalog.Shape {
	found := catalog.Shape{}
	for _, e := range list {
		if e.IsNull() {
			continue
		}
		shape := r.shape(e, s)
		if shape.Kind == catalog.UnknownShape {
			return catalog.Shape{}
		}
		if found.Kind == catalog.UnknownShape || shape.Kind == catalog.ArrayShape {
			found = shape
		}
	}
	return found
}

// result is what a call returns.
type result struct {
	catalog.Result
	open bool // it has other columns, too
}

// resultOf describes what a bound call returns, or what makes a value in its place.
func (r *resolver) resultOf(e sqltext.Expr, s *scope) result {
	call, ok := e.Call()
	if !ok {
		return result{Result: catalog.Result{Shape: r.shape(e, s)}}
	}
	found := r.catalog.CallResult(r.path, call.Schema, call.Name, len(call.Args))
	if r.isBuiltin(call) && call.Name == "unnest" {
		return r.resultOfUnnest(call, s)
	}
	if found.Argument {
		found.Shape = r.shapeOfPolymorphic(call, s)
	}
	return result{Result: found}
}

// resultOfUnnest: an array of rows, of anything else, a multirange or a tsvector.
func (r *resolver) resultOfUnnest(call sqltext.Call, s *scope) result {
	if len(call.Args) != 1 {
		return result{}
	}
	arg := call.Args[0]
	if r.typeOf(algebra.Scalar{Expr: arg}) == "tsvector" {
		return result{Result: catalog.Result{Shape: catalog.Shape{Kind: catalog.RowShape, Columns: []catalog.Column{{Name: "lexeme"}, {Name: "positions"}, {Name: "weights"}}}}}
	}
	switch shape := r.shape(arg, s); shape.Kind {
	case catalog.ArrayShape:
		return result{Result: catalog.Result{Shape: shape.Elements()}}
	case catalog.ValueShape:
		return result{Result: catalog.Result{Shape: shape}}
	}
	return result{}
}

// shapeOfPolymorphic is what one of PostgreSQL's functions makes of arguments of any type.
func (r *resolver) shapeOfPolymorphic(call sqltext.Call, s *scope) catalog.Shape {
	if len(call.Args) == 0 {
		return catalog.Shape{}
	}
	arg := r.shape(call.Args[0], s)
	switch call.Name {
	case "array_agg":
		if arg.Kind == catalog.ArrayShape {
			return arg
		}
		return arg.Array()
	case "array_append", "array_remove", "array_replace", "array_reverse", "array_sort", "array_shuffle", "array_sample", "trim_array", "array_larger", "array_smaller":
		return arg
	case "array_fill", "array_cat", "array_prepend", "width_bucket":
		return catalog.Shape{}
	}
	return arg
}
