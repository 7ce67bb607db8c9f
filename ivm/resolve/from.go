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
	if outer != nil {
		s.ctes = outer.ctes
	}
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
			node = &algebra.Join{Left: node, Right: n}
		}
	}
	if node == nil { // one row of nothing
		node = &algebra.Values{Rows: [][]algebra.Scalar{{}}}
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
		r.full(item.Pos, "XMLTABLE", "")
		return r.opaque(item.Alias, item.Columns)
	}
	panic("unknown kind of item in FROM")
}

func (r *resolver) tableRef(t *sqltext.TableRef, before *scope) (algebra.Node, *scope) {
	if t.Sample != nil {
		r.errs.Add(refused(r.pos(t.Sample.Pos), "TABLESAMPLE", "it gives other rows each time"))
	}
	if t.Schema == "" {
		if cte := before.ctes.find(t.Name); cte != nil {
			return r.cte(t, cte)
		}
	}
	table := r.relation(t.Schema, t.Name)
	if table == nil {
		r.errs.Add(unknownRelation(r.pos(t.Pos), t.Schema, t.Name, r.catalog))
		return r.opaque(nameOf(t), nil)
	}
	var node algebra.Node
	var columns []column
	var open bool
	switch table.Kind {
	case catalog.MaterializedView: // its columns are those of its query
		r.full(t.Pos, "changes of a "+table.Kind.String(), "")
		r.reads(table)
		rel := r.columnsOf(t, table)
		node, columns, open = rel.node, rel.columns(), rel.open != nil
	case catalog.View:
		rel := r.view(t, table)
		node, columns, open = rel.node, rel.columns(), rel.open != nil
	default:
		node, columns = r.source(t, table)
	}
	named := namedTable{name: nameOf(t), columns: r.rename(t.Pos, columns, nameOf(t), t.Columns), open: open}
	if t.Alias == "" {
		named.schema = table.Schema
	}
	return node, &scope{tables: []namedTable{named}, visible: named.columns, open: open}
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
func (r *resolver) source(t *sqltext.TableRef, table *catalog.Relation) (algebra.Node, []column) {
	switch table.Kind {
	case catalog.Foreign:
		r.full(t.Pos, "changes of a "+table.Kind.String(), "")
	}
	if t.Only && (table.Kind == catalog.Partitioned || table.ReadsOthers()) {
		r.full(t.Pos, "changes of a table without those below it", "")
	}
	r.reads(table)
	node := &algebra.Source{Table: table}
	var columns []column
	for attr, c := range table.Columns {
		id := r.columns.New(algebra.Info{Name: c.Name, Type: c.Type, Nullable: !c.NotNull, Varied: c.Varied, Equality: c.Equality})
		r.origin[id] = origin{node, attr}
		node.Cols = append(node.Cols, algebra.SourceCol{ID: id, Attr: attr})
		columns = append(columns, column{c.Name, id})
	}
	return node, columns
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
	inner.pos, inner.path = view.QueryPos, view.SearchPath
	inner.views = append(slices.Clone(r.views), view)
	rel := inner.query(q, nil)
	rel.names = slices.Clone(rel.names)
	copy(rel.names, view.Aliases)
	return rel
}

// columnsOf resolves the query of a materialized view for its columns only: what it reads is not read with it.
func (r *resolver) columnsOf(t *sqltext.TableRef, view *catalog.Relation) relation {
	return r.apart().view(t, view)
}

// apart is a resolver whose reads and reasons go nowhere; problems are reported.
func (r *resolver) apart() *resolver {
	apart := *r
	apart.result = &Result{}
	return &apart
}

func (r *resolver) subquery(item *sqltext.SubqueryRef, before *scope) (algebra.Node, *scope) {
	outer := &scope{ctes: before.ctes, outer: before.outer}
	if item.Lateral {
		outer = before
	}
	rel := r.query(item.Query, outer)
	if item.Lateral && algebra.Verify(rel.node) != nil {
		r.full(item.Pos, "LATERAL subquery that reads what stands before it", "")
	}
	columns := r.rename(item.Pos, rel.columns(), item.Alias, item.Columns)
	return rel.node, rel.under(item.Alias, columns)
}

// function is for now something to recompute.
func (r *resolver) function(item *sqltext.FunctionRef, before *scope) (algebra.Node, *scope) {
	r.full(item.Pos, "function in FROM", "")
	for _, f := range item.Functions {
		r.bind(f.Call, before, "")
	}
	return r.opaque(item.Alias, item.Columns)
}

// opaque is an item whose columns nobody knows: any name may be one of them.
func (r *resolver) opaque(name string, columns []string) (algebra.Node, *scope) {
	s := &scope{open: true}
	var all []column
	for _, c := range columns {
		all = append(all, column{c, r.columns.New(algebra.Info{Name: c, Nullable: true})})
	}
	s.tables, s.visible = []namedTable{{name: name, columns: all, open: true}}, all
	return &algebra.Values{}, s
}

// rename gives columns the names that an alias lists.
func (r *resolver) rename(at int, columns []column, table string, names []string) []column {
	if len(names) > len(columns) {
		r.errs.Add(tooManyNames(r.pos(at), table, len(columns), len(names)))
		return columns
	}
	columns = slices.Clone(columns)
	for i, name := range names {
		columns[i].name = name
	}
	return columns
}

// under is the scope of a query in FROM: its alias and the names that its columns go by.
func (rel relation) under(alias string, columns []column) *scope {
	open := rel.open != nil
	return &scope{tables: []namedTable{{name: alias, columns: columns, open: open}}, visible: columns, open: open}
}

func (rel relation) columns() []column {
	all := make([]column, len(rel.ids))
	for i, id := range rel.ids {
		all[i] = column{rel.names[i], id}
	}
	return all
}
