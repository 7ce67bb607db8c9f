package sqltext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// PathUse is a name that PostgreSQL looks up in the search_path of the session that runs a script or calls one of its functions.
type PathUse struct {
	In string // the function, as DROP names it; empty for a statement of the script itself
	Use
}

func (p PathUse) String() string {
	text := fmt.Sprintf("%s %q without a schema", p.Kind, p.Name)
	if p.In != "" {
		return p.In + ": " + text
	}
	return text
}

// OwnPath is the search_path under which every name without a schema is PostgreSQL's own.
var OwnPath = []string{"pg_catalog", "pg_temp"}

// UsesTable is a table or view, beside the kinds of names in expressions.
const UsesTable UseKind = "table"

// SetOwnPath and PutPathBack stand above and below the statements of a script. Without them, an operator or a function that somebody else made in a schema of the session's
// search_path would run with the rights of whoever runs the script. Migration tools go on in the same transaction, so the path is put back.
const (
	SetOwnPath = `-- Names without a schema are PostgreSQL's own, whatever the search_path, which is put back at the end.
do $do$
begin
    perform pg_catalog.set_config('sluice.search_path', pg_catalog.current_setting('search_path'), true);
end;
$do$;
set local search_path = pg_catalog, pg_temp;

`
	PutPathBack = `
do $do$
begin
    perform pg_catalog.set_config('search_path', pg_catalog.current_setting('sluice.search_path'), true);
end;
$do$;
`
)

// PathUses returns the functions, operators, types, collations and tables that a script names without a schema while the search_path is not OwnPath. A
// statement sees the path that the script has set above it. A function sees the path of its SET clause, or that of its caller. Statements that a
// function executes as text are not read.
func PathUses(script string) ([]PathUse, error) {
	tree, err := Parse(script)
	if err != nil {
		return nil, err
	}
	var all []PathUse
	safe := false
	for _, raw := range tree.Stmts {
		if path, sets := pathSetBy(raw.Stmt); sets {
			safe = slices.Equal(path, OwnPath)
			continue
		}
		end := len(script)
		if raw.StmtLen > 0 {
			end = int(raw.StmtLocation + raw.StmtLen)
		}
		found, err := statementUses(raw.Stmt, script[raw.StmtLocation:end], safe)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// statementUses reads one statement: a function's own text is not run by the script, so it is read under its own path.
func statementUses(stmt *pg_query.Node, text string, safe bool) ([]PathUse, error) {
	var all []PathUse
	if fn := stmt.GetCreateFunctionStmt(); fn != nil {
		if path, sets := functionPath(fn); !sets || !slices.Equal(path, OwnPath) {
			found, err := routineUses(FunctionLanguage(fn), text, bodyText(fn))
			if err != nil {
				return nil, err
			}
			all = withoutSchema(describeNode(stmt).Signature(), found)
		}
	}
	if safe {
		return all, nil
	}
	if do := stmt.GetDoStmt(); do != nil {
		found, err := routineUses("plpgsql", "create function pg_temp.block() returns void language plpgsql as "+quoteBody(doText(do)), "")
		return append(all, withoutSchema("do", found)...), err
	}
	r := &Reads{}
	walk(stmt, r.inScope(nil))
	return append(all, withoutSchema("", *r)...), nil
}

// withoutSchema are the names without a schema. Syntax has no name that a path could redirect.
func withoutSchema(in string, r Reads) []PathUse {
	var all []PathUse
	for _, u := range r.Uses {
		if u.Schema == "" && u.Kind != UsesSyntax {
			all = append(all, PathUse{in, u})
		}
	}
	for _, t := range r.Tables {
		if t.Schema == "" {
			all = append(all, PathUse{in, Use{Pos: t.Pos, Kind: UsesTable, Name: t.Name}})
		}
	}
	return all
}

// routineUses reads the body of a function: of one in plpgsql also the types of its variables and the = of its CASE statements.
func routineUses(language, statement, body string) (Reads, error) {
	b := &FunctionBody{}
	if language == "sql" {
		if !b.statements(body) {
			return b.Reads, fmt.Errorf("a function in SQL cannot be read: %s", statement)
		}
		return b.Reads, nil
	}
	text, err := pg_query.ParsePlPgSqlToJSON(strings.ReplaceAll(statement, "return next;", "return next null;")) // see checkBody
	if err != nil {
		return b.Reads, err
	}
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return b.Reads, err
	}
	if !b.part(tree) {
		return b.Reads, fmt.Errorf("a function in plpgsql cannot be read: %s", statement)
	}
	transitions := transitionTables(statement)
	b.Tables = slices.DeleteFunc(b.Tables, func(t *TableRef) bool { return t.Schema == "" && slices.Contains(transitions, t.Name) })
	b.variables(tree)
	return b.Reads, nil
}

// transitionTables are the names that Sluice gives to the transition tables of its triggers, where a function is one of a trigger.
func transitionTables(statement string) []string {
	if strings.Contains(statement, "returns trigger") {
		return []string{"old_rows", "new_rows"}
	}
	return nil
}

// variables adds the types of variables, and the operator of CASE statements that compare a value.
func (b *FunctionBody) variables(tree any) {
	switch t := tree.(type) {
	case []any:
		for _, below := range t {
			b.variables(below)
		}
	case map[string]any:
		for key, below := range t {
			switch key {
			case "PLpgSQL_type":
				fields, _ := below.(map[string]any)
				if name, _ := fields["typname"].(string); name != "" {
					b.variable(name)
				}
			case "PLpgSQL_stmt_case":
				fields, _ := below.(map[string]any)
				if fields["t_expr"] != nil {
					b.Uses = append(b.Uses, Use{Kind: UsesOperator, Name: "="})
				}
			}
			b.variables(below)
		}
	}
}

func (b *FunctionBody) variable(typname string) {
	switch typname {
	case "UNKNOWN", "record", "refcursor": // what the parser puts for found, tg_op and the like, and what has no schema
		return
	}
	tree, err := Parse("select null::" + typname)
	if err != nil {
		return // of a column: name%type
	}
	walk(tree.Stmts[0].Stmt, b.inScope(nil))
}

// pathSetBy is the search_path that a statement sets for those below it.
func pathSetBy(stmt *pg_query.Node) (path []string, sets bool) {
	if set := stmt.GetVariableSetStmt(); set != nil && set.Name == "search_path" {
		return pathNames(set), true
	}
	return nil, false
}

// functionPath is the search_path of a function's SET clause.
func functionPath(fn *pg_query.CreateFunctionStmt) (path []string, sets bool) {
	for _, o := range fn.Options {
		if set := o.GetDefElem().GetArg().GetVariableSetStmt(); set != nil && set.Name == "search_path" {
			return pathNames(set), true
		}
	}
	return nil, false
}

func pathNames(set *pg_query.VariableSetStmt) []string {
	var names []string
	for _, a := range set.Args {
		names = append(names, a.GetAConst().GetSval().GetSval())
	}
	return names
}

func doText(do *pg_query.DoStmt) string {
	for _, o := range do.Args {
		if d := o.GetDefElem(); d.GetDefname() == "as" {
			return d.GetArg().GetString_().GetSval()
		}
	}
	return ""
}

// quoteBody quotes a body that may hold other dollar quotes.
func quoteBody(body string) string { return "$path$" + body + "$path$" }
