package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// inside is the scope of a clause before any table is in it.
func inside(outer *scope) *scope {
	s := &scope{outer: outer}
	s.level = &level{scope: s}
	if outer != nil {
		s.ctes = outer.ctes
	}
	return s
}

// behind is the scope of a part of a FROM clause that sees what stands before it.
func behind(before *scope) *scope {
	s := inside(before)
	s.level = before.level
	return s
}

// fromList joins the items of a FROM clause.
func (r *resolver) fromList(items []sqltext.From, outer *scope) (algebra.Node, *scope) {
	s := inside(outer)
	var node algebra.Node
	for _, item := range items {
		n, found := r.from(item, s)
		r.add(s, found, item.At())
		if node == nil {
			node = n
		} else {
			node = r.beside(item, sqltext.Cross, node, n, nil)
		}
	}
	if node == nil { // one row of nothing
		node = algebra.OneRow()
	}
	return node, s
}

// from resolves an item of FROM. The items before it are in scope.
func (r *resolver) from(item sqltext.From, before *scope) (algebra.Node, *scope) {
	switch item := item.(type) {
	case *sqltext.TableRef:
		return r.tableRef(item, before)
	case *sqltext.SubqueryRef:
		return r.subquery(item, before)
	case *sqltext.JoinRef:
		return r.join(item, before)
	case *sqltext.FunctionRef:
		return r.function(item, before)
	case *sqltext.XMLTableRef:
		return r.xmlTable(item, before)
	}
	panic("unknown kind of item in FROM")
}

func (r *resolver) tableRef(t *sqltext.TableRef, before *scope) (algebra.Node, *scope) {
	if t.Sample != nil {
		r.errs.Add(refused(r.pos(t.Sample.Pos), "TABLESAMPLE", "it gives other rows each time"))
	}
	if t.Schema == "" {
		if cte := before.ctes.find(t.Name); cte != nil {
			r.reading.noteCTE(cte)
			return r.cte(t, cte)
		}
	}
	table := r.relation(t.Schema, t.Name)
	if columns, exact, found := r.catalog.System(t.Schema, t.Name); found && (table == nil || t.Schema == "") {
		return r.system(t, columns, exact)
	}
	if table == nil {
		r.errs.Add(unknownRelation(r.pos(t.Pos), t.Schema, t.Name, r.catalog))
		return r.opaque(nameOf(t), nil, t)
	}
	var node algebra.Node
	var rel relation
	switch table.Kind {
	case catalog.MaterializedView: // its columns are those of its query
		r.full(t.Pos, "changes of a "+table.Kind.String(), "")
		r.reads(table)
		rel = r.columnsOf(t, table)
		rel.order = nil
		node = rel.node
	case catalog.View:
		rel = r.view(t, table)
		node = rel.node
	default:
		node, rel = r.source(t, table)
	}
	named := namedTable{
		name: nameOf(t), columns: r.renameRelation(t.Pos, rel, theTable(nameOf(t)), t.Columns), open: rel.open != nil,
		stored: table.Kind != catalog.View && table.Kind != catalog.StreamTable, fields: len(t.Columns) == 0,
	}
	if t.Alias == "" {
		named.schema = table.Schema
	} else {
		named.hidden = table.Name
	}
	node = r.withRow(node, &named, t, table)
	return node, &scope{tables: []namedTable{named}, visible: named.columns, open: named.open, order: rel.order}
}

// system is a reference to one of PostgreSQL's own catalogs. Exact says that its columns are those in all versions.
func (r *resolver) system(t *sqltext.TableRef, columns []string, exact bool) (algebra.Node, *scope) {
	r.full(t.Pos, "changes of a system catalog", "")
	var known []column
	for _, name := range columns {
		known = append(known, column{name, r.newColumn(algebra.Info{Name: name}, of(catalog.Shape{Kind: catalog.ValueShape}))})
	}
	node, s := r.opaque(nameOf(t), known, t)
	s.open, s.tables[0].open, s.tables[0].stored = !exact, !exact, true
	if t.Alias == "" {
		s.tables[0].schema = t.Schema
		if t.Schema == "" {
			s.tables[0].schema = "pg_catalog"
		}
	}
	return node, s
}

// relation finds a table or view by name.
func (r *resolver) relation(schema, name string) *catalog.Relation {
	if r.path == nil {
		return r.catalog.Relation(schema, name)
	}
	return r.catalog.RelationIn(r.path, schema, name)
}

func nameOf(t *sqltext.TableRef) string {
	if t.Alias != "" {
		return t.Alias
	}
	return t.Name
}

