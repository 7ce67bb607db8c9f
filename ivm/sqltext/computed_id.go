package sqltext

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// ComputedID is what is known of an expression that computes the id of a message from its payload.
type ComputedID struct {
	IsConstant bool   // it reads nothing of the message
	StandsIn   string // coalesce or a function that takes null for nothing: a missing part does not make the id null; empty if none does
}

// takesNull are functions whose result is not null where an argument is.
var takesNull = map[string]bool{"concat": true, "concat_ws": true, "format": true}

// DescribeComputedID looks at an expression that CheckExpression has passed.
func DescribeComputedID(text string) ComputedID {
	tree, err := Parse("select (" + text + "\n)")
	if err != nil {
		return ComputedID{}
	}
	id := ComputedID{IsConstant: !readsColumn(tree)}
	walk(tree, func(message any) bool {
		switch n := message.(type) {
		case *pg_query.CoalesceExpr:
			if last := n.Args[len(n.Args)-1]; !readsColumn(last) && !last.GetAConst().GetIsnull() {
				id.StandsIn = "coalesce"
			}
		case *pg_query.FuncCall:
			if name := n.Funcname[len(n.Funcname)-1].GetString_().GetSval(); takesNull[name] {
				id.StandsIn = name
			}
		}
		return true
	})
	return id
}

func readsColumn(message any) bool {
	found := false
	walk(message, func(part any) bool {
		_, is := part.(*pg_query.ColumnRef)
		found = found || is
		return !found
	})
	return found
}
