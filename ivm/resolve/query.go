package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// query resolves any kind of query. outer is what it sees around it: WITH
// queries and, in a subquery of an expression, columns.
func (r *resolver) query(q sqltext.Query, outer *scope) relation {
	switch q := q.(type) {
	case *sqltext.Select:
		return r.with(q.With, outer, func(s *scope) relation { return r.sel(q, s) })
	case *sqltext.SetOp:
		return r.with(q.With, outer, func(s *scope) relation { return r.setOp(q, s) })
	case *sqltext.Values:
		return r.with(q.With, outer, func(s *scope) relation { return r.values(q, s) })
	}
	panic("unknown kind of query")
}

// setOp resolves UNION, INTERSECT and EXCEPT.
func (r *resolver) setOp(q *sqltext.SetOp, outer *scope) relation {
	left, right := r.query(q.Left, outer), r.query(q.Right, outer)
	r.tail(q.Tail, q.Pos)
	if left.open == nil {
		left.open = right.open
	}
	if q.Kind != sqltext.Union {
		r.full(q.Pos, string(q.Kind), "")
		return left
	}
	if left.open != nil {
		return left
	}
	if len(left.ids) != len(right.ids) {
		r.errs.Add(wrongArity(r.pos(q.Right.At()), "UNION"))
		return left
	}
	rel, mixed := relation{names: left.names, at: left.at}, false
	for i, name := range left.names {
		l, rt := r.columns.Info(left.ids[i]), r.columns.Info(right.ids[i])
		info := algebra.Info{Name: name, Nullable: l.Nullable || rt.Nullable, Varied: l.Varied || rt.Varied, Equality: min(l.Equality, rt.Equality)}
		if l.Type == rt.Type || !sqltext.IsComparable(l.Type) {
			info.Type = l.Type
		}
		mixed = mixed || l.Type != rt.Type || l.Type == ""
		rel.ids = append(rel.ids, r.columns.New(info))
	}
	rel.node = &algebra.Union{Cols: rel.ids, Mixed: mixed, From: []algebra.Branch{{Input: left.node, Cols: left.ids}, {Input: right.node, Cols: right.ids}}}
	if !q.All {
		rel.node = &algebra.Distinct{Input: rel.node}
	}
	return rel
}

// values resolves a VALUES list.
func (r *resolver) values(q *sqltext.Values, outer *scope) relation {
	node := &algebra.Values{}
	rel := relation{node: node}
	for i, value := range q.Rows[0] {
		name := "column" + itoa(i+1)
		rel.names, rel.at = append(rel.names, name), append(rel.at, r.pos(max(0, value.At())))
	}
	for _, row := range q.Rows {
		if len(row) != len(rel.names) {
			r.errs.Add(unequalRows(r.pos(row[0].At())))
		}
		node.Rows = append(node.Rows, r.bindAll(row, inside(outer), "VALUES"))
	}
	for i, name := range rel.names {
		rel.ids = append(rel.ids, r.columns.New(r.valuesColumn(name, i, node.Rows)))
	}
	node.Cols = rel.ids
	r.tail(q.Tail, q.Pos)
	return rel
}

// valuesColumn is what is known of a column of a VALUES list.
func (r *resolver) valuesColumn(name string, i int, rows [][]algebra.Scalar) algebra.Info {
	info, typed := algebra.Info{Name: name, Nullable: true}, false
	for _, row := range rows {
		if i >= len(row) {
			continue // which was reported
		}
		of := r.computed(name, row[i])
		switch {
		case of.Type == "" && len(row[i].Columns()) == 0: // a bare literal, which takes the type of the others
			continue
		case typed && of.Type != info.Type:
			of.Type = ""
		}
		if typed {
			of.Equality, of.Varied = min(of.Equality, info.Equality), of.Varied || info.Varied
		}
		info, typed = of, true
	}
	// What is varied are the rows.
	info.Varied = info.Varied || len(rows) > 1 && !sqltext.IsExact(info.Type)
	return info
}

// tail resolves what may stand behind a query. Order alone means nothing for a
// stored result.
func (r *resolver) tail(t sqltext.Tail, at int) {
	if len(t.Locks) > 0 {
		r.errs.Add(refused(r.pos(at), "FOR "+t.Locks[0].Strength, "it would lock rows on each refresh"))
	}
	if !t.Limit.IsZero() || !t.Offset.IsZero() {
		r.full(first(t.Limit.At(), t.Offset.At(), at), "LIMIT or OFFSET", "order and limit where the stream table is read")
	}
}

func first(positions ...int) int {
	if n := slices.IndexFunc(positions, func(p int) bool { return p >= 0 }); n >= 0 {
		return positions[n]
	}
	return 0
}
