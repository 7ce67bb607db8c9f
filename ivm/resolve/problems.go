package resolve

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// timeHint is what to write instead of the time, one that a condition may read or not.
func timeHint(_ string, followed bool) string {
	if followed {
		return "compare with it in WHERE, or where the stream table is read"
	}
	return "compare with now() in WHERE"
}

func unknownColumn(at diag.Pos, name string, among []column) diag.Error {
	var names []string
	for _, c := range among {
		names = append(names, c.name)
	}
	return diag.Error{
		Pos: at, Code: "unknown-column",
		Message: fmt.Sprintf("column %q does not exist", name),
		Hint:    nearest(name, names),
	}
}

func ambiguousColumn(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "ambiguous-column",
		Message: fmt.Sprintf("column reference %q is ambiguous", name),
		Hint:    "put the table's name or alias in front",
	}
}

func unknownAlias(at diag.Pos, qualifier []string, s *scope) diag.Error {
	name := strings.Join(qualifier, ".")
	var names []string
	for _, t := range s.tables {
		if t.hidden == name {
			return diag.Error{
				Pos: at, Code: "unknown-table",
				Message: fmt.Sprintf("invalid reference to FROM-clause entry for table %q", name),
				Hint:    fmt.Sprintf("its alias stands for it here: %q", t.name),
			}
		}
		names = append(names, t.name)
	}
	return diag.Error{
		Pos: at, Code: "unknown-table",
		Message: fmt.Sprintf("missing FROM-clause entry for table %q", name),
		Hint:    nearest(name, names),
	}
}

func unknownRelation(at diag.Pos, schema, name string, known *catalog.Catalog) diag.Error {
	e := diag.Error{Pos: at, Code: "unknown-table", Message: fmt.Sprintf("relation %q does not exist", name), Hint: nearest(name, known.RelationNames())}
	if schema == "" {
		return e
	}
	qualified := schema + "." + name
	e.Message, e.Hint = fmt.Sprintf("relation %q does not exist", qualified), nearest(qualified, known.QualifiedNames())
	for _, other := range known.QualifiedNames() {
		if _, bare, _ := strings.Cut(other, "."); e.Hint == "" && bare == name {
			e.Hint = fmt.Sprintf("did you mean %q?", other)
		}
	}
	return e
}

func repeatedTable(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "duplicate-alias",
		Message: fmt.Sprintf("table name %q specified more than once", name),
		Hint:    "give one of them an alias",
	}
}

// theTable and theQuery are what messages call an item of FROM and a query of WITH.
func theTable(name string) string { return fmt.Sprintf("table %q", name) }
func theQuery(name string) string { return fmt.Sprintf("WITH query %q", name) }

func tooManyNames(at diag.Pos, what string, have, given int) diag.Error {
	return diag.Error{
		Pos: at, Code: "column-count",
		Message: fmt.Sprintf("%s has %d columns available but %d columns specified", what, have, given),
	}
}

func wrongArity(at diag.Pos, kind sqltext.SetKind) diag.Error {
	return diag.Error{
		Pos: at, Code: "column-count",
		Message: fmt.Sprintf("each %s query must have the same number of columns", strings.ToUpper(string(kind))),
	}
}

func unequalRows(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "column-count", Message: "VALUES lists must all be the same length"}
}

func mustBeGrouped(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: fmt.Sprintf("column %q must appear in the GROUP BY clause or be used in an aggregate function", name),
		Hint:    "group by it too, or aggregate it",
	}
}

func misplacedAggregate(at diag.Pos, clause string) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: fmt.Sprintf("aggregate functions are not allowed in %s", clause),
		Hint:    "filter groups with HAVING",
	}
}

func nestedAggregate(at diag.Pos) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: "aggregate function calls cannot be nested",
		Hint:    "compute the inner one in a subquery of its own, with its groups, and aggregate that",
	}
}

func windowInAggregate(at diag.Pos) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: "aggregate function calls cannot contain window function calls",
		Hint:    "compute it in a subquery, and aggregate that",
	}
}

func nestedWindow(at diag.Pos) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: "window function calls cannot be nested",
		Hint:    "compute it in a subquery, and use its column",
	}
}

func misplacedWindow(at diag.Pos, clause string) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: fmt.Sprintf("window functions are not allowed in %s", clause),
		Hint:    "compute it in a subquery, and use its column",
	}
}

