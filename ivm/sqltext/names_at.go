package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// LastName is where the last of n names joined by dots stands, the first of which is at an offset of a text: the parser keeps only that one.
func LastName(text string, at, n int) int {
	tokens := scanned(text, at)
	if last := 2 * (n - 1); last < len(tokens) {
		return at + int(tokens[last].Start)
	}
	return at
}

// NameInUsing is where a name stands in a USING after an offset of a text; the offset if there is none, as in a natural join.
func NameInUsing(text string, at int, name string) int {
	listed := false
	for _, t := range scanned(text, at) {
		switch {
		case t.Token == pg_query.Token_USING:
			listed = true
		case t.Token == closeParen:
			listed = false
		case listed && Identifier(text[at+int(t.Start):at+int(t.End)]) == name:
			return at + int(t.Start)
		}
	}
	return at
}

// scanned are the tokens of a text from an offset on, without comments; none if it has no such offset.
func scanned(text string, at int) (tokens []*pg_query.ScanToken) {
	if at < 0 || at >= len(text) {
		return nil
	}
	scan, err := pg_query.Scan(text[at:])
	if err != nil {
		return nil
	}
	for _, t := range scan.Tokens {
		if t.Token != pg_query.Token_SQL_COMMENT && t.Token != pg_query.Token_C_COMMENT {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// Identifier is the name that a word of SQL stands for; "" if it stands for none.
func Identifier(word string) string {
	switch {
	case strings.HasPrefix(word, `"`) && len(word) > 2:
		return strings.ReplaceAll(word[1:len(word)-1], `""`, `"`)
	case IsWordStart(word[0]):
		return LowerASCII(word)
	}
	return ""
}
