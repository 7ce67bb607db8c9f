package resolve

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// misplaced is misplacedAggregate for an expression that is an aggregate or GROUPING, in a clause as the binder calls it.
func misplaced(at diag.Pos, e sqltext.Expr, clause string) diag.Error {
	problem := misplacedAggregate(at, strings.TrimPrefix(clause, "arguments of "))
	if e.IsGrouping() {
		problem.Message = strings.Replace(problem.Message, "aggregate functions", "grouping operations", 1)
	}
	return problem
}

func lowerDirectArgument(at diag.Pos) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: "outer-level aggregate cannot contain a lower-level variable in its direct arguments",
	}
}

func nestedCTE(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "grouping",
		Message: "outer-level aggregate cannot use a nested CTE",
		Hint:    fmt.Sprintf("move WITH query %q to the query that the aggregate belongs to", name),
	}
}
