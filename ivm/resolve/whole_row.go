package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A whole row of which only fields are read is nothing but these: a column that it is selected as stands for them, and nothing computes it. Read in another
// way, what it is depends on columns that its table will get, which nothing follows.

// rowColumn is a column that a whole row is selected as.
type rowColumn struct {
	at     diag.Pos
	fields []column
}

// fieldsOf are what the fields of an expression are, if it is a whole row: of an item of FROM, or a column that one is selected as.
func (r *resolver) fieldsOf(e sqltext.Expr, s *scope) (fields []column, at diag.Pos, ok bool) {
	ref, ok := e.Ref()
	if !ok || ref.Star {
		return nil, at, false
	}
	if !r.wholeRow(ref, s) {
		id, _ := r.apart().silent().column(ref, s)
		row, ok := r.rows[id]
		return row.fields, row.at, ok
	}
	t := s.around(ref.Parts)
	if t == nil || t.open || !t.fields {
		return nil, at, false
	}
	return t.columns, r.pos(ref.Pos), true
}

// fieldOf is the column that a field of a whole row is.
func (r *resolver) fieldOf(e sqltext.Expr, s *scope) (sqltext.Expr, bool) {
	form := e.Form()
	if form.Kind != sqltext.FieldForm {
		return sqltext.Expr{}, false
	}
	fields, _, ok := r.fieldsOf(form.Parts[0], s)
	if found := named(fields, form.Field); ok && len(found) == 1 {
		return e.Bound(int(found[0])), true
	}
	return sqltext.Expr{}, false
}

// rowItems are hidden columns for the fields of the whole rows that a select list has.
func (r *resolver) rowItems(p *algebra.Project, id algebra.ColID, fields []column, at diag.Pos) {
	row := rowColumn{at: at}
	for _, f := range fields {
		hidden := r.newColumn(r.columns.Info(f.id), r.shapes[f.id])
		r.types[hidden] = r.exactType(f.id)
		p.Items = append(p.Items, algebra.Item{ID: hidden, Expr: algebra.Ref(f.id)})
		row.fields = append(row.fields, column{f.name, hidden})
	}
	r.rows[id] = row
}

// withoutRows is a tree without columns of whole rows; it notes those that are read in another way than by their fields.
func (r *resolver) withoutRows(root algebra.Node) algebra.Node {
	if len(r.rows) == 0 || root == nil {
		return root
	}
	rows := map[algebra.ColID]diag.Pos{}
	for id, row := range r.rows {
		rows[id] = row.at
	}
	algebra.Walk(root, func(n algebra.Node) { // also copies
		if p, ok := n.(*algebra.Project); ok {
			for _, item := range p.Items {
				if ref, ok := item.Expr.Expr.Ref(); ok && r.rows[item.ID].fields == nil {
					rows[item.ID] = r.pos(ref.Pos)
				}
			}
		}
	})
	report := func(ids []algebra.ColID) {
		for _, id := range ids {
			if at, ok := rows[id]; ok && !slices.Contains(r.result.Full, wholeRowReason(at)) {
				r.result.Full = append(r.result.Full, wholeRowReason(at))
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

func wholeRowReason(at diag.Pos) Reason {
	return Reason{Pos: at, What: "whole row of a table", Hint: "name its columns, or for json have json_build_object name them"}
}
