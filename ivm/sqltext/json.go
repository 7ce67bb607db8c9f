package sqltext

import (
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// escapes are how PostgreSQL writes characters in JSON strings that it does not write as they are.
var escapes = map[rune]string{'\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '"': `\"`, '\\': `\\`}

// JSONString is a text as PostgreSQL writes it in JSON.
func JSONString(text string) string {
	var out strings.Builder
	for _, c := range text {
		switch escaped := escapes[c]; {
		case escaped != "":
			out.WriteString(escaped)
		case c < ' ':
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteRune(c)
		}
	}
	return `"` + out.String() + `"`
}

// Calling returns the call with another function and other arguments; what else it says stays.
func (e Expr) Calling(function string, args ...Expr) Expr {
	call := copyOf(e.node)
	f := call.GetFuncCall()
	f.Funcname, f.Args, f.AggStar = []*pg_query.Node{pg_query.MakeStrNode(function)}, nil, false
	for _, arg := range args {
		f.Args = append(f.Args, arg.node)
	}
	return Expr{call}
}
