package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// scan returns the tokens of the statement without comments; none if it cannot be scanned.
func (r *reader) scan() []*pg_query.ScanToken {
	if r.tokens == nil {
		r.tokens = scanTokens(r.text)
	}
	return r.tokens
}

func scanTokens(text string) []*pg_query.ScanToken {
	result, err := pg_query.Scan(text)
	if err != nil {
		return nil
	}
	var tokens []*pg_query.ScanToken
	for _, t := range result.Tokens {
		if t.Token != pg_query.Token_SQL_COMMENT && t.Token != pg_query.Token_C_COMMENT {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// find returns the offset in the statement at which a name stands first, from an offset on; that offset if it does not.
func (r *reader) find(name string, from int) int {
	for _, t := range r.scan() {
		if int(t.Start) >= from && identifier(r.text, t) == name {
			return int(t.Start)
		}
	}
	return from
}

// identifier returns the name that a token stands for; "" if it is none.
func identifier(text string, t *pg_query.ScanToken) string {
	word := text[t.Start:t.End]
	switch {
	case strings.HasPrefix(word, `"`) && len(word) > 2:
		return strings.ReplaceAll(word[1:len(word)-1], `""`, `"`)
	case isWordStart(word[0]):
		return lowerASCII(word)
	}
	return ""
}

// lowerASCII folds a name as PostgreSQL does in a multi-byte encoding.
func lowerASCII(word string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, word)
}

func (r *reader) rangeVar(v *pg_query.RangeVar) ObjectName {
	return ObjectName{Pos: r.pos(int(v.Location)), Schema: v.Schemaname, Name: v.Relname}
}

// objectName is the name in a list of strings, whose place the parser does not tell.
func (r *reader) objectName(parts []*pg_query.Node) ObjectName {
	names := strs(parts)
	if len(names) == 0 {
		return ObjectName{}
	}
	name := ObjectName{Name: names[len(names)-1]}
	first := name.Name
	if len(names) > 1 {
		name.Schema = names[len(names)-2]
		first = name.Schema
	}
	name.Pos = r.pos(r.find(first, 0))
	return name
}

// columnNames are the columns in a list of strings that stands after an offset.
func (r *reader) columnNames(list []*pg_query.Node, after int) []ColumnName {
	var columns []ColumnName
	for _, name := range strs(list) {
		columns = append(columns, r.columnName(name, after))
	}
	return columns
}

func (r *reader) columnName(name string, after int) ColumnName {
	return ColumnName{Pos: r.pos(r.find(name, max(after, 0))), Name: name}
}

// afterName is the offset in the statement behind the name at a place in the script.
func (r *reader) afterName(name ObjectName) int {
	at := name.Pos - r.span.start
	for _, t := range r.scan() {
		if int(t.Start) >= at && identifier(r.text, t) == name.Name {
			return int(t.End)
		}
	}
	return at
}
