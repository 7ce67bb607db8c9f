package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// ParseQuery parses one SELECT, VALUES or set operation. What it refuses, for its syntax or because no view can have it, it says with an *Error.
// Every query that it returns prints faithfully, unless Unprintable says otherwise: the text of its expressions parses to the same expressions again.
func ParseQuery(text string) (Query, error) {
	tree, err := Parse(text)
	if err != nil {
		return nil, explained(text, LocatedIn(text, err))
	}
	stmt, problem := onlySelect(tree)
	if problem == nil {
		problem = checkQuery(stmt)
	}
	if problem != nil {
		return nil, problem
	}
	q := query(stmt)
	tailOf(q).unprintable = checkPrint(stmt)
	return q, nil
}

// Unprintable returns the expression of a parsed query that has no faithful text, so that no SQL can be made of the query; nil if all have one.
func Unprintable(q Query) *Error { return tailOf(q).unprintable }

func tailOf(q Query) *Tail {
	switch q := q.(type) {
	case *Values:
		return &q.Tail
	case *SetOp:
		return &q.Tail
	case *Select:
		return &q.Tail
	}
	return &Tail{}
}

// LocatedIn is located with an offset in bytes; the parser counts characters.
func LocatedIn(text string, err error) error {
	err = located(err)
	if e, ok := err.(*Error); ok {
		e.Offset = byteOffset(text, e.Offset)
	}
	return err
}

func byteOffset(text string, characters int) int {
	for at := range text {
		if characters == 0 {
			return at
		}
		characters--
	}
	return len(text)
}

func onlySelect(tree *pg_query.ParseResult) (*pg_query.SelectStmt, *Error) {
	if len(tree.Stmts) == 0 {
		return nil, &Error{Message: "the query is empty"}
	}
	if len(tree.Stmts) > 1 {
		second := tree.Stmts[1]
		return nil, &Error{Offset: max(leftmost(second.Stmt), int(second.StmtLocation)), Message: "expected one query, found another statement after it"}
	}
	stmt := tree.Stmts[0].Stmt.GetSelectStmt()
	if stmt == nil {
		return nil, &Error{Offset: int(tree.Stmts[0].StmtLocation), Message: "the statement is not a query"}
	}
	return stmt, nil
}

func query(stmt *pg_query.SelectStmt) Query {
	with, recursive := ctes(stmt.WithClause)
	switch {
	case len(stmt.ValuesLists) > 0:
		return &Values{Pos: leftmost(stmt), With: with, Recursive: recursive, Rows: rows(stmt.ValuesLists), Tail: tail(stmt)}
	case stmt.Op == pg_query.SetOperation_SETOP_NONE:
		s := selectBody(stmt)
		s.With, s.Recursive = with, recursive
		return s
	}
	return &SetOp{
		Pos: leftmost(stmt), With: with, Recursive: recursive,
		Kind: setKinds[stmt.Op], All: stmt.All, Left: query(stmt.Larg), Right: query(stmt.Rarg),
		Tail: tail(stmt),
	}
}

var setKinds = map[pg_query.SetOperation]SetKind{
	pg_query.SetOperation_SETOP_UNION:     Union,
	pg_query.SetOperation_SETOP_INTERSECT: Intersect,
	pg_query.SetOperation_SETOP_EXCEPT:    Except,
}

func selectBody(stmt *pg_query.SelectStmt) *Select {
	s := &Select{
		Pos:           leftmost(stmt),
		Where:         Expr{stmt.WhereClause},
		GroupDistinct: stmt.GroupDistinct,
		Having:        Expr{stmt.HavingClause},
		From:          froms(stmt.FromClause),
		Targets:       targets(stmt.TargetList),
		Group:         groupings(stmt.GroupClause),
		Tail:          tail(stmt),
	}
	for _, n := range stmt.DistinctClause {
		if n.Node == nil {
			s.Distinct = true // the parser's mark for DISTINCT without ON
		} else {
			s.DistinctOn = append(s.DistinctOn, Expr{n})
		}
	}
	for _, n := range stmt.WindowClause {
		s.Windows = append(s.Windows, *window(n.GetWindowDef()))
	}
	return s
}

func tail(stmt *pg_query.SelectStmt) Tail {
	t := Tail{
		Order:    sortItems(stmt.SortClause),
		Limit:    Expr{stmt.LimitCount},
		Offset:   Expr{stmt.LimitOffset},
		WithTies: stmt.LimitOption == pg_query.LimitOption_LIMIT_OPTION_WITH_TIES,
	}
	if stmt.LimitCount.GetAConst().GetIsnull() {
		t.Limit = Expr{} // LIMIT ALL, LIMIT NULL
	}
	for _, n := range stmt.LockingClause {
		t.Locks = append(t.Locks, lock(n.GetLockingClause()))
	}
	return t
}

