package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// ParseExpr parses one expression and binds each name in it that is one of columns.
func ParseExpr(text string, columns map[string]int) (Expr, error) {
	q, err := ParseQuery("select " + text)
	if err != nil {
		return Expr{}, err
	}
	if problem := Unprintable(q); problem != nil {
		return Expr{}, problem
	}
	return q.(*Select).Targets[0].Expr.Map(func(e Expr) (Expr, bool) {
		ref, ok := e.Ref()
		if !ok || len(ref.Parts) != 1 {
			return Expr{}, false
		}
		id, ok := columns[ref.Parts[0]]
		return Column(id), ok
	}), nil
}

// IsLoose reports whether a condition needs parentheses before AND is put beside it.
func IsLoose(cond string) bool {
	tree, err := pg_query.Parse("select " + cond)
	if err != nil {
		return true
	}
	targets := tree.Stmts[0].Stmt.GetSelectStmt().GetTargetList()
	return len(targets) != 1 || targets[0].GetResTarget().GetVal().GetBoolExpr().GetBoolop() == pg_query.BoolExprType_OR_EXPR
}
