package sqltext

import (
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Routine is what callers know of a function or procedure. Types and defaults are SQL.
type Routine struct {
	Statement
	Params  []Param
	Returns string  // empty for a procedure and for a function with Columns
	Columns []Param // of the rows that it returns
}

// Param is a parameter, or a column of a result.
type Param struct{ Name, Type, Default string }

// DescribeRoutine takes the head of a CREATE FUNCTION or CREATE PROCEDURE apart.
func DescribeRoutine(sql string) (Routine, error) {
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return Routine{}, located(err)
	}
	if len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetCreateFunctionStmt() == nil {
		return Routine{}, fmt.Errorf("not one CREATE FUNCTION")
	}
	fn := tree.Stmts[0].Stmt.GetCreateFunctionStmt()
	r := Routine{Statement: function(fn)}
	for _, node := range fn.Parameters {
		p := node.GetFunctionParameter()
		param := Param{Name: p.Name, Type: typeSQL(p.ArgType)}
		if p.Defexpr != nil {
			param.Default = Expr{p.Defexpr}.SQL()
		}
		if p.Mode == pg_query.FunctionParameterMode_FUNC_PARAM_TABLE {
			r.Columns = append(r.Columns, param)
		} else {
			r.Params = append(r.Params, param)
		}
	}
	if len(r.Columns) == 0 && fn.ReturnType != nil {
		r.Returns = typeSQL(fn.ReturnType)
	}
	return r, nil
}

// Grant is a right that a script gives to a role.
type Grant struct {
	Privileges []string // such as select, or update (a, b)
	Kind       string   // of the object: table, sequence, function or schema
	Object     string   // as SQL
}

// DescribeGrants lists the rights that the GRANTs of a script give, object by object.
func DescribeGrants(sql string) ([]Grant, error) {
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return nil, located(err)
	}
	var grants []Grant
	for _, raw := range tree.Stmts {
		n := raw.Stmt.GetGrantStmt()
		if n == nil || !n.IsGrant {
			continue
		}
		var privileges []string
		for _, node := range n.Privileges {
			privileges = append(privileges, privilege(node.GetAccessPriv()))
		}
		for _, object := range n.Objects {
			kind, name := granted(n.Objtype, object)
			grants = append(grants, Grant{privileges, kind, name})
		}
	}
	return grants, nil
}

func privilege(p *pg_query.AccessPriv) string {
	if len(p.Cols) == 0 {
		return p.PrivName
	}
	return p.PrivName + " (" + strings.Join(quoted(Strings(p.Cols)), ", ") + ")"
}

func granted(kind pg_query.ObjectType, object *pg_query.Node) (string, string) {
	switch kind {
	case pg_query.ObjectType_OBJECT_SCHEMA:
		return "schema", Ident(object.GetString_().GetSval())
	case pg_query.ObjectType_OBJECT_SEQUENCE:
		return "sequence", rangeVar(object.GetRangeVar())
	case pg_query.ObjectType_OBJECT_TABLE:
		return "table", rangeVar(object.GetRangeVar())
	default:
		return "function", strings.Join(quoted(Strings(object.GetObjectWithArgs().GetObjname())), ".")
	}
}

// Volatility is how much the result of a routine hangs on more than its arguments.
type Volatility int

// The volatilities, each worse than the one before.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// String returns the keyword.
func (v Volatility) String() string { return [...]string{"immutable", "stable", "volatile"}[v] }
