package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/typing"
)

// function resolves functions in FROM, which are recomputed, as far as their columns are known.
func (r *resolver) function(item *sqltext.FunctionRef, before *scope) (algebra.Node, *scope) {
	r.full(item.Pos, "function in FROM", "")
	var columns []column
	open := false
	for _, f := range item.Functions {
		for _, call := range unnested(f.Call) {
			made, known := r.columnsOfCall(item, f, r.bind(call, before, "functions in FROM").Expr, before)
			columns, open = append(columns, made...), open || !known
		}
	}
	if item.Ordinality {
		columns = append(columns, r.made("ordinality", catalog.Shape{Kind: catalog.ValueShape}))
	}
	name := item.Alias
	if name == "" {
		name = sqltext.FigureName(item.Functions[0].Call, nil)
	}
	columns = r.rename(max(0, item.Pos), columns, theTable(name), item.Columns, open)
	return &algebra.Values{}, &scope{open: open, tables: []namedTable{{name: name, columns: columns, open: open}}, visible: columns}
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

func (r *resolver) made(name string, shape catalog.Shape) column {
	return column{name, r.newColumn(algebra.Info{Name: name}, of(shape))}
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

// xmlTable resolves XMLTABLE, which is recomputed.
func (r *resolver) xmlTable(item *sqltext.XMLTableRef, before *scope) (algebra.Node, *scope) {
	r.full(item.Pos, "XMLTABLE", "")
	read := []sqltext.Expr{item.Row, item.Document}
	for _, n := range item.Namespaces {
		read = append(read, n.Expr)
	}
	var columns []column
	for _, def := range item.Defs {
		read = append(read, def.Path, def.Default)
		columns = append(columns, r.made(def.Name, r.catalog.ShapeOf(def.Type)))
	}
	r.bindAll(read, before, "XMLTABLE")
	name := item.Alias
	if name == "" {
		name = "xmltable"
	}
	columns = r.rename(max(0, item.Pos), columns, theTable(name), item.Columns, false)
	return &algebra.Values{}, &scope{tables: []namedTable{{name: name, columns: columns}}, visible: columns}
}
