package sqltext

import (
	"fmt"
	"reflect"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// pg_query prints some trees as text that means another tree: it forgets parentheses, as in (a or b) is null and in (t at time zone 'utc')::date,
// and quotes around some names. printable puts them into the tree.

// SQL prints the expression on one line, keywords in lower case; a bound column prints as #12.
func (e Expr) SQL() string {
	if e.IsZero() {
		return ""
	}
	if e.node.GetRangeTableFunc() != nil {
		return strings.TrimPrefix(mustPrint(&pg_query.SelectStmt{
			FromClause:  []*pg_query.Node{e.node},
			LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT,
			Op:          pg_query.SetOperation_SETOP_NONE,
		}), "select from ")
	}
	return strings.TrimSpace(strings.TrimPrefix(mustPrint(selectOf(e.node)), "select "))
}

// typeSQL prints the name of a type.
func typeSQL(t *pg_query.TypeName) string {
	null := &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{Isnull: true, Location: -1}}}
	cast := &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: null, TypeName: t, Location: -1}}}
	return strings.TrimPrefix(Expr{cast}.SQL(), "null::")
}

// frameSQL prints the frame clause of a window, "" for the default.
func frameSQL(w *pg_query.WindowDef) string {
	frame := &pg_query.WindowDef{FrameOptions: w.FrameOptions, StartOffset: w.StartOffset, EndOffset: w.EndOffset, Location: -1}
	call := pg_query.MakeFuncCallNode([]*pg_query.Node{pg_query.MakeStrNode("f")}, nil, -1)
	call.GetFuncCall().Over = frame
	return strings.TrimSuffix(strings.TrimPrefix(Expr{call}.SQL(), "f() over ("), ")")
}

// selectOf returns the statement SELECT node.
func selectOf(node *pg_query.Node) *pg_query.SelectStmt {
	return &pg_query.SelectStmt{
		TargetList:  []*pg_query.Node{pg_query.MakeResTargetNodeWithVal(node, -1)},
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT,
		Op:          pg_query.SetOperation_SETOP_NONE,
	}
}

// mustPrint panics where print fails, which checkPrint rules out for all that is parsed.
func mustPrint(stmt *pg_query.SelectStmt) string {
	sql, err := deparse(stmt)
	if err != nil {
		panic(fmt.Sprintf("sqltext: cannot print: %v", err))
	}
	return fold(sql)
}

func deparse(stmt *pg_query.SelectStmt) (string, error) {
	node := printable(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: stmt}})
	return pg_query.Deparse(&pg_query.ParseResult{Stmts: []*pg_query.RawStmt{{Stmt: node}}})
}

// fold lower-cases the keywords of a statement and shows parameters, by which bound columns are stored, as #12.
func fold(sql string) string {
	scan, err := pg_query.Scan(sql)
	if err != nil {
		panic(fmt.Sprintf("sqltext: cannot scan %s: %v", sql, err))
	}
	var b strings.Builder
	end := 0
	for _, t := range scan.Tokens {
		b.WriteString(sql[end:t.Start])
		end = int(t.End)
		switch token := sql[t.Start:t.End]; {
		case t.Token == pg_query.Token_PARAM:
			b.WriteString("#" + token[1:])
		case t.KeywordKind != pg_query.KeywordKind_NO_KEYWORD || token == "PATH": // of XMLTABLE, no keyword; names in capitals are quoted
			b.WriteString(strings.ToLower(token))
		default:
			b.WriteString(token)
		}
	}
	return b.String() + sql[end:]
}

// crashesPrinter reports an XMLROOT with a computed version, which the printer takes for a constant.
func crashesPrinter(stmt *pg_query.SelectStmt) bool {
	found := false
	walk(stmt, func(m any) bool {
		x, ok := m.(*pg_query.XmlExpr)
		found = found || ok && x.Op == pg_query.XmlExprOp_IS_XMLROOT && x.Args[1].GetAConst() == nil
		return !found
	})
	return found
}

// checkPrint reports the innermost expression of a query that does not come back as it was after printing and parsing. Clauses outside of
// expressions need not come back, because nobody prints them.
func checkPrint(stmt *pg_query.SelectStmt) *Error {
	if _, deep := depth(stmt); deep != nil {
		return &Error{Offset: max(leftmost(deep), 0), Message: "query that is nested too deeply"}
	}
	if printsFaithfully(stmt) {
		return nil
	}
	var problem *Error
	walk(stmt, func(m any) bool {
		if n, ok := m.(*pg_query.Node); ok && isScalar(n) && !printsFaithfully(selectOf(n)) {
			problem = &Error{Offset: max(leftmost(n), 0), Message: "expression that cannot be printed"}
		}
		return true
	})
	return problem
}

func printsFaithfully(stmt *pg_query.SelectStmt) bool {
	if crashesPrinter(stmt) {
		return false
	}
	sql, err := deparse(stmt)
	if err != nil {
		return false
	}
	tree, err := pg_query.Parse(sql)
	return err == nil && len(tree.Stmts) == 1 && same(reflect.ValueOf(stmt), reflect.ValueOf(tree.Stmts[0].Stmt.GetSelectStmt()))
}
