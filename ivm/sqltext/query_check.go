package sqltext

import (
	"fmt"
	"reflect"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// checkQuery returns the first thing in a query that no view can have or that this package does not know.
func checkQuery(stmt *pg_query.SelectStmt) *Error {
	var problem *Error
	walk(stmt, func(m any) bool {
		if problem == nil {
			problem = checkMessage(m)
		}
		return problem == nil
	})
	return problem
}

func checkMessage(message any) *Error {
	switch m := message.(type) {
	case *pg_query.Node:
		return checkKind(m)
	case *pg_query.SelectStmt:
		if m.IntoClause != nil {
			return &Error{Offset: int(m.IntoClause.Rel.Location), Message: "views must not contain SELECT INTO"}
		}
	case *pg_query.CommonTableExpr:
		if m.Ctequery.GetSelectStmt() == nil {
			return &Error{Offset: int(m.Location), Message: "views must not contain data-modifying statements in WITH"}
		}
	case *pg_query.ParamRef:
		return &Error{Offset: int(m.Location), Message: fmt.Sprintf("there is no parameter $%d", m.Number)}
	case *pg_query.SetToDefault:
		return &Error{Offset: int(m.Location), Message: "DEFAULT is not allowed in this context"}
	case *pg_query.RangeVar:
		if m.Catalogname != "" {
			return crossDatabase(m.Location, m.Catalogname, m.Schemaname, m.Relname)
		}
	case *pg_query.FuncCall:
		return checkName(m.Funcname, m.Location)
	case *pg_query.TypeName:
		return checkName(m.Names, m.Location)
	}
	return nil
}

func checkName(names []*pg_query.Node, at int32) *Error {
	if len(names) > 2 {
		return crossDatabase(at, Strings(names)...)
	}
	return nil
}

func crossDatabase(at int32, parts ...string) *Error {
	return &Error{Offset: max(int(at), 0), Message: "cross-database references are not implemented: " + strings.Join(parts, ".")}
}

func checkKind(n *pg_query.Node) *Error {
	if n.Node == nil || isScalar(n) || isStructure(n) {
		return nil
	}
	kind := strings.TrimPrefix(reflect.TypeOf(n.Node).Elem().Name(), "Node_")
	return unsupported(kind, leftmost(n))
}

// unsupported is what a part of the grammar says that has no place in a Query.
func unsupported(what string, at int) *Error {
	return &Error{Offset: max(at, 0), Message: what + " is not supported in a query"}
}

// isScalar reports whether a node is an expression of its own, as Children and Map see them.
func isScalar(n *pg_query.Node) bool {
	switch n.Node.(type) {
	case *pg_query.Node_ColumnRef, *pg_query.Node_ParamRef, *pg_query.Node_AConst, *pg_query.Node_TypeCast, *pg_query.Node_CollateClause,
		*pg_query.Node_FuncCall, *pg_query.Node_AExpr, *pg_query.Node_BoolExpr, *pg_query.Node_SubLink, *pg_query.Node_CaseExpr,
		*pg_query.Node_CoalesceExpr, *pg_query.Node_MinMaxExpr, *pg_query.Node_NullTest, *pg_query.Node_BooleanTest,
		*pg_query.Node_AIndirection, *pg_query.Node_AArrayExpr, *pg_query.Node_RowExpr, *pg_query.Node_GroupingFunc,
		*pg_query.Node_SqlvalueFunction, *pg_query.Node_XmlExpr, *pg_query.Node_XmlSerialize,
		*pg_query.Node_JsonObjectConstructor, *pg_query.Node_JsonArrayConstructor, *pg_query.Node_JsonArrayQueryConstructor,
		*pg_query.Node_JsonObjectAgg, *pg_query.Node_JsonArrayAgg, *pg_query.Node_JsonIsPredicate, *pg_query.Node_SetToDefault:
		return true
	}
	return false
}

// isStructure reports whether a node is a clause, a part of an expression, or a name.
func isStructure(n *pg_query.Node) bool {
	switch n.Node.(type) {
	case *pg_query.Node_SelectStmt, *pg_query.Node_CommonTableExpr, *pg_query.Node_ResTarget, *pg_query.Node_SortBy,
		*pg_query.Node_WindowDef, *pg_query.Node_GroupingSet, *pg_query.Node_LockingClause,
		*pg_query.Node_RangeVar, *pg_query.Node_RangeSubselect, *pg_query.Node_RangeFunction, *pg_query.Node_RangeTableSample,
		*pg_query.Node_RangeTableFunc, *pg_query.Node_RangeTableFuncCol, *pg_query.Node_JoinExpr, *pg_query.Node_ColumnDef,
		*pg_query.Node_List, *pg_query.Node_CaseWhen, *pg_query.Node_AIndices, *pg_query.Node_AStar, *pg_query.Node_NamedArgExpr,
		*pg_query.Node_JsonKeyValue, *pg_query.Node_JsonValueExpr, *pg_query.Node_JsonFormat,
		*pg_query.Node_String_, *pg_query.Node_Integer, *pg_query.Node_Float, *pg_query.Node_Boolean, *pg_query.Node_BitString:
		return true
	}
	return false
}
