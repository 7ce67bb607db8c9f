package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// FigureName returns the column name that PostgreSQL gives a target without an alias. Ask before binding columns. A scalar subquery is called
// after its first column, which column knows; without column it is taken from the text, where a star shows nothing.
func FigureName(e Expr, column func(Query) string) string {
	if name, _ := (figure{column}).name(e); name != "" {
		return name
	}
	return "?column?"
}

// figure is PostgreSQL's FigureColnameInternal. A name is weak if a cast around the expression may replace it.
type figure struct{ column func(Query) string }

const (
	weak   = 1
	strong = 2
)

func (f figure) name(e Expr) (name string, strength int) {
	if name := lastName(e.node); name != "" {
		return name, strong
	}
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_AIndirection:
		return f.name(Expr{n.AIndirection.Arg})
	case *pg_query.Node_CollateClause:
		return f.name(Expr{n.CollateClause.Arg})
	case *pg_query.Node_TypeCast:
		_, typeName := qualified(n.TypeCast.TypeName.Names)
		return f.unlessStrong(n.TypeCast.Arg, typeName)
	case *pg_query.Node_CaseExpr:
		return f.unlessStrong(n.CaseExpr.Defresult, "case")
	case *pg_query.Node_SubLink:
		return f.subquery(e)
	}
	if name := syntaxName(e.node); name != "" {
		return name, strong
	}
	return "", 0
}

// lastName returns the last name in a column reference, a selection of fields or a function's name, subscripts and stars aside.
func lastName(n *pg_query.Node) string {
	parts := n.GetColumnRef().GetFields()
	parts = append(parts[:len(parts):len(parts)], n.GetAIndirection().GetIndirection()...)
	parts = append(parts, n.GetFuncCall().GetFuncname()...)
	name := ""
	for _, part := range parts {
		if s := part.GetString_(); s != nil {
			name = s.Sval
		}
	}
	return name
}

func (f figure) unlessStrong(inner *pg_query.Node, otherwise string) (string, int) {
	if name, strength := f.name(Expr{inner}); strength == strong {
		return name, strong
	}
	return otherwise, weak
}

func (f figure) subquery(e Expr) (string, int) {
	switch sub, _ := e.Subquery(); sub.Kind {
	case Exists, Array:
		return string(sub.Kind), strong
	case Scalar:
		return f.first(sub.Query), strong
	}
	return "", 0
}

// first returns the name of a query's first column.
func (f figure) first(q Query) string {
	if f.column != nil {
		return f.column(q)
	}
	name, _ := FirstName(q)
	return name
}

// FirstName returns the name of a query's first column, as far as its text shows it: that of a star is unknown.
func FirstName(q Query) (name string, known bool) {
	switch q := q.(type) {
	case *SetOp:
		return FirstName(q.Left)
	case *Values:
		return "column1", len(q.Rows[0]) > 0 && !q.Rows[0][0].Star()
	case *Select:
		switch {
		case len(q.Targets) == 0 || q.Targets[0].Expr.Star():
		case q.Targets[0].Alias != "":
			return q.Targets[0].Alias, true
		default:
			return FigureName(q.Targets[0].Expr, nil), true
		}
	}
	return "?column?", false
}

// syntaxName returns the name of what the grammar writes like a function, or "".
func syntaxName(node *pg_query.Node) string {
	switch n := node.GetNode().(type) {
	case *pg_query.Node_AExpr:
		if n.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	case *pg_query.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg_query.MinMaxOp_IS_LEAST {
			return "least"
		}
		return "greatest"
	case *pg_query.Node_SqlvalueFunction:
		return valueFunctions[n.SqlvalueFunction.Op]
	case *pg_query.Node_XmlExpr:
		return xmlNames[n.XmlExpr.Op]
	case *pg_query.Node_GroupingFunc:
		return "grouping"
	case *pg_query.Node_AArrayExpr:
		return "array"
	case *pg_query.Node_RowExpr:
		return "row"
	case *pg_query.Node_CoalesceExpr:
		return "coalesce"
	case *pg_query.Node_XmlSerialize:
		return "xmlserialize"
	}
	return jsonName(node)
}

func jsonName(node *pg_query.Node) string {
	switch node.GetNode().(type) {
	case *pg_query.Node_JsonObjectConstructor:
		return "json_object"
	case *pg_query.Node_JsonArrayConstructor, *pg_query.Node_JsonArrayQueryConstructor:
		return "json_array"
	case *pg_query.Node_JsonObjectAgg:
		return "json_objectagg"
	case *pg_query.Node_JsonArrayAgg:
		return "json_arrayagg"
	}
	return ""
}

var valueFunctions = map[pg_query.SQLValueFunctionOp]string{
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        "current_date",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        "current_time",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      "current_time",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   "current_timestamp",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: "current_timestamp",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME:           "localtime",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         "localtime",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      "localtimestamp",
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    "localtimestamp",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        "current_role",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER:        "current_user",
	pg_query.SQLValueFunctionOp_SVFOP_USER:                "user",
	pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER:        "session_user",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     "current_catalog",
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      "current_schema",
}

// IS DOCUMENT is among the XML expressions, and has no name.
var xmlNames = map[pg_query.XmlExprOp]string{
	pg_query.XmlExprOp_IS_XMLCONCAT:  "xmlconcat",
	pg_query.XmlExprOp_IS_XMLELEMENT: "xmlelement",
	pg_query.XmlExprOp_IS_XMLFOREST:  "xmlforest",
	pg_query.XmlExprOp_IS_XMLPARSE:   "xmlparse",
	pg_query.XmlExprOp_IS_XMLPI:      "xmlpi",
	pg_query.XmlExprOp_IS_XMLROOT:    "xmlroot",
}
