package resolve

import (
	"maps"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A whole row of which only fields are read is nothing but these: a column that it is selected as stands for them, and nothing computes it. Read in another
// way, it is a value of the table's type: a column that is made of all others right above the table, so that outer joins have a null in its place. What it is
// depends on columns that the table gets later, too: Result.Rows are the tables that must not get any.

// place is an item of FROM: where it stands, and in which text.
type place struct {
	view *catalog.Relation // in whose query; nil: in the query itself
	at   int
	form string // in which its row is wanted: a value of its type, or as JSON
}

// rowColumn is a whole row, or a column that one is selected as.
type rowColumn struct {
	at     diag.Pos
	fields []column
	of     place
	made   bool // it is a value, and its fields are columns beside it
}

// withRow puts the whole row of a table beside its columns, if it is wanted.
func (r *resolver) withRow(node algebra.Node, named *namedTable, t *sqltext.TableRef, table *catalog.Relation) algebra.Node {
	switch table.Kind {
	case catalog.Table, catalog.Partitioned, catalog.View:
	default: // others are recomputed anyway; a stream table's row has columns that only its extension knows
		return node
	}
	if named.open || len(t.Columns) > 0 || len(named.columns) == 0 {
		return node
	}
	named.place = place{view: r.viewed(), at: t.Pos}
	if !r.wanted[named.place] {
		return node
	}
	var parts []sqltext.Expr
	info := algebra.Info{Name: nameOf(t), Type: table.SQLName(), Equality: catalog.HashedEquality}
	for _, c := range named.columns {
		parts = append(parts, sqltext.Column(int(c.id)))
		known := r.columns.Info(c.id)
		info.Varied, info.Equality = info.Varied || known.Varied || known.Any, min(info.Equality, known.Equality)
	}
	named.row = r.newColumn(info, func() catalog.Shape { return r.catalog.ShapeOf(info.Type) })
	if table.Kind != catalog.View && !slices.Contains(r.result.Rows, table) {
		r.result.Rows = append(r.result.Rows, table)
	}
	if source, ok := node.(*algebra.Source); ok {
		r.origin[named.row] = origin{source, 0} // a key of the table determines it, too
	}
	r.wholes[named.row] = madeRow{table, named.columns}
	row := algebra.Item{ID: named.row, Expr: algebra.Scalar{Expr: sqltext.RowOf(parts, table.Schema, table.Name)}}
	return &algebra.Project{Input: node, Items: append(algebra.Same(node.Columns()), row)}
}

// madeRow is a whole row as a column.
type madeRow struct {
	table *catalog.Relation
	of    []column
}

// dependentRow is a whole row that the keys of groups determine, made of its columns, which become keys: one of rows would have PostgreSQL refuse to alter their
// table. A row without its key is one that an outer join lacks.
func (g *grouper) dependentRow(row madeRow, id algebra.ColID, at int) sqltext.Expr {
	from, ok := g.origin[id]
	if !ok || !g.determined(from) {
		return sqltext.Column(int(g.dependent(id, at)))
	}
	var parts []sqltext.Expr
	for _, c := range row.of {
		key, ok := g.keyOf(sqltext.Column(int(c.id)))
		if !ok {
			key = g.dependent(c.id, at)
		}
		parts = append(parts, sqltext.Column(int(key)))
	}
	whole := sqltext.RowOf(parts, row.table.Schema, row.table.Name)
	return parsed("case when k is not null then v end", map[string]int{"k": 1, "v": 2}).Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, ok := e.Column()
		if id == 1 {
			return parts[from.source.Table.Key[0]], ok
		}
		return whole, ok
	})
}

// bindRow binds a name that means the whole row of an item of FROM.
func (r *resolver) bindRow(e sqltext.Expr, ref sqltext.Ref, s *scope) sqltext.Expr {
	if t := r.tableAround(s, ref.Parts); t != nil {
		switch {
		case t.value != 0 && !ref.Star:
			return e.Bound(int(t.value))
		case t.row != 0:
			return e.Bound(int(t.row))
		case t.place != place{}:
			r.wanted[t.place] = true
			return e
		}
	}
	r.result.Full = append(r.result.Full, wholeRowReason(r.pos(ref.Pos)))
	return e
}