var lockStrengths = map[pg_query.LockClauseStrength]string{
	pg_query.LockClauseStrength_LCS_FORUPDATE:      "update",
	pg_query.LockClauseStrength_LCS_FORNOKEYUPDATE: "no key update",
	pg_query.LockClauseStrength_LCS_FORSHARE:       "share",
	pg_query.LockClauseStrength_LCS_FORKEYSHARE:    "key share",
}

var lockWaits = map[pg_query.LockWaitPolicy]string{
	pg_query.LockWaitPolicy_LockWaitSkip:  "skip locked",
	pg_query.LockWaitPolicy_LockWaitError: "nowait",
}

func lock(c *pg_query.LockingClause) Lock {
	l := Lock{Strength: lockStrengths[c.Strength], Wait: lockWaits[c.WaitPolicy]}
	for _, n := range c.LockedRels {
		l.Of = append(l.Of, n.GetRangeVar().Relname)
	}
	return l
}

func rows(lists []*pg_query.Node) [][]Expr {
	all := make([][]Expr, len(lists))
	for i, n := range lists {
		all[i] = exprs(n.GetList().GetItems())
	}
	return all
}

func targets(nodes []*pg_query.Node) []Target {
	var all []Target
	for _, n := range nodes {
		t := n.GetResTarget()
		all = append(all, Target{Pos: int(t.Location), Alias: t.Name, Expr: Expr{t.Val}})
	}
	return all
}

func ctes(with *pg_query.WithClause) (all []CTE, recursive bool) {
	for _, n := range with.GetCtes() {
		c := n.GetCommonTableExpr()
		all = append(all, CTE{
			Pos:          int(c.Location),
			Name:         c.Ctename,
			Columns:      Strings(c.Aliascolnames),
			Query:        query(c.Ctequery.GetSelectStmt()),
			Materialized: materialized[c.Ctematerialized],
			Search:       search(c.SearchClause),
			Cycle:        cycle(c.CycleClause),
		})
	}
	return all, with.GetRecursive()
}

var materialized = map[pg_query.CTEMaterialize]Materialized{
	pg_query.CTEMaterialize_CTEMaterializeAlways: AsMaterialized,
	pg_query.CTEMaterialize_CTEMaterializeNever:  NotMaterialized,
}

func search(c *pg_query.CTESearchClause) *Search {
	if c == nil {
		return nil
	}
	return &Search{Pos: int(c.Location), BreadthFirst: c.SearchBreadthFirst, Columns: Strings(c.SearchColList), Sequence: c.SearchSeqColumn}
}

func cycle(c *pg_query.CTECycleClause) *Cycle {
	if c == nil {
		return nil
	}
	return &Cycle{
		Pos: int(c.Location), Columns: Strings(c.CycleColList),
		Mark: c.CycleMarkColumn, Value: Expr{c.CycleMarkValue}, Default: Expr{c.CycleMarkDefault},
		Path: c.CyclePathColumn,
	}
}

func groupings(nodes []*pg_query.Node) []Grouping {
	var all []Grouping
	for _, n := range nodes {
		all = append(all, grouping(n))
	}
	return all
}

var groupingKinds = map[pg_query.GroupingSetKind]GroupingKind{
	pg_query.GroupingSetKind_GROUPING_SET_EMPTY:  Empty,
	pg_query.GroupingSetKind_GROUPING_SET_ROLLUP: Rollup,
	pg_query.GroupingSetKind_GROUPING_SET_CUBE:   Cube,
	pg_query.GroupingSetKind_GROUPING_SET_SETS:   Sets,
}

func grouping(n *pg_query.Node) Grouping {
	if set := n.GetGroupingSet(); set != nil {
		return Grouping{Pos: int(set.Location), Kind: groupingKinds[set.Kind], Sets: groupings(set.Content)}
	}
	return Grouping{Pos: leftmost(n), Kind: Plain, Exprs: unit(n)}
}

// unit returns the members of (a, b), and of rows within it, as PostgreSQL takes them in GROUP BY; ROW(a, b) is one expression.
func unit(n *pg_query.Node) []Expr {
	row := n.GetRowExpr()
	if row == nil || row.RowFormat != pg_query.CoercionForm_COERCE_IMPLICIT_CAST {
		return []Expr{{n}}
	}
	var members []Expr
	for _, member := range row.Args {
		members = append(members, unit(member)...)
	}
	return members
}

// Body is the text of a query without the semicolon that may end it, nor what stands behind that.
func Body(text string) string {
	tree, err := Parse(text)
	if err != nil || len(tree.Stmts) == 0 || tree.Stmts[0].StmtLen == 0 {
		return strings.TrimRight(text, " \t\r\n")
	}
	stmt := tree.Stmts[0]
	return text[stmt.StmtLocation : stmt.StmtLocation+stmt.StmtLen]
}
