package sqltext

import (
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// What follows makes parse trees of queries again, to show that a Query lost nothing.

func rebuild(t *testing.T, q Query) *pg_query.SelectStmt {
	r := rebuilder{t}
	switch q := q.(type) {
	case *Select:
		return r.around(r.body(q), q.With, q.Recursive, q.Tail)
	case *Values:
		stmt := &pg_query.SelectStmt{Op: pg_query.SetOperation_SETOP_NONE}
		for _, row := range q.Rows {
			stmt.ValuesLists = append(stmt.ValuesLists, pg_query.MakeListNode(nodes(row...)))
		}
		return r.around(stmt, q.With, q.Recursive, q.Tail)
	case *SetOp:
		stmt := &pg_query.SelectStmt{Op: key(setKinds, q.Kind), All: q.All, Larg: rebuild(t, q.Left), Rarg: rebuild(t, q.Right)}
		return r.around(stmt, q.With, q.Recursive, q.Tail)
	}
	panic("no query")
}

type rebuilder struct{ t *testing.T }

func (r rebuilder) body(s *Select) *pg_query.SelectStmt {
	stmt := &pg_query.SelectStmt{
		Op:             pg_query.SetOperation_SETOP_NONE,
		DistinctClause: nodes(s.DistinctOn...),
		TargetList:     targetNodes(s.Targets),
		WhereClause:    s.Where.node,
		GroupClause:    r.groupings(s.Group),
		GroupDistinct:  s.GroupDistinct,
		HavingClause:   s.Having.node,
	}
	if s.Distinct {
		stmt.DistinctClause = []*pg_query.Node{{}}
	}
	for _, f := range s.From {
		stmt.FromClause = append(stmt.FromClause, r.from(f))
	}
	for _, w := range s.Windows {
		stmt.WindowClause = append(stmt.WindowClause, &pg_query.Node{Node: &pg_query.Node_WindowDef{WindowDef: r.window(w)}})
	}
	return stmt
}

func (r rebuilder) around(stmt *pg_query.SelectStmt, with []CTE, recursive bool, tail Tail) *pg_query.SelectStmt {
	if len(with) > 0 {
		stmt.WithClause = &pg_query.WithClause{Recursive: recursive}
	}
	for _, c := range with {
		stmt.WithClause.Ctes = append(stmt.WithClause.Ctes, &pg_query.Node{Node: &pg_query.Node_CommonTableExpr{CommonTableExpr: r.cte(c)}})
	}
	stmt.SortClause = sortNodes(tail.Order)
	stmt.LimitCount, stmt.LimitOffset = tail.Limit.node, tail.Offset.node
	stmt.LimitOption = pg_query.LimitOption_LIMIT_OPTION_DEFAULT
	if tail.WithTies {
		stmt.LimitOption = pg_query.LimitOption_LIMIT_OPTION_WITH_TIES
	}
	for _, l := range tail.Locks {
		c := &pg_query.LockingClause{Strength: key(lockStrengths, l.Strength), WaitPolicy: pg_query.LockWaitPolicy_LockWaitBlock}
		if l.Wait != "" {
			c.WaitPolicy = key(lockWaits, l.Wait)
		}
		for _, name := range l.Of {
			c.LockedRels = append(c.LockedRels, r.table(&TableRef{Name: name}))
		}
		stmt.LockingClause = append(stmt.LockingClause, &pg_query.Node{Node: &pg_query.Node_LockingClause{LockingClause: c}})
	}
	return stmt
}

func (r rebuilder) cte(c CTE) *pg_query.CommonTableExpr {
	out := &pg_query.CommonTableExpr{
		Ctename: c.Name, Aliascolnames: stringNodes(c.Columns), Ctematerialized: pg_query.CTEMaterialize_CTEMaterializeDefault,
		Ctequery: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: rebuild(r.t, c.Query)}},
	}
	if c.Materialized != PlannerDecides {
		out.Ctematerialized = key(materialized, c.Materialized)
	}
	if s := c.Search; s != nil {
		out.SearchClause = &pg_query.CTESearchClause{SearchColList: stringNodes(s.Columns), SearchBreadthFirst: s.BreadthFirst, SearchSeqColumn: s.Sequence}
	}
	if y := c.Cycle; y != nil {
		out.CycleClause = &pg_query.CTECycleClause{
			CycleColList: stringNodes(y.Columns), CycleMarkColumn: y.Mark, CyclePathColumn: y.Path,
			CycleMarkValue: y.Value.node, CycleMarkDefault: y.Default.node,
		}
	}
	return out
}

