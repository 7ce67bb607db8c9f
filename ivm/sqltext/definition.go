package sqltext

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// TableDefinition is what a CREATE TABLE says, taken apart so that two of them can be compared. Texts are SQL, printed in one way.
type TableDefinition struct {
	Columns     []ColumnDefinition
	Key         []string          // columns of the primary key
	Constraints []string          // of the table and of columns, but for NOT NULL, in order
	Options     map[string]string // storage parameters
	Partitioned bool
}

// ColumnDefinition is one column of a TableDefinition.
type ColumnDefinition struct {
	Name      string
	Type      string
	Collation string
	NotNull   bool
	Default   string // expression; empty if none
	Generated string // expression of a stored generated column; empty if it is none
	Identity  bool   // numbers come from a sequence that PostgreSQL names after the table and the column
}

// defined holds the results of DefineTable by the SHA-256 of the statement: versions have most tables in common.
// Without it, generating a history of 17 versions takes twice as long.
var defined sync.Map

// DefineTable takes a CREATE TABLE apart. Callers share the definition, and do not change it.
func DefineTable(sql string) (TableDefinition, error) {
	key := sha256.Sum256([]byte(sql))
	if t, ok := defined.Load(key); ok {
		return t.(TableDefinition), nil
	}
	t, err := defineTable(sql)
	if err == nil {
		defined.Store(key, t)
	}
	return t, err
}

func defineTable(sql string) (TableDefinition, error) {
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return TableDefinition{}, located(err)
	}
	if len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetCreateStmt() == nil {
		return TableDefinition{}, fmt.Errorf("not one CREATE TABLE")
	}
	create := tree.Stmts[0].Stmt.GetCreateStmt()
	t := TableDefinition{Options: map[string]string{}, Partitioned: create.Partspec != nil}
	for _, element := range create.TableElts {
		if constraint := element.GetConstraint(); constraint != nil {
			t.Constraints = append(t.Constraints, constraintSQL(constraint))
			if constraint.Contype == pg_query.ConstrType_CONSTR_PRIMARY {
				t.Key = Strings(constraint.Keys)
			}
			continue
		}
		column, constraints := defineColumn(element.GetColumnDef())
		if slices.ContainsFunc(element.GetColumnDef().Constraints, isPrimary) {
			t.Key = []string{column.Name}
		}
		t.Columns = append(t.Columns, column)
		t.Constraints = append(t.Constraints, constraints...)
	}
	for _, option := range create.Options {
		def := option.GetDefElem()
		t.Options[def.Defname] = optionValue(def.Arg)
	}
	return t, nil
}

func isPrimary(n *pg_query.Node) bool {
	return n.GetConstraint().GetContype() == pg_query.ConstrType_CONSTR_PRIMARY
}

func defineColumn(n *pg_query.ColumnDef) (c ColumnDefinition, constraints []string) {
	c = ColumnDefinition{Name: n.Colname, Type: typeSQL(n.TypeName)}
	if n.CollClause != nil {
		c.Collation = strings.Join(quoted(Strings(n.CollClause.Collname)), ".")
	}
	for _, node := range n.Constraints {
		k := node.GetConstraint()
		switch k.Contype {
		case pg_query.ConstrType_CONSTR_NOTNULL:
			c.NotNull = true
		case pg_query.ConstrType_CONSTR_DEFAULT:
			c.Default = Expr{k.RawExpr}.SQL()
		case pg_query.ConstrType_CONSTR_GENERATED:
			c.Generated = Expr{k.RawExpr}.SQL()
		default:
			c.Identity = c.Identity || k.Contype == pg_query.ConstrType_CONSTR_IDENTITY
			constraints = append(constraints, Ident(n.Colname)+" "+constraintSQL(k))
		}
	}
	return c, constraints
}

// constraintSQL prints a constraint so that two alike print alike.
func constraintSQL(k *pg_query.Constraint) string {
	parts := []string{strings.TrimPrefix(k.Contype.String(), "CONSTR_")}
	parts = append(parts, quoted(Strings(k.Keys))...)
	if k.RawExpr != nil {
		parts = append(parts, Expr{k.RawExpr}.SQL())
	}
	if k.Pktable != nil {
		parts = append(parts, rangeVar(k.Pktable), strings.Join(quoted(Strings(k.PkAttrs)), ", "), k.FkDelAction, k.FkUpdAction)
	}
	return strings.Join(parts, " ")
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Ident(name)
	}
	return out
}

// optionValue prints the value of a storage parameter.
func optionValue(n *pg_query.Node) string {
	switch v := n.GetNode().(type) {
	case *pg_query.Node_Integer:
		return fmt.Sprint(v.Integer.Ival)
	case *pg_query.Node_Float:
		return v.Float.Fval
	case *pg_query.Node_String_:
		return v.String_.Sval
	case *pg_query.Node_TypeName:
		return typeName(v.TypeName)
	default:
		return "true"
	}
}

// Interface is what callers of a function rely on, printed in one way: CREATE OR REPLACE can put another body behind the same
// interface only.
func Interface(sql string) (string, error) {
	tree, err := pg_query.Parse(sql)
	if err != nil {
		return "", located(err)
	}
	fn := tree.Stmts[0].Stmt.GetCreateFunctionStmt()
	if len(tree.Stmts) != 1 || fn == nil {
		return "", fmt.Errorf("not one CREATE FUNCTION")
	}
	var parts []string
	for _, node := range fn.Parameters {
		p := node.GetFunctionParameter()
		parts = append(parts, fmt.Sprintf("%s %s %s %t", p.Mode, p.Name, typeSQL(p.ArgType), p.Defexpr != nil))
	}
	result := ""
	if fn.ReturnType != nil {
		result = typeSQL(fn.ReturnType)
		if fn.ReturnType.Setof {
			result = "setof " + result
		}
	}
	return strings.Join(append(parts, result), ", "), nil
}

// InsertedRow is what a plain INSERT of one row of constants says.
type InsertedRow struct {
	Table   string
	Columns []string
	Values  []string // SQL
}

// DescribeInsert takes an INSERT … VALUES of one row apart; ok is false for anything else.
func DescribeInsert(sql string) (row InsertedRow, ok bool) {
	tree, err := pg_query.Parse(sql)
	if err != nil || len(tree.Stmts) != 1 {
		return row, false
	}
	insert := tree.Stmts[0].Stmt.GetInsertStmt()
	lists := insert.GetSelectStmt().GetSelectStmt().GetValuesLists()
	if len(lists) != 1 || insert.OnConflictClause != nil {
		return row, false
	}
	row.Table = rangeVar(insert.Relation)
	for _, column := range insert.Cols {
		row.Columns = append(row.Columns, column.GetResTarget().Name)
	}
	for _, value := range lists[0].GetList().Items {
		row.Values = append(row.Values, Expr{value}.SQL())
	}
	return row, len(row.Columns) == len(row.Values) && len(row.Columns) > 0
}

// SameOptions reports whether two sets of storage parameters are alike.
func SameOptions(a, b map[string]string) bool {
	return slices.Equal(sortedOptions(a), sortedOptions(b))
}

func sortedOptions(options map[string]string) []string {
	var out []string
	for name, value := range options {
		out = append(out, name+" = "+value)
	}
	slices.Sort(out)
	return out
}
