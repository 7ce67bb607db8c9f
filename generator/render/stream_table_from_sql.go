package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Stream tables that functions create at run time have the statements of one of the spec, whose names are words. A function puts those of a real one in
// their places.
const (
	AnyBase  = "~base~" // what names of its relations and functions begin with
	AnyName  = "~name~"
	AnyQuery = "/*~query~*/"
)

// HasStreamTables reports whether there are stream tables, or may be.
func (p Plan) HasStreamTables() bool { return p.FromSQLTable != nil || len(p.StreamTables) > 0 }

// StreamTableScript is the statements of stream tables that functions create, for format(). Its arguments are the stream table's name, its query, and names
// of what is made for it.
type StreamTableScript struct {
	Extension
	Of StreamTable
}

// NewStreamTableScript begins a script.
func NewStreamTableScript(e Extension) StreamTableScript {
	of := *e.FromSQLTable
	of.Unchecked = true // its check is added when the names are known
	return StreamTableScript{e, of}
}

// argsBefore are the arguments before the names.
const argsBefore = 2

var wordsOfTable = regexp.MustCompile(`"~base~(\w+)"|/\*~query~\*/`)

// Words are the ends of the names of what is made for a stream table.
func (s StreamTableScript) Words() []string {
	return []string{"_rows", "_rows_old", "_shape", "_computed", "_recompute", "_hash"}
}

// WordList is Words for people.
func (s StreamTableScript) WordList() string { return strings.Join(s.Words(), ", ") }

// Place is that of a name among the arguments.
func (s StreamTableScript) Place(word string) int {
	n := slices.Index(s.Words(), word)
	if n < 0 {
		panic("no stream table has " + word)
	}
	return argsBefore + n + 1
}

// Format is SQL as a template of format().
func (s StreamTableScript) Format(sql string) string {
	sql = strings.ReplaceAll(strings.ReplaceAll(sql, "%", "%%"), sqltext.Literal(s.Of.ID()), "%1$L")
	return wordsOfTable.ReplaceAllStringFunc(sql, func(found string) string {
		if found == AnyQuery {
			return "%2$s"
		}
		return fmt.Sprintf("%%%d$I", s.Place(wordsOfTable.FindStringSubmatch(found)[1]))
	})
}

// Text is SQL as an expression.
func (s StreamTableScript) Text(sql string) string {
	text := sqltext.Literal(s.Format(sql))
	if len(text) > 70 {
		text = "\n               " + text
	}
	return s.Internal() + ".pgt_formatted(" + text + ", v_args)"
}

// Functions are the statements that create the functions of a stream table, without headers, as a template of format().
func (s StreamTableScript) Functions() string {
	var out strings.Builder
	for _, template := range []string{"computed", "recompute"} {
		sql := Must("stream_table/"+template+".sql", s.Of)
		out.WriteString(s.Format(sql[strings.Index(sql, "create function "):]))
	}
	return out.String()
}

// DropFunctions drops them.
func (s StreamTableScript) DropFunctions() string {
	return fmt.Sprintf("drop function if exists %s(), %s(anyelement)", s.Of.RecomputeFn, s.Of.ComputedFn)
}

// RowIndex is the one index on its rows.
func (s StreamTableScript) RowIndex() string { return s.Of.RowIndexes()[0] }

// fromSQLOrOwn are the stream tables, with the one that stands for those that functions create.
func (p Plan) fromSQLOrOwn() []StreamTable {
	if p.FromSQLTable == nil {
		return p.StreamTables
	}
	return append([]StreamTable{*p.FromSQLTable}, p.StreamTables...)
}
