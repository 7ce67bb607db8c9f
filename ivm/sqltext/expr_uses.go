package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// Use is something in an expression that decides whether its value hangs on more than its columns.
type Use struct {
	Pos          int
	Kind         UseKind
	Schema, Name string
	Args         int  // of a function
	OfConstant   bool // a cast of a constant; not known in expressions
}

// UseKind says what is used.
type UseKind string

// What an expression can use. Syntax is a function that the grammar knows, such as current_date, xmlelement or json_object.
const (
	UsesFunction  UseKind = "function"
	UsesOperator  UseKind = "operator"
	UsesType      UseKind = "type" // a cast to it
	UsesCollation UseKind = "collation"
	UsesSyntax    UseKind = "syntax"
)

// Uses returns every function, operator, type and collation in the expression and below it, but not in subqueries. Operators that the syntax
// implies are among them: = of IN, USING and CASE x WHEN, >= and <= of BETWEEN.
func (e Expr) Uses() []Use {
	var all []Use
	walk(e.node, func(m any) bool {
		all = append(all, uses(m)...)
		_, query := m.(*pg_query.SelectStmt)
		return !query
	})
	return all
}

func uses(message any) []Use {
	switch m := message.(type) {
	case *pg_query.Node:
		return nodeUses(m)
	case *pg_query.A_Expr:
		return operatorUses(m)
	case *pg_query.SubLink:
		if m.Testexpr != nil {
			return []Use{use(UsesOperator, m.OperName, m.Location)}
		}
	case *pg_query.CaseExpr:
		if m.Arg != nil {
			return []Use{use(UsesOperator, nil, m.Location)}
		}
	case *pg_query.JoinExpr:
		if len(m.UsingClause) > 0 || m.IsNatural {
			return []Use{{Kind: UsesOperator, Name: "="}}
		}
	case *pg_query.SortBy:
		if len(m.UseOp) > 0 {
			return []Use{use(UsesOperator, m.UseOp, m.Location)}
		}
	case *pg_query.TypeName:
		return []Use{use(UsesType, m.Names, m.Location)}
	case *pg_query.CollateClause:
		return []Use{use(UsesCollation, m.Collname, m.Location)}
	}
	return nil
}

func nodeUses(n *pg_query.Node) []Use {
	if c, ok := (Expr{n}).Call(); ok {
		return []Use{{Pos: c.Pos, Kind: UsesFunction, Schema: c.Schema, Name: c.Name, Args: len(c.Args)}}
	}
	switch n.Node.(type) {
	case *pg_query.Node_SqlvalueFunction, *pg_query.Node_MinMaxExpr, *pg_query.Node_XmlExpr, *pg_query.Node_XmlSerialize,
		*pg_query.Node_JsonObjectConstructor, *pg_query.Node_JsonArrayConstructor, *pg_query.Node_JsonArrayQueryConstructor:
		return []Use{{Pos: leftmost(n), Kind: UsesSyntax, Name: syntaxName(n)}}
	}
	return nil
}

func operatorUses(x *pg_query.A_Expr) []Use {
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		at := int(x.Location)
		return []Use{{Pos: at, Kind: UsesOperator, Name: ">="}, {Pos: at, Kind: UsesOperator, Name: "<="}}
	}
	return []Use{use(UsesOperator, x.Name, x.Location)}
}

func use(kind UseKind, names []*pg_query.Node, at int32) Use {
	o := operator(names, at)
	return Use{Pos: o.Pos, Kind: kind, Schema: o.Schema, Name: o.Name}
}
