package sqltext

import (
	"regexp"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

const (
	openParen  = pg_query.Token_ASCII_40
	closeParen = pg_query.Token_ASCII_41
	comma      = pg_query.Token_ASCII_44
)

// DollarTag matches the tag that begins a dollar-quoted string.
var DollarTag = regexp.MustCompile(`^\$([A-Za-z_\x{80}-\x{10ffff}][A-Za-z0-9_\x{80}-\x{10ffff}]*)?\$`)

// Scan returns the tokens of a text without its comments; none if it cannot be scanned.
func Scan(sql string) []*pg_query.ScanToken {
	result, err := pg_query.Scan(sql)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(result.Tokens, func(t *pg_query.ScanToken) bool {
		return t.Token == pg_query.Token_SQL_COMMENT || t.Token == pg_query.Token_C_COMMENT
	})
}

// IsWordStart reports whether a word can begin with a character.
func IsWordStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }

// LowerASCII folds a name as PostgreSQL does in a multi-byte encoding.
func LowerASCII(word string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, word)
}

// TokenKind is what a reader sees in a token.
type TokenKind string

// The kinds of tokens that stand out.
const (
	KeywordToken TokenKind = "keyword"
	LiteralToken TokenKind = "literal"
	CommentToken TokenKind = "comment"
)

// Token is a stretch of SQL, from one offset up to another. Names and operators have no kind.
type Token struct {
	Start, End int
	Kind       TokenKind
}

// Tokens are those of a text that stand out, in order; none if it cannot be scanned.
func Tokens(sql string) []Token {
	scan, err := pg_query.Scan(sql)
	if err != nil {
		return nil
	}
	var tokens []Token
	for _, t := range scan.Tokens {
		if start, end := body(sql[t.Start:t.End]); end > 0 {
			start, end = start+int(t.Start), end+int(t.Start)
			tokens = append(tokens, Token{int(t.Start), start, LiteralToken})
			for _, inner := range Tokens(sql[start:end]) {
				tokens = append(tokens, Token{start + inner.Start, start + inner.End, inner.Kind})
			}
			tokens = append(tokens, Token{end, int(t.End), LiteralToken})
			continue
		}
		if kind := tokenKind(t); kind != "" {
			tokens = append(tokens, Token{int(t.Start), int(t.End), kind})
		}
	}
	return tokens
}

// body is where the code stands in a literal of several lines between dollars: in a function, as a rule.
func body(literal string) (start, end int) {
	if !strings.HasPrefix(literal, "$") || !strings.Contains(literal, "\n") {
		return 0, 0
	}
	tag := strings.IndexByte(literal[1:], '$') + 2
	return tag, len(literal) - tag
}

func tokenKind(t *pg_query.ScanToken) TokenKind {
	switch t.Token {
	case pg_query.Token_SQL_COMMENT, pg_query.Token_C_COMMENT:
		return CommentToken
	case pg_query.Token_SCONST, pg_query.Token_USCONST, pg_query.Token_BCONST, pg_query.Token_XCONST, pg_query.Token_ICONST, pg_query.Token_FCONST:
		return LiteralToken
	}
	switch t.KeywordKind {
	case pg_query.KeywordKind_RESERVED_KEYWORD, pg_query.KeywordKind_TYPE_FUNC_NAME_KEYWORD:
		return KeywordToken
	case pg_query.KeywordKind_UNRESERVED_KEYWORD, pg_query.KeywordKind_COL_NAME_KEYWORD:
		return unreserved(t.Token)
	}
	return ""
}

// unreserved keywords are names at most places; these are likelier to be syntax.
func unreserved(t pg_query.Token) TokenKind {
	switch t {
	case pg_query.Token_BY, pg_query.Token_MATERIALIZED, pg_query.Token_OVER, pg_query.Token_PARTITION, pg_query.Token_FILTER,
		pg_query.Token_EXISTS, pg_query.Token_BETWEEN, pg_query.Token_VALUES, pg_query.Token_RECURSIVE, pg_query.Token_WITHIN,
		pg_query.Token_COALESCE, pg_query.Token_NULLS_P, pg_query.Token_FIRST_P, pg_query.Token_LAST_P, pg_query.Token_ROWS,
		pg_query.Token_RANGE, pg_query.Token_ROLLUP, pg_query.Token_CUBE, pg_query.Token_GROUPING, pg_query.Token_SETS:
		return KeywordToken
	}
	return ""
}
