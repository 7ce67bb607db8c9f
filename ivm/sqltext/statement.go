package sqltext

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"
)

// Statement is what Sluice needs to know of a statement that creates an
// object: enough to name it in a comment, a drop or a comparison.
type Statement struct {
	Kind     string   // "schema", "table", "index", "view", "sequence", "function", "procedure", "trigger", or "" for anything else
	Schema   string   // empty where the kind has none
	Name     string   // unquoted
	Args     []string // input argument types of a function or procedure
	On       string   // qualified table of a trigger or index
	Language string   // of a function
}

// Signature returns the object's name as COMMENT ON and DROP want it.
func (s Statement) Signature() string {
	switch s.Kind {
	case "schema":
		return Ident(s.Name)
	case "trigger":
		return Ident(s.Name) + " on " + s.On
	case "function", "procedure":
		return Qualified(s.Schema, s.Name) + "(" + strings.Join(s.Args, ", ") + ")"
	default:
		return Qualified(s.Schema, s.Name)
	}
}

// Error is a syntax error at a byte offset (0-based) of the parsed text.
type Error struct {
	Offset  int
	Message string
	Hint    string
}

func (e *Error) Error() string { return e.Message }

// Created is one statement that was parsed.
type Created struct {
	Statement
	checkBody func() error
}

// described holds the results of Describe by the SHA-256 of the statement. Specs have most objects in common: without it,
// generating each spec after the first takes a third longer.
var described sync.Map

// Describe parses one statement and describes what it creates.
func Describe(sql string) (Created, error) {
	key := sha256.Sum256([]byte(sql))
	if c, ok := described.Load(key); ok {
		return c.(Created), nil
	}
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return Created{}, located(err)
	}
	if len(tree.Stmts) != 1 {
		return Created{}, fmt.Errorf("expected one statement, found %d", len(tree.Stmts))
	}
	c := Created{describeNode(tree.Stmts[0].Stmt), sync.OnceValue(func() error { return checkBody(sql, tree.Stmts[0]) })}
	described.Store(key, c)
	return c, nil
}

// CheckBody parses the body of a plpgsql function or procedure, too.
func (c Created) CheckBody() error { return c.checkBody() }

// Check parses a script and, for each plpgsql function or procedure in it,
// its body too, so that nothing that PostgreSQL would refuse leaves the process.
func Check(sql string) error {
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return located(err)
	}
	for _, raw := range tree.Stmts {
		if err := checkBody(sql, raw); err != nil {
			return err
		}
	}
	return nil
}

func checkBody(sql string, raw *pg_query.RawStmt) error {
	fn := raw.Stmt.GetCreateFunctionStmt()
	if fn == nil || FunctionLanguage(fn) != "plpgsql" || !hasBody(fn) {
		return nil
	}
	end := len(sql)
	if raw.StmtLen > 0 {
		end = int(raw.StmtLocation + raw.StmtLen)
	}
	// pg_query knows no output columns, and so takes "return next" for incomplete where PostgreSQL does not.
	body := strings.ReplaceAll(sql[raw.StmtLocation:end], "return next;", "return next null;")
	if _, err := pg_query.ParsePlPgSqlToJSON(body); err != nil {
		return fmt.Errorf("plpgsql of %s: %w", describeNode(raw.Stmt).Signature(), located(err))
	}
	return nil
}

// CheckExpression reports whether text is one scalar expression.
func CheckExpression(text string) error {
	tree, err := Parse("select (" + text + "\n)")
	if err != nil {
		return located(err)
	}
	if len(tree.Stmts) != 1 || len(tree.Stmts[0].Stmt.GetSelectStmt().GetTargetList()) != 1 {
		return errors.New("not a single expression")
	}
	return nil
}

