package sqltext

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// OrderColumns puts the columns of a CREATE TABLE into an order; those that it does not name come after them. What is not a column stays at
// the end, and all that is written beside a column goes with it.
func OrderColumns(sql string, order []string) string {
	tree, err := pg_query.Parse(sql)
	if err != nil || len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetCreateStmt() == nil {
		return sql
	}
	elements, open, end := tableElements(sql)
	defined := tree.Stmts[0].Stmt.GetCreateStmt().TableElts
	if len(elements) != len(defined) {
		return sql
	}
	for n, d := range defined {
		elements[n].place = len(order) // behind them
		if column := d.GetColumnDef(); column == nil {
			elements[n].place++
		} else if at := slices.Index(order, column.Colname); at >= 0 {
			elements[n].place = at
		}
	}
	byPlace := func(a, b tableElement) int { return a.place - b.place }
	if slices.IsSortedFunc(elements, byPlace) {
		return sql
	}
	slices.SortStableFunc(elements, byPlace)
	var out strings.Builder
	for n, e := range elements {
		out.WriteString("\n    " + sql[e.start:e.end])
		if n < len(elements)-1 {
			out.WriteString(",")
		}
		if e.comment != "" {
			out.WriteString(" " + e.comment)
		}
	}
	return sql[:open] + out.String() + "\n" + sql[end:]
}

// tableElement is a column or a constraint as it is written, with the comment behind it on the same line.
type tableElement struct {
	start, end int
	comment    string
	place      int
}

// tableElements splits what stands in the parentheses of a CREATE TABLE; open is behind the first of them, and end at the last.
func tableElements(sql string) (elements []tableElement, open, end int) {
	scan, err := pg_query.Scan(sql)
	if err != nil {
		return nil, 0, 0
	}
	depth, ended := 0, 0
	current := tableElement{start: -1}
	for _, t := range scan.Tokens {
		start, stop := int(t.Start), int(t.End)
		comment := t.Token == pg_query.Token_SQL_COMMENT || t.Token == pg_query.Token_C_COMMENT
		switch text := sql[start:stop]; {
		case comment && depth == 0:
		case comment && !strings.Contains(sql[ended:start], "\n") && current.start < 0 && len(elements) > 0:
			elements[len(elements)-1].comment = text
		case comment && current.start >= 0:
			current.comment = text
		case text == "(" && depth == 0:
			depth, open = 1, stop
		case depth == 0:
		case text == "," && depth == 1:
			elements, current, ended = append(elements, current), tableElement{start: -1}, stop
		case text == ")" && depth == 1:
			return append(elements, current), open, start
		default:
			if current.start < 0 {
				current.start = start
			}
			if !comment {
				current.end = stop
			}
			switch text {
			case "(":
				depth++
			case ")":
				depth--
			}
		}
	}
	return nil, 0, 0
}