// fieldsOf are what the fields of an expression are, if it is a whole row: of an item of FROM, or a column that one is selected as.
func (r *resolver) fieldsOf(e sqltext.Expr, s *scope) (rowColumn, bool) {
	ref, ok := e.Ref()
	if !ok || ref.Star {
		return rowColumn{}, false
	}
	if !r.wholeRow(ref, s) {
		id, _ := r.apart().silent().column(ref, s)
		row, ok := r.rows[id]
		return row, ok
	}
	t := r.tableAround(s, ref.Parts)
	if t == nil || t.open || !t.fields {
		return rowColumn{}, false
	}
	return rowColumn{r.pos(ref.Pos), t.columns, t.place, t.row != 0}, true
}

// unmade is a whole row that is no value.
func (r *resolver) unmade(e sqltext.Expr, s *scope) (rowColumn, bool) {
	row, ok := r.fieldsOf(e, s)
	return row, ok && !row.made
}

// fieldOf is the column that a field of a whole row is.
func (r *resolver) fieldOf(e sqltext.Expr, s *scope) (sqltext.Expr, bool) {
	form := e.Form()
	if form.Kind != sqltext.FieldForm {
		return sqltext.Expr{}, false
	}
	row, ok := r.fieldsOf(form.Parts[0], s)
	if found := named(row.fields, form.Field); ok && len(found) == 1 {
		return e.Bound(int(found[0])), true
	}
	return sqltext.Expr{}, false
}

// rowItems are hidden columns for the fields of a whole row that a select list has.
func (r *resolver) rowItems(p *algebra.Project, id algebra.ColID, row rowColumn) {
	selected := rowColumn{at: row.at, of: row.of}
	for _, f := range row.fields {
		hidden := r.newColumn(r.columns.Info(f.id), r.shapes[f.id])
		r.types[hidden] = r.exactType(f.id)
		p.Items = append(p.Items, algebra.Item{ID: hidden, Expr: algebra.Ref(f.id)})
		selected.fields = append(selected.fields, column{f.name, hidden})
	}
	r.rows[id] = selected
}

// withoutRows is a tree without columns of whole rows that are no values; those that are read in another way than by their fields are wanted as values.
func (r *resolver) withoutRows(root algebra.Node) algebra.Node {
	if len(r.rows) == 0 || root == nil {
		return root
	}
	rows := maps.Clone(r.rows)
	algebra.Walk(root, func(n algebra.Node) { // also copies
		if p, ok := n.(*algebra.Project); ok {
			for _, item := range p.Items {
				if ref, ok := item.Expr.Expr.Ref(); ok && r.rows[item.ID].fields == nil {
					rows[item.ID] = rowColumn{at: r.pos(ref.Pos)}
				}
			}
		}
	})
	report := func(ids []algebra.ColID) {
		for _, id := range ids {
			if row, ok := rows[id]; ok {
				r.want(row)
			}
		}
	}
	report(root.Columns())
	algebra.Walk(root, func(n algebra.Node) {
		report(algebra.Reads(n))
		switch n.(type) {
		case *algebra.Project, *algebra.Filter, *algebra.Join, *algebra.Aggregate:
		default: // it may read all columns of its inputs
			for _, in := range n.Inputs() {
				report(in.Columns())
			}
		}
	})
	return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
		p, ok := n.(*algebra.Project)
		if !ok {
			return n
		}
		left := slices.DeleteFunc(slices.Clone(p.Items), func(item algebra.Item) bool { _, is := rows[item.ID]; return is })
		if len(left) == len(p.Items) {
			return n
		}
		return &algebra.Project{Input: p.Input, Items: left}
	})
}

// want has a whole row be a value, or the query recomputed where it cannot be one. Of a copy it is not known where it comes from: it is one of all.
func (r *resolver) want(row rowColumn) {
	if row.of != (place{}) {
		r.wanted[row.of] = true
		return
	}
	if row.fields == nil {
		for _, known := range r.rows {
			if known.of != (place{}) {
				r.wanted[known.of] = true
			}
		}
	}
	if reason := wholeRowReason(row.at); !slices.Contains(r.result.Full, reason) {
		r.result.Full = append(r.result.Full, reason)
	}
}

func wholeRowReason(at diag.Pos) Reason {
	return Reason{Pos: at, What: "whole row of what is not a plain table", Hint: "name its columns, or have to_jsonb, row_to_json, jsonb_agg or json_agg take it, if it is a row of a subquery"}
}
