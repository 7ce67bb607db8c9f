package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Tidy writes keywords and names without quotes in lower case, which is how the server reads them, and leaves out blanks behind an opening
// parenthesis, which it prints at times. What cannot be scanned stays as it is, and so do literals.
func Tidy(sql string) string {
	scan, err := pg_query.Scan(sql)
	if err != nil {
		return sql
	}
	var b strings.Builder
	end := 0
	opened := false
	for _, t := range scan.Tokens {
		if space := sql[end:t.Start]; !opened || strings.Trim(space, " ") != "" {
			b.WriteString(space)
		}
		token := sql[t.Start:t.End]
		if t.KeywordKind != pg_query.KeywordKind_NO_KEYWORD || t.Token == pg_query.Token_IDENT && IsWordStart(token[0]) {
			token = LowerASCII(token)
		}
		b.WriteString(token)
		end, opened = int(t.End), t.Token == openParen
	}
	return b.String() + sql[end:]
}
