package sqltext

import (
	"cmp"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Tables returns every table that a query names, in the order of the text, without the WITH queries that a name means where it stands. It looks
// into the queries of WITH, of FROM and of expressions.
func Tables(q Query) []*TableRef {
	var w tableWalk
	w.query(q)
	slices.SortStableFunc(w.tables, func(a, b *TableRef) int { return cmp.Compare(a.Pos, b.Pos) })
	return w.tables
}

type tableWalk struct {
	tables []*TableRef
	with   []string // the WITH queries that are visible
}

func (w *tableWalk) query(q Query) {
	outer := w.with
	defer func() { w.with = outer }()
	switch q := q.(type) {
	case *Select:
		w.queries(q.With, q.Recursive)
		w.body(q)
		w.tail(q.Tail)
	case *Values:
		w.queries(q.With, q.Recursive)
		for _, row := range q.Rows {
			w.exprs(row...)
		}
		w.tail(q.Tail)
	case *SetOp:
		w.queries(q.With, q.Recursive)
		w.query(q.Left)
		w.query(q.Right)
		w.tail(q.Tail)
	}
}

// queries walks WITH queries and makes them visible. Each sees those before it, and all where they are recursive.
func (w *tableWalk) queries(with []CTE, recursive bool) {
	visible := slices.Clone(w.with)
	for _, c := range with {
		visible = append(visible, c.Name)
	}
	for i, c := range with {
		w.with = visible[:len(visible)-len(with)+i]
		if recursive {
			w.with = visible
		}
		w.query(c.Query)
		if c.Cycle != nil {
			w.exprs(c.Cycle.Value, c.Cycle.Default)
		}
	}
	w.with = visible
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

func (w *tableWalk) tail(t Tail) {
	w.order(t.Order)
	w.exprs(t.Limit, t.Offset)
}

func (w *tableWalk) from(f From) {
	switch f := f.(type) {
	case *TableRef:
		if f.Schema != "" || !slices.Contains(w.with, f.Name) {
			w.tables = append(w.tables, f)
		}
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
