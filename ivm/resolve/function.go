package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/typing"
)

// function resolves functions in FROM: what they return for each row of what stands before them, or for one row without columns.
func (r *resolver) function(item *sqltext.FunctionRef, before *scope) (algebra.Node, *scope) {
	each := &algebra.Each{Input: algebra.OneRow(), Ordinality: item.Ordinality}
	var columns []column
	open := false
	for _, f := range item.Functions {
		for _, call := range unnested(f.Call) {
			bound := r.bind(call, before, inFrom)
			made, known := r.columnsOfCall(item, f, bound.Expr, before)
			columns, open = append(columns, made...), open || !known
			each.Calls = append(each.Calls, algebra.RowCall{Call: bound, Defs: r.definitions(item, f)})
		}
	}
	r.checkFollowed(item, each, open)
	if item.Ordinality {
		columns = append(columns, r.columnOf("ordinality", "bigint", catalog.Shape{Kind: catalog.ValueShape}))
	}
	for _, c := range columns {
		each.Cols = append(each.Cols, c.id)
	}
	name := item.Alias
	if name == "" {
		name = sqltext.FigureName(item.Functions[0].Call, nil)
	}
	table := namedTable{name: name, columns: r.rename(max(0, item.Pos), columns, theTable(name), item.Columns, open), open: open}
	if len(each.Calls) == 1 && len(columns) == 1 && len(each.Calls[0].Defs) == 0 && !item.Ordinality && r.resultOf(each.Calls[0].Call.Expr, before).Kind != catalog.RowShape {
		table.value = columns[0].id
	}
	return each, &scope{open: open, tables: []namedTable{table}, visible: table.columns}
}

// checkFollowed has a query recomputed with functions whose rows cannot be written down.
func (r *resolver) checkFollowed(item *sqltext.FunctionRef, each *algebra.Each, open bool) {
	at := max(0, item.Pos)
	if open {
		r.full(at, "function in FROM whose columns only the server knows", "name its columns, or cast its arguments")
	}
	for _, c := range each.Calls {
		if _, ok := c.Call.Expr.Call(); !ok {
			r.full(at, "function in FROM with a syntax of its own", "write it into the select list of a subquery")
		}
	}
}

// definitions are the columns that a query says a function returns.
func (r *resolver) definitions(item *sqltext.FunctionRef, f sqltext.Function) []algebra.RowColumn {
	defs := f.Defs
	if len(defs) == 0 {
		defs = item.Defs
	}
	var all []algebra.RowColumn
	for _, def := range defs {
		null, err := sqltext.ParseExpr("null::"+def.Type, nil)
		if err != nil || def.Collation != "" {
			r.full(max(0, item.Pos), "column definition with a collation", "say the collation where the column is used")
			continue
		}
		all = append(all, algebra.RowColumn{Name: def.Name, Null: algebra.Scalar{Expr: null}, Type: def.Type})
	}
	return all
}

// unnested are the calls that unnest(a, b) in FROM stands for.
func unnested(e sqltext.Expr) []sqltext.Expr {
	call, ok := e.Call()
	if !ok || call.Schema != "" || call.Name != "unnest" || len(call.Args) < 2 {
		return []sqltext.Expr{e}
	}
	var all []sqltext.Expr
	for _, arg := range call.Args {
		all = append(all, e.WithArgs(arg))
	}
	return all
}

// columnOf is a column of a function in FROM, of a type.
func (r *resolver) columnOf(name, typ string, shape catalog.Shape) column {
	info := algebra.Info{Name: name, Type: typ, Equality: r.catalog.Equality(typ), Varied: !sqltext.IsExact(typ)}
	if typ == typing.Unknown || typ == typing.Record {
		info.Type = ""
	}
	c := column{name, r.newColumn(info, of(shape))}
	r.types[c.id] = typ
	return c
}

// columnsOfCall are the columns of a function in FROM; it is false where only the server knows them.
func (r *resolver) columnsOfCall(item *sqltext.FunctionRef, f sqltext.Function, bound sqltext.Expr, s *scope) (columns []column, known bool) {
	defs := f.Defs
	if len(defs) == 0 {
		defs = item.Defs
	}
	for _, def := range defs {
		columns = append(columns, r.columnOf(def.Name, r.checker().Named(def.Named), r.catalog.ShapeOf(def.Type)))
	}
	if len(defs) > 0 {
		return columns, true
	}
	result, typ := r.resultOf(bound, s), r.silent().checker().Type(bound)
	switch {
	case result.Kind == catalog.UnknownShape:
		if call, ok := bound.Call(); ok && typ == typing.Record && r.catalog.NeedsDefinition(r.path, call.Schema, call.Name) {
			r.errs.Add(noDefinition(r.pos(max(0, item.Pos))))
		}
		return nil, false
	case result.Kind == catalog.RowShape:
		for _, c := range result.Columns {
			columns = append(columns, r.columnOf(c.Name, r.catalog.PlainType(c.Type), r.catalog.ShapeOf(c.Type)))
		}
		return columns, !result.open
	case result.Name != "":
		return []column{r.columnOf(result.Name, typ, result.Shape)}, true
	case item.Alias != "" && len(item.Functions) == 1:
		return []column{r.columnOf(item.Alias, typ, result.Shape)}, true
	}
	return []column{r.columnOf(sqltext.FigureName(f.Call, nil), typ, result.Shape)}, true
}