// source is one occurrence of a table.
func (r *resolver) source(t *sqltext.TableRef, table *catalog.Relation) (algebra.Node, relation) {
	switch table.Kind {
	case catalog.Foreign:
		r.full(t.Pos, "changes of a "+table.Kind.String(), "")
	}
	if t.Only && (table.Kind == catalog.Partitioned || table.ReadsOthers()) {
		r.full(t.Pos, "changes of a table without those below it", "")
	}
	r.reads(table)
	node := &algebra.Source{Table: table}
	rel := relation{node: node}
	for attr, c := range table.Columns {
		id := r.columns.New(algebra.Info{Name: c.Name, Type: c.Type, Varied: c.Varied, Equality: c.Equality})
		r.origin[id] = origin{node, attr}
		node.Cols = append(node.Cols, algebra.SourceCol{ID: id, Attr: attr})
		rel.names, rel.ids, rel.at = append(rel.names, c.Name), append(rel.ids, id), append(rel.at, r.pos(t.Pos))
	}
	if table.Open {
		r.full(t.Pos, "changes of a stream table whose columns only the server knows", "name its columns in its query")
		at := r.pos(t.Pos)
		rel.open = &at
	}
	return node, rel
}

// origin is the column of a table that a column is.
type origin struct {
	source *algebra.Source
	attr   int
}

// view expands a view: its query looks names up where the view was made.
func (r *resolver) view(t *sqltext.TableRef, view *catalog.Relation) relation {
	empty := relation{node: &algebra.Values{}}
	if slices.Contains(r.views, view) {
		r.errs.Add(viewCycle(r.pos(t.Pos), view.Name))
		return empty
	}
	q, err := sqltext.ParseQuery(view.Query)
	if err != nil {
		r.errs.Add(badView(r.pos(t.Pos), view.Name, err))
		return empty
	}
	if !slices.Contains(r.result.Views, view) {
		r.result.Views = append(r.result.Views, view)
	}
	inner := *r
	inner.text, inner.pos, inner.path = view.Query, view.QueryPos, view.SearchPath
	inner.views = append(slices.Clone(r.views), view)
	if len(r.views) == 0 {
		inner.seen = r.pos(t.Pos)
	}
	inner.checkPrint(q)
	rel := inner.query(q, nil)
	rel.names = slices.Clone(rel.names)
	copy(rel.names, view.Aliases)
	return rel
}

// columnsOf resolves the query of a materialized view for its columns only: what it reads is not read with it.
func (r *resolver) columnsOf(t *sqltext.TableRef, view *catalog.Relation) relation {
	return r.apart().view(t, view)
}

func (r *resolver) subquery(item *sqltext.SubqueryRef, before *scope) (algebra.Node, *scope) {
	outer := &scope{ctes: before.ctes, outer: before.outer}
	if item.Lateral {
		outer = before
		defer before.inClause(fromClause)()
	}
	rel := r.query(item.Query, outer)
	columns := r.renameRelation(item.Pos, rel, theTable(item.Alias), item.Columns)
	s := rel.under(item.Alias, columns)
	return r.withJSON(rel.node, s, item.Pos), s
}

// opaque is an item that nothing but the server looks into. Without columns nobody knows them: any name may be one.
func (r *resolver) opaque(name string, columns []column, t *sqltext.TableRef) (algebra.Node, *scope) {
	open := columns == nil
	var fresh []column
	for _, c := range columns {
		info := r.columns.Info(c.id)
		info.Name = c.name
		fresh = append(fresh, column{c.name, r.newColumn(info, r.shapes[c.id])})
		r.types[fresh[len(fresh)-1].id] = r.exactType(c.id)
	}
	if t != nil {
		fresh = r.rename(t.Pos, fresh, theTable(name), t.Columns, open)
	}
	return &algebra.Values{}, &scope{open: open, tables: []namedTable{{name: name, columns: fresh, open: open}}, visible: fresh}
}

// renameRelation gives the columns of a relation the names that an alias lists.
func (r *resolver) renameRelation(at int, rel relation, what string, names []string) []column {
	return r.rename(at, rel.columns(), what, names, rel.open != nil)
}

// rename gives columns the names that an alias lists. Where others are not known, it may name those.
func (r *resolver) rename(at int, columns []column, what string, names []string, open bool) []column {
	columns = slices.Clone(columns)
	if open {
		for _, name := range names[min(len(names), len(columns)):] {
			columns = append(columns, column{name, r.columns.New(algebra.Info{Name: name})})
		}
	}
	if len(names) > len(columns) {
		r.errs.Add(tooManyNames(r.pos(at), what, len(columns), len(names)))
		for _, name := range names[len(columns):] { // which have been said to be too many
			columns = append(columns, column{name, r.columns.New(algebra.Info{Name: name})})
		}
	}
	for i, name := range names {
		columns[i].name = name
	}
	return columns
}

// under is the scope of a query in FROM: its alias and the names that its columns go by.
func (rel relation) under(alias string, columns []column) *scope {
	open := rel.open != nil
	return &scope{tables: []namedTable{{name: alias, columns: columns, open: open, fields: true}}, visible: columns, open: open, order: rel.order}
}

func (rel relation) columns() []column {
	all := make([]column, len(rel.ids))
	for i, id := range rel.ids {
		all[i] = column{rel.names[i], id}
	}
	return all
}
