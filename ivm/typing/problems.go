package typing

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/diag"
)

// problem is a kind of error; message takes arguments, hint does not.
type problem struct{ code, message, hint string }

func (p problem) text(args ...any) (code, message, hint string) {
	return p.code, fmt.Sprintf(p.message, args...), p.hint
}

const (
	extend  = "if an extension or the schema makes it, write that down in the DDL: create extension …, or create function …"
	addCast = "a cast of one side may help"
)

// All messages about types. They are PostgreSQL's.
var (
	noSuchFunction     = problem{"unknown-function", "function %s does not exist", extend}
	noFunctionForTypes = problem{"unknown-function", "function %s does not exist", ""}
	manyFunctions      = problem{"ambiguous-function", "function %s is not unique", "cast its arguments to the types that are meant"}
	noSuchOperator     = problem{"unknown-operator", "operator does not exist: %s", "if an extension or the schema makes it, write that down in the DDL: create extension …"}
	noOperatorForTypes = problem{"unknown-operator", "operator does not exist: %s", addCast}
	manyOperators      = problem{"ambiguous-operator", "operator is not unique: %s", "cast its sides to the types that are meant"}
	noSuchType         = problem{"unknown-type", "type %q does not exist", "if an extension or the schema makes it, write that down in the DDL: create extension …, or create type …"}
	noCast             = problem{"bad-cast", "cannot cast type %s to %s", ""}
	notMatched         = problem{"type-mismatch", "%s types %s and %s cannot be matched", "cast one of them to the type of the other"}
	notConverted       = problem{"type-mismatch", "%s could not convert type %s to %s", "cast it"}
	notOfType          = problem{"type-mismatch", "argument of %s must be type %s, not type %s", ""}
	notAssigned        = problem{"type-mismatch", "column %q is of type %s but default expression is of type %s", "cast it"}
	notBoolean         = problem{"not-boolean", notOfType.message, "compare it with something"}
	noCollation        = problem{"type-mismatch", "collations are not supported by type %s", ""}
	noSubscript        = problem{"type-mismatch", "cannot subscript type %s because it does not support subscripting", ""}
	emptyArray         = problem{"type-mismatch", "cannot determine type of empty array", "cast it to the type that is meant, such as array[]::integer[]"}
	notComposite       = problem{"unknown-column", "column notation .%s applied to type %s, which is not a composite type", ""}
	noField            = problem{"unknown-column", "column %q not found in data type %s", ""}
	badDigit           = problem{"bad-value", "%q is not a valid %s digit", ""}
	badDate            = problem{"bad-value", "date/time field value out of range: %q", ""}
	badSubscript       = problem{"type-mismatch", "array subscript must have type integer", ""}
	noArray            = problem{"type-mismatch", "op ANY/ALL (array) requires array on right side", ""}
	unequalRows        = problem{"column-count", "unequal number of entries in row expressions", ""}
	oneColumn          = problem{"column-count", "subquery must return only one column", ""}
	tooManyColumns     = problem{"column-count", "subquery has too many columns", ""}
	tooFewColumns      = problem{"column-count", "subquery has too few columns", ""}
	badLabel           = problem{"bad-value", "invalid input value for enum %s: %q", ""}
	badLiteral         = problem{"bad-value", "invalid input syntax for type %s: %q", ""}
	badArray           = problem{"bad-value", "malformed array literal: %q", `write "{…}" or ARRAY[…]`}
	badRange           = problem{"bad-value", "malformed range literal: %q", ""}
	outOfRange         = problem{"bad-value", "value %q is out of range for type %s", ""}
	noEquality         = problem{"no-equality", "could not identify an equality operator for type %s", "cast it to a type that can be compared, such as jsonb for json, or text"}
	noOrdering         = problem{"no-equality", "could not identify an ordering operator for type %s", "cast it to a type that can be compared, such as jsonb for json, or text"}
	noPolymorphic      = problem{"type-mismatch", "could not determine polymorphic type because input has type unknown", "cast an argument to the type that is meant"}
	needsStar          = problem{"grouping", "%s(*) must be used to call a parameterless aggregate function", ""}
	noOrderedSet       = problem{"grouping", "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", ""}
	needsWithinGroup   = problem{"grouping", "WITHIN GROUP is required for ordered-set aggregate %s", ""}
	needsOver          = problem{"grouping", "window function %s requires an OVER clause", ""}
	noWindow           = problem{"grouping", "OVER specified, but %s is not a window function nor an aggregate function", ""}
	noAggregate        = problem{"grouping", "%s specified, but %s is not an aggregate function", ""}
)

// reportHint reports a problem with a hint of its own.
func (c *Checker) reportHint(at int, p problem, hint string, args ...any) {
	p.hint = hint
	c.report(at, p, args...)
}

// reportNearest reports that a name is unknown, with the nearest of those that are known.
func (c *Checker) reportNearest(at int, p problem, name string, known []string, args ...any) {
	if near := diag.Nearest(name, known); near != "" {
		p.hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.report(at, p, args...)
}