func (r rebuilder) groupings(list []Grouping) []*pg_query.Node {
	var out []*pg_query.Node
	for _, g := range list {
		switch {
		case g.Kind != Plain:
			set := &pg_query.GroupingSet{Kind: key(groupingKinds, g.Kind), Content: r.groupings(g.Sets)}
			out = append(out, &pg_query.Node{Node: &pg_query.Node_GroupingSet{GroupingSet: set}})
		case len(g.Exprs) == 1:
			out = append(out, g.Exprs[0].node)
		default:
			row := &pg_query.RowExpr{Args: nodes(g.Exprs...), RowFormat: pg_query.CoercionForm_COERCE_IMPLICIT_CAST}
			out = append(out, &pg_query.Node{Node: &pg_query.Node_RowExpr{RowExpr: row}})
		}
	}
	return out
}

func (r rebuilder) window(w Window) *pg_query.WindowDef {
	frame := r.parse("select f() over (" + w.Frame + ")").TargetList[0].GetResTarget().Val.GetFuncCall().Over
	frame.Name, frame.Refname = w.Name, w.Base
	frame.PartitionClause, frame.OrderClause = nodes(w.Partition...), sortNodes(w.Order)
	return frame
}

func (r rebuilder) parse(sql string) *pg_query.SelectStmt {
	r.t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return tree.Stmts[0].Stmt.GetSelectStmt()
}

func (r rebuilder) typeName(sql string) *pg_query.TypeName {
	return r.parse("select null::" + sql).TargetList[0].GetResTarget().Val.GetTypeCast().TypeName
}

func key[K comparable, V comparable](m map[K]V, value V) K {
	for k, v := range m {
		if v == value {
			return k
		}
	}
	panic(value)
}

func nodes(list ...Expr) []*pg_query.Node {
	var out []*pg_query.Node
	for _, e := range list {
		out = append(out, e.node)
	}
	return out
}

func stringNodes(names []string) []*pg_query.Node {
	var out []*pg_query.Node
	for _, n := range names {
		out = append(out, pg_query.MakeStrNode(n))
	}
	return out
}

func nameNodes(schema, name string) []*pg_query.Node {
	if schema == "" {
		return stringNodes([]string{name})
	}
	return stringNodes([]string{schema, name})
}

func targetNodes(list []Target) []*pg_query.Node {
	var out []*pg_query.Node
	for _, t := range list {
		out = append(out, pg_query.MakeResTargetNodeWithNameAndVal(t.Alias, t.Expr.node, -1))
	}
	return out
}

func sortNodes(list []SortItem) []*pg_query.Node {
	var out []*pg_query.Node
	for _, s := range list {
		n := &pg_query.SortBy{
			Node: s.Expr.node, SortbyDir: pg_query.SortByDir_SORTBY_DEFAULT, SortbyNulls: pg_query.SortByNulls_SORTBY_NULLS_DEFAULT,
		}
		switch {
		case s.Desc:
			n.SortbyDir = pg_query.SortByDir_SORTBY_DESC
		case s.Using.Name != "":
			n.SortbyDir, n.UseOp = pg_query.SortByDir_SORTBY_USING, nameNodes(s.Using.Schema, s.Using.Name)
		}
		switch s.Nulls {
		case NullsFirst:
			n.SortbyNulls = pg_query.SortByNulls_SORTBY_NULLS_FIRST
		case NullsLast:
			n.SortbyNulls = pg_query.SortByNulls_SORTBY_NULLS_LAST
		}
		out = append(out, &pg_query.Node{Node: &pg_query.Node_SortBy{SortBy: n}})
	}
	return out
}

// unsaid takes out of a parse tree what says nothing, and what Query therefore leaves out.
func unsaid(stmt *pg_query.SelectStmt) {
	walk(stmt, func(m any) bool {
		switch m := m.(type) {
		case *pg_query.SortBy:
			if m.SortbyDir == pg_query.SortByDir_SORTBY_ASC {
				m.SortbyDir = pg_query.SortByDir_SORTBY_DEFAULT
			}
		case *pg_query.SelectStmt:
			if m.LimitCount.GetAConst().GetIsnull() {
				m.LimitCount = nil
			}
			if m.LimitOption == pg_query.LimitOption_LIMIT_OPTION_COUNT {
				m.LimitOption = pg_query.LimitOption_LIMIT_OPTION_DEFAULT
			}
			m.GroupClause = flatRows(m.GroupClause)
		case *pg_query.GroupingSet:
			m.Content = flatRows(m.Content)
		}
		return true
	})
}

func flatRows(list []*pg_query.Node) []*pg_query.Node {
	var out []*pg_query.Node
	for _, n := range list {
		if members := unit(n); len(members) > 1 {
			n.GetRowExpr().Args = nodes(members...)
		}
		out = append(out, n)
	}
	return out
}

// queriesIn reads the file of queries of testdata, which an empty line separates.
func queriesIn(text string) []string {
	var out []string
	for _, q := range strings.Split(text, "\n\n") {
		if q = strings.TrimSpace(q); q != "" {
			out = append(out, q)
		}
	}
	return out
}