func describeNode(node *pg_query.Node) Statement {
	switch n := node.Node.(type) {
	case *pg_query.Node_CreateSchemaStmt:
		return Statement{Kind: "schema", Name: n.CreateSchemaStmt.Schemaname}
	case *pg_query.Node_CreateStmt:
		return relation("table", n.CreateStmt.Relation)
	case *pg_query.Node_ViewStmt:
		return relation("view", n.ViewStmt.View)
	case *pg_query.Node_CreateSeqStmt:
		return relation("sequence", n.CreateSeqStmt.Sequence)
	case *pg_query.Node_AlterTableStmt:
		return identity(n.AlterTableStmt)
	case *pg_query.Node_IndexStmt:
		on := n.IndexStmt.Relation
		return Statement{Kind: "index", Schema: on.Schemaname, Name: n.IndexStmt.Idxname, On: rangeVar(on)}
	case *pg_query.Node_CreateTrigStmt:
		return Statement{Kind: "trigger", Name: n.CreateTrigStmt.Trigname, On: rangeVar(n.CreateTrigStmt.Relation)}
	case *pg_query.Node_CreateFunctionStmt:
		return function(n.CreateFunctionStmt)
	}
	return Statement{}
}

// identity is the sequence that alter table … add generated … as identity (sequence name …) creates, if that is what it does.
func identity(alter *pg_query.AlterTableStmt) Statement {
	if len(alter.Cmds) != 1 {
		return Statement{}
	}
	cmd := alter.Cmds[0].GetAlterTableCmd()
	if cmd.GetSubtype() != pg_query.AlterTableType_AT_AddIdentity {
		return Statement{}
	}
	for _, o := range cmd.Def.GetConstraint().GetOptions() {
		if d := o.GetDefElem(); d.GetDefname() == "sequence_name" {
			if names := Strings(d.Arg.GetList().GetItems()); len(names) == 2 {
				return Statement{Kind: "sequence", Schema: names[0], Name: names[1]}
			}
		}
	}
	return Statement{}
}

func relation(kind string, r *pg_query.RangeVar) Statement {
	return Statement{Kind: kind, Schema: r.Schemaname, Name: r.Relname}
}

func rangeVar(r *pg_query.RangeVar) string { return Qualified(r.Schemaname, r.Relname) }

func function(fn *pg_query.CreateFunctionStmt) Statement {
	s := Statement{Kind: "function", Language: FunctionLanguage(fn)}
	if fn.IsProcedure {
		s.Kind = "procedure"
	}
	names := Strings(fn.Funcname)
	s.Name = names[len(names)-1]
	if len(names) > 1 {
		s.Schema = names[len(names)-2]
	}
	for _, p := range fn.Parameters {
		param := p.GetFunctionParameter()
		if param.Mode != pg_query.FunctionParameterMode_FUNC_PARAM_TABLE && param.Mode != pg_query.FunctionParameterMode_FUNC_PARAM_OUT {
			s.Args = append(s.Args, typeName(param.ArgType))
		}
	}
	return s
}

func typeName(t *pg_query.TypeName) string {
	names := Strings(t.Names)
	for i, n := range names {
		names[i] = Ident(n)
	}
	if len(names) > 1 && names[0] == "pg_catalog" {
		names = names[1:]
	}
	return strings.Join(names, ".") + strings.Repeat("[]", len(t.ArrayBounds))
}

// FunctionLanguage is the language that CREATE FUNCTION names; empty if it names none.
func FunctionLanguage(fn *pg_query.CreateFunctionStmt) string {
	for _, o := range fn.Options {
		if d := o.GetDefElem(); d.GetDefname() == "language" {
			return d.Arg.GetString_().GetSval()
		}
	}
	return ""
}

// hasBody guards the plpgsql parser, which aborts the process on a function without one.
func hasBody(fn *pg_query.CreateFunctionStmt) bool {
	for _, o := range fn.Options {
		if o.GetDefElem().GetDefname() == "as" {
			return true
		}
	}
	return false
}

// Strings returns the texts of a list of string nodes.
func Strings(nodes []*pg_query.Node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.GetString_().GetSval()
	}
	return out
}

// located turns pg_query's 1-based cursor position into an offset; its line
// number is a line of its own C source and is dropped.
func located(err error) error {
	var pe *parser.Error
	if errors.As(err, &pe) {
		return &Error{Offset: max(pe.Cursorpos-1, 0), Message: pe.Message}
	}
	return err
}
