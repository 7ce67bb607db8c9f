package sqltext

import (
	"cmp"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Tables returns every table that a query names, the names of CTEs among them, in the order of the text. It looks into the queries of WITH, of
// FROM and of expressions.
func Tables(q Query) []*TableRef {
	var w tableWalk
	w.query(q)
	slices.SortStableFunc(w.tables, func(a, b *TableRef) int { return cmp.Compare(a.Pos, b.Pos) })
	return w.tables
}

type tableWalk struct{ tables []*TableRef }

func (w *tableWalk) query(q Query) {
	switch q := q.(type) {
	case *Select:
		w.body(q)
		w.around(q.With, q.Tail)
	case *Values:
		for _, row := range q.Rows {
			w.exprs(row...)
		}
		w.around(q.With, q.Tail)
	case *SetOp:
		w.query(q.Left)
		w.query(q.Right)
		w.around(q.With, q.Tail)
	}
}

func (w *tableWalk) body(s *Select) {
	w.exprs(s.DistinctOn...)
	w.targets(s.Targets)
	w.exprs(s.Where, s.Having)
	w.groupings(s.Group)
	for _, f := range s.From {
		w.from(f)
	}
	for _, d := range s.Windows {
		w.exprs(d.Partition...)
		w.order(d.Order)
		w.exprs(d.Bounds...)
	}
}

func (w *tableWalk) around(with []CTE, t Tail) {
	for _, c := range with {
		w.query(c.Query)
		if c.Cycle != nil {
			w.exprs(c.Cycle.Value, c.Cycle.Default)
		}
	}
	w.order(t.Order)
	w.exprs(t.Limit, t.Offset)
}

func (w *tableWalk) from(f From) {
	switch f := f.(type) {
	case *TableRef:
		w.tables = append(w.tables, f)
		if f.Sample != nil {
			w.exprs(f.Sample.Args...)
			w.exprs(f.Sample.Repeatable)
		}
	case *SubqueryRef:
		w.query(f.Query)
	case *FunctionRef:
		for _, function := range f.Functions {
			w.exprs(function.Call)
		}
	case *XMLTableRef:
		w.targets(f.Namespaces)
		w.exprs(f.Row, f.Document)
		for _, c := range f.Defs {
			w.exprs(c.Path, c.Default)
		}
	case *JoinRef:
		w.from(f.Left)
		w.from(f.Right)
		w.exprs(f.On)
	}
}

func (w *tableWalk) groupings(list []Grouping) {
	for _, g := range list {
		w.exprs(g.Exprs...)
		w.groupings(g.Sets)
	}
}

func (w *tableWalk) targets(list []Target) {
	for _, t := range list {
		w.exprs(t.Expr)
	}
}

func (w *tableWalk) order(list []SortItem) {
	for _, s := range list {
		w.exprs(s.Expr)
	}
}

func (w *tableWalk) exprs(list ...Expr) {
	for _, e := range list {
		walk(e.node, func(m any) bool {
			stmt, ok := m.(*pg_query.SelectStmt)
			if ok {
				w.query(query(stmt))
			}
			return !ok
		})
	}
}
