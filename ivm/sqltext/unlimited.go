package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Unlimited is a query, which has a LIMIT or OFFSET at its end, without it. None of the words is a name, and those of subqueries stand in more parentheses.
func Unlimited(query string) string {
	depth, least, from, to := 0, -1, 0, len(query)
	for _, t := range Scan(query) {
		switch t.Token {
		case openParen:
			depth++
		case closeParen:
			depth--
			if depth == least-1 && to == len(query) {
				to = int(t.Start)
			}
		case pg_query.Token_LIMIT, pg_query.Token_OFFSET, pg_query.Token_FETCH:
			if least < 0 || depth < least {
				least, from, to = depth, int(t.Start), len(query)
			}
		}
	}
	return strings.TrimRight(query[:from], " \t\r\n") + query[to:]
}
