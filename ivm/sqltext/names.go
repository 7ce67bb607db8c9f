package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// NameToken is a name as a text writes it: whole, where the parser cuts what is too long.
type NameToken struct {
	Offset int
	Name   string // without quotes, or in lower case
}

// Names are those in a text that are not keywords, in order; none if it cannot be scanned.
func Names(sql string) []NameToken {
	scan, err := pg_query.Scan(sql)
	if err != nil {
		return nil
	}
	var names []NameToken
	for _, t := range scan.Tokens {
		if t.Token == pg_query.Token_IDENT {
			names = append(names, NameToken{int(t.Start), unquoted(sql[t.Start:t.End])})
		}
	}
	return names
}

func unquoted(token string) string {
	if inner, ok := strings.CutPrefix(token, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return LowerASCII(token)
}
