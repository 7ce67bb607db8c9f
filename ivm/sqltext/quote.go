// Package sqltext quotes names and values, parses queries and statements, and checks the functions that Sluice emits. It and its room ddl are
// the only ones that know pg_query.
package sqltext

import (
	"strings"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Ident returns name as an SQL identifier, quoted where PostgreSQL's own
// quote_ident would quote it.
func Ident(name string) string {
	if plainIdent(name) && !keyword(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Qualified returns schema.name, each part quoted where needed.
func Qualified(schema, name string) string {
	return Ident(schema) + "." + Ident(name)
}

// Dotted returns schema.name as people write it: verbatim, but in double quotes where a part holds a dot or begins with a quote, so that no two
// names are written alike.
func Dotted(schema, name string) string { return dottedPart(schema) + "." + dottedPart(name) }

func dottedPart(part string) string {
	if strings.Contains(part, ".") || strings.HasPrefix(part, `"`) {
		return `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
	}
	return part
}

// Literal returns value as an SQL string constant that reads the same under
// either setting of standard_conforming_strings.
func Literal(value string) string {
	quoted := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	if strings.Contains(value, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// Constant returns the value of an SQL string constant without escapes, which may go on in another one on the next line.
func Constant(sql string) string {
	var out strings.Builder
	for {
		end := endOfString(sql, 1)
		out.WriteString(strings.ReplaceAll(sql[1:end-1], "''", "'"))
		if sql = strings.TrimLeft(sql[end:], " \n"); !strings.HasPrefix(sql, "'") {
			return out.String()
		}
	}
}

func plainIdent(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// keywords has what keyword found: the same few names are asked for thousands of times.
var keywords sync.Map

// keyword reports whether the lexer knows name as a word that cannot stand
// everywhere as an identifier.
func keyword(name string) bool {
	if known, ok := keywords.Load(name); ok {
		return known.(bool)
	}
	found := true
	if scan, err := pg_query.Scan(name); err == nil && len(scan.Tokens) == 1 {
		kind := scan.Tokens[0].KeywordKind
		found = kind != pg_query.KeywordKind_NO_KEYWORD && kind != pg_query.KeywordKind_UNRESERVED_KEYWORD
	}
	keywords.Store(name, found)
	return found
}