func badPosition(at diag.Pos, clause string, n int) diag.Error {
	return diag.Error{
		Pos: at, Code: "unknown-column",
		Message: fmt.Sprintf("%s position %d is not in select list", clause, n),
	}
}

func notInteger(at diag.Pos, clause string) diag.Error {
	return diag.Error{Pos: at, Code: "unknown-column", Message: "non-integer constant in " + clause, Hint: "name a column, or its position"}
}

func unsortedDistinct(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "grouping", Message: "for SELECT DISTINCT, ORDER BY expressions must appear in select list"}
}

func unsortedDistinctOn(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "grouping", Message: "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"}
}

func negativeLimit(at diag.Pos, clause string) diag.Error {
	return diag.Error{Pos: at, Code: "bad-value", Message: clause + " must not be negative"}
}

func variableLimit(at diag.Pos, clause string) diag.Error {
	return diag.Error{Pos: at, Code: "unknown-column", Message: fmt.Sprintf("argument of %s must not contain variables", clause)}
}

func noDefinition(at diag.Pos) diag.Error {
	return diag.Error{
		Pos: at, Code: "unknown-column",
		Message: `a column definition list is required for functions returning "record"`,
		Hint:    "write the columns behind it: AS alias(name type, …)",
	}
}

func repeatedWith(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-alias", Message: fmt.Sprintf("WITH query name %q specified more than once", name)}
}

func badRecursion(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "syntax",
		Message: fmt.Sprintf("recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", name),
	}
}

func notRecursive(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "syntax", Message: "WITH query is not recursive"}
}

func deepRecursion(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "syntax",
		Message: fmt.Sprintf("with a SEARCH or CYCLE clause, the recursive reference to WITH query %q must be at the top level of its right-hand SELECT", name),
	}
}

func noRecursive(at diag.Pos, clause string) diag.Error {
	return diag.Error{Pos: at, Code: "syntax", Message: clause + " in a recursive query is not implemented"}
}

func misplacedSet(at diag.Pos, clause string) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: fmt.Sprintf("set-returning functions are not allowed in %s", clause),
		Hint:    "call it in FROM",
	}
}

func repeatedWindow(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-alias", Message: fmt.Sprintf("window %q is already defined", name)}
}

func unknownWindow(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "unknown-window", Message: fmt.Sprintf("window %q does not exist", name)}
}

func changedWindow(at diag.Pos, clause, name string) diag.Error {
	return diag.Error{Pos: at, Code: "conflict", Message: fmt.Sprintf("cannot override %s clause of window %q", clause, name)}
}

func framedWindow(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "conflict", Message: fmt.Sprintf("cannot copy window %q because it has a frame clause", name)}
}

func unknownUsing(at diag.Pos, name, side string, among []column) diag.Error {
	e := unknownColumn(at, name, among)
	e.Message = fmt.Sprintf("column %q specified in USING clause does not exist in %s table", name, side)
	return e
}

func ambiguousUsing(at diag.Pos, name, side string) diag.Error {
	return diag.Error{Pos: at, Code: "ambiguous-column", Message: fmt.Sprintf("common column name %q appears more than once in %s table", name, side)}
}

func badGrouping(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "grouping", Message: "arguments to GROUPING must be grouping expressions of the associated query level"}
}

func volatileCall(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "volatile",
		Message: fmt.Sprintf("%s gives another result each time, so no stored result can equal the query", name),
		Hint:    "compute it where the stream table is read",
	}
}

func whoAsks(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "volatile",
		Message: fmt.Sprintf("%s is another value for each session, so no stored result can equal the query", name),
		Hint:    "compare with it where the stream table is read",
	}
}

func refused(at diag.Pos, what, why string) diag.Error {
	return diag.Error{Pos: at, Code: "not-a-view", Message: fmt.Sprintf("a stream table's query cannot have %s: %s", what, why)}
}

func badView(at diag.Pos, name string, err error) diag.Error {
	return diag.Error{Pos: at, Code: "syntax", Message: fmt.Sprintf("the query of view %s cannot be read: %v", name, err)}
}

func viewCycle(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "view-cycle", Message: fmt.Sprintf("view %s reads itself", name)}
}

func nearest(name string, candidates []string) string {
	if found := diag.Nearest(name, candidates); found != "" {
		return fmt.Sprintf("did you mean %q?", found)
	}
	return ""
}
