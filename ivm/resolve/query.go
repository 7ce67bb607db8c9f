package resolve

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// query resolves any kind of query. outer is what it sees around it: WITH
// queries and, in a subquery of an expression, columns.
func (r *resolver) query(q sqltext.Query, outer *scope) relation {
	if r.tooMany(q.At()) {
		at := r.pos(max(0, q.At()))
		return relation{node: &algebra.Values{}, open: &at}
	}
	switch q := q.(type) {
	case *sqltext.Select:
		return r.with(q.With, q.Recursive, outer, func(s *scope) relation { return r.sel(q, s) })
	case *sqltext.SetOp:
		return r.with(q.With, q.Recursive, outer, func(s *scope) relation { return r.united(q, r.query(q.Left, s), r.query(q.Right, s), s) })
	case *sqltext.Values:
		return r.with(q.With, q.Recursive, outer, func(s *scope) relation { return r.values(q, s) })
	}
	panic("unknown kind of query")
}

// united resolves what follows the left side of UNION, INTERSECT and EXCEPT.
func (r *resolver) united(q *sqltext.SetOp, left, right relation, outer *scope) relation {
	if left.open == nil && right.open == nil && len(left.ids) != len(right.ids) {
		r.errs.Add(wrongArity(r.pos(q.Right.At()), q.Kind))
		return left
	}
	rel := left
	var types []string
	if left.open == nil && right.open == nil {
		types = r.commonTypes(strings.ToUpper(string(q.Kind)), left, right)
	}
	switch {
	case left.open != nil || right.open != nil:
		r.full(q.Pos, strings.ToUpper(string(q.Kind))+" of columns that are not known", "name the columns")
	case q.Kind != sqltext.Union:
		rel = r.setOp(q, left, right, types)
	default:
		rel = r.union(left, right, types, q.All)
	}
	for i, typ := range types {
		r.types[rel.ids[i]] = typ
	}
	if types != nil && (!q.All || q.Kind != sqltext.Union) {
		r.checkDistinct(rel)
	}
	rel.order = nil
	if q.All && (left.order != nil || right.order != nil) {
		rel.order = unknownOrder
	}
	return r.tail(q.Tail, q.Pos, inside(outer), rel, selected{order: rel.order})
}

// union is UNION of two sides with as many columns, of the types that both have in common.
func (r *resolver) union(left, right relation, types []string, all bool) relation {
	rel := r.unioned(left, right, types)
	if !all {
		rel.node = &algebra.Distinct{Input: rel.node}
	}
	return rel
}

// unioned is UNION ALL of two sides.
func (r *resolver) unioned(left, right relation, types []string) relation {
	rel, mixed := relation{names: left.names, at: left.at}, false
	for i, name := range left.names {
		l, rt := r.columns.Info(left.ids[i]), r.columns.Info(right.ids[i])
		info := algebra.Info{Name: name, Type: types[i], Varied: l.Varied || rt.Varied, Equality: min(l.Equality, rt.Equality)}
		if l.Type == rt.Type {
			info.Type = l.Type // with its scale
		} else if info.Type != "" {
			info.Equality = r.catalog.Equality(info.Type)
		}
		// Values of one side may equal others of the other side, as 1 does 1.00.
		info.Any = l.Any || rt.Any
		info.Varied = !info.Any && (info.Varied || info.Type != "" && !sqltext.IsExact(info.Type))
		mixed = mixed || l.Type != rt.Type || l.Type == ""
		rel.ids = append(rel.ids, r.newColumn(info, r.shapes[left.ids[i]]))
	}
	rel.node = &algebra.Union{Cols: rel.ids, Mixed: mixed, From: []algebra.Branch{{Input: left.node, Cols: left.ids}, {Input: right.node, Cols: right.ids}}}
	return rel
}

// values resolves a VALUES list.
func (r *resolver) values(q *sqltext.Values, outer *scope) relation {
	node, s := &algebra.Values{}, inside(outer)
	rel := relation{node: node}
	for n, row := range q.Rows {
		row, open := r.listed(row, s)
		if open != nil {
			rel.open = open
		}
		if n == 0 {
			for i, value := range row {
				name := "column" + itoa(i+1)
				rel.names, rel.at = append(rel.names, name), append(rel.at, r.pos(max(0, value.At())))
			}
		}
		if rel.open == nil && len(row) != len(rel.names) {
			r.errs.Add(unequalRows(r.pos(max(0, q.Rows[n][0].At()))))
		}
		node.Rows = append(node.Rows, r.bindAll(row, s, "VALUES"))
	}
	for i, name := range rel.names {
		typ := r.checker().Common(valuesAt(i, node.Rows), "VALUES")
		id := r.newColumn(r.valuesColumn(name, i, node.Rows, typ), func() catalog.Shape { return r.shape(node.Rows[0][i].Expr, s) })
		rel.ids, r.types[id] = append(rel.ids, id), typ
	}
	node.Cols = rel.ids
	return r.tail(q.Tail, q.Pos, s, rel, selected{})
}

// valuesColumn is what is known of a column of a VALUES list, whose values have a type in common.
func (r *resolver) valuesColumn(name string, i int, rows [][]algebra.Scalar, typ string) algebra.Info {
	info := algebra.Info{Name: name, Type: typ, Equality: r.catalog.Equality(typ)}
	for _, row := range rows {
		if i < len(row) { // otherwise that was reported
			info.Varied = info.Varied || r.varied(row[i], typ)
		}
	}
	// What is varied are the rows.
	info.Varied = info.Varied || len(rows) > 1 && !sqltext.IsExact(typ)
	return info
}

// valuesAt are the values of a column of a VALUES list.
func valuesAt(i int, rows [][]algebra.Scalar) []sqltext.Expr {
	var all []sqltext.Expr
	for _, row := range rows {
		if i < len(row) {
			all = append(all, row[i].Expr)
		}
	}
	return all
}

// listed expands stars in a list of values.
func (r *resolver) listed(list []sqltext.Expr, s *scope) (all []sqltext.Expr, open *diag.Pos) {
	if !slices.ContainsFunc(list, sqltext.Expr.Star) {
		return list, nil
	}
	var targets []sqltext.Target
	for _, e := range list {
		targets = append(targets, sqltext.Target{Pos: e.At(), Expr: e})
	}
	expanded, open := r.targets(targets, s)
	for _, t := range expanded {
		all = append(all, t.expr)
	}
	return all, open
}
