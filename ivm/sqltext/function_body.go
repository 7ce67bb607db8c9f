package sqltext

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// FunctionBody is what the body of a function names.
type FunctionBody struct {
	Reads
	Understood bool // it is written in SQL or plpgsql that could be parsed; nothing is known of any other
	Dynamic    bool // it runs statements that it makes only then
}

// FunctionBodyOf reads the body that a CREATE FUNCTION gives a function.
func FunctionBodyOf(statement string) FunctionBody {
	tree, err := Parse(statement)
	if err != nil || len(tree.Stmts) != 1 {
		return FunctionBody{}
	}
	fn := tree.Stmts[0].Stmt.GetCreateFunctionStmt()
	b := &FunctionBody{}
	if fn == nil || fn.SqlBody == nil && !hasBody(fn) {
		return FunctionBody{}
	}
	switch language := strings.ToLower(FunctionLanguage(fn)); {
	case fn.SqlBody != nil:
		walk(fn.SqlBody, b.inScope(nil))
		b.Understood = true
	case language == "sql":
		b.Understood = b.statements(bodyText(fn))
	case language == "plpgsql":
		b.Understood = b.plpgsql(strings.ReplaceAll(statement, "return next;", "return next null;")) // see checkBody
	}
	return *b
}

// FunctionText is the text behind AS of a statement that was generated, as pg_proc.prosrc has it.
func FunctionText(statement string) string {
	tree, err := Parse(statement)
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, statement)) // was checked when it was generated
	}
	return bodyText(tree.Stmts[0].Stmt.GetCreateFunctionStmt())
}

// bodyText is the text behind AS.
func bodyText(fn *pg_query.CreateFunctionStmt) string {
	for _, o := range fn.Options {
		if d := o.GetDefElem(); d.GetDefname() == "as" {
			return d.Arg.GetList().GetItems()[0].GetString_().GetSval()
		}
	}
	return ""
}

// statements reads SQL; it reports whether that could be parsed.
func (b *FunctionBody) statements(sql string) bool {
	tree, err := Parse(sql)
	if err != nil {
		return false
	}
	for _, raw := range tree.Stmts {
		walk(raw.Stmt, b.inScope(nil))
	}
	return true
}

// plpgsql reads a function in plpgsql.
func (b *FunctionBody) plpgsql(statement string) bool {
	text, err := pg_query.ParsePlPgSqlToJSON(statement)
	if err != nil {
		return false
	}
	var tree any
	return json.Unmarshal([]byte(text), &tree) == nil && b.part(tree)
}

// Modes in which plpgsql parses the texts in it, as the parser's tree has them.
const (
	plainStatement = 0
	expression     = 2
	assignments    = 3 // and above
)

// part reads a part of a tree of plpgsql; it reports whether all texts in it could be parsed.
func (b *FunctionBody) part(tree any) bool {
	understood := true
	switch t := tree.(type) {
	case []any:
		for _, below := range t {
			understood = b.part(below) && understood
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			below := t[key]
			switch key {
			case "PLpgSQL_expr":
				understood = b.text(below) && understood
				continue
			case "PLpgSQL_stmt_dynexecute", "PLpgSQL_stmt_dynfors", "dynquery":
				b.Dynamic = true
			}
			understood = b.part(below) && understood
		}
	}
	return understood
}

// text reads a statement, an expression or an assignment.
func (b *FunctionBody) text(tree any) bool {
	fields, _ := tree.(map[string]any)
	sql, _ := fields["query"].(string)
	mode, _ := fields["parseMode"].(float64)
	switch {
	case mode == plainStatement:
		return b.statements(sql)
	case mode >= assignments:
		if _, value, ok := strings.Cut(sql, ":="); ok {
			sql = value
		} else if _, value, ok := strings.Cut(sql, "="); ok {
			sql = value
		}
	}
	return b.statements("select " + sql)
}
