package sqltext

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// sinceGrammar are the calls with a syntax of their own that PostgreSQL 17 brought.
var sinceGrammar = []string{"json_table", "json_value", "json_query", "json_exists", "json_scalar", "json_serialize", "json"}

// explained gives a syntax error of what other systems or later versions write a hint.
func explained(text string, err error) error {
	e, ok := ofNewerSyntax(text, err).(*Error)
	if !ok || e.Hint != "" {
		return ofNewerSyntax(text, err)
	}
	scan, failed := pg_query.Scan(text[:e.Offset])
	before := ""
	if failed == nil && len(scan.Tokens) > 0 {
		t := scan.Tokens[len(scan.Tokens)-1]
		before = strings.ToLower(text[t.Start:t.End])
	}
	rest := strings.ToLower(text[e.Offset:])
	switch {
	case strings.Contains(text[:e.Offset], "`") || strings.HasPrefix(rest, "`"):
		e.Hint = "names are quoted by double quotes, where they need it"
	case strings.HasPrefix(rest, "{"):
		e.Hint = "templates are not rendered here: give the SQL that they become"
	case before == "top":
		e.Hint = "write LIMIT at the end of the query"
	case before == "qualify":
		e.Hint = "compute it in a subquery, and filter that with WHERE"
	case before == ",":
		e.Hint = "there is a comma before it that separates nothing"
	}
	return e
}

// ofNewerSyntax has a syntax error within the parentheses of a call that came after the grammar say so, at the call.
func ofNewerSyntax(text string, err error) error {
	e, located := err.(*Error)
	scan, failed := pg_query.Scan(text)
	if !located || failed != nil {
		return err
	}
	var open []int // where the calls begin that are not closed before the error, -1 for other parentheses
	for i, t := range scan.Tokens {
		if int(t.Start) >= e.Offset {
			break
		}
		switch t.Token {
		case pg_query.Token_ASCII_40:
			call := -1
			if i > 0 && slices.Contains(sinceGrammar, strings.ToLower(text[scan.Tokens[i-1].Start:scan.Tokens[i-1].End])) {
				call = i - 1
			}
			open = append(open, call)
		case pg_query.Token_ASCII_41:
			open = open[:max(0, len(open)-1)]
		}
	}
	for _, call := range slices.Backward(open) {
		if call >= 0 {
			t := scan.Tokens[call]
			return &Error{
				Offset: int(t.Start), Message: e.Message + ": queries are read by the grammar of PostgreSQL 16, which has no " + strings.ToUpper(text[t.Start:t.End]),
				Hint: "call functions such as jsonb_path_query, jsonb_path_query_first, jsonb_path_exists or jsonb_to_recordset",
			}
		}
	}
	return err
}
