package sqltext

import (
	"slices"
	"strings"
	"unicode"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Form says of what an expression gets its type: what a row that it makes has for columns follows from that.
type Form struct {
	Kind  FormKind
	Parts []Expr // those of which it gets its type
	Field string // of Field
	Type  Type   // of Cast, as it is written
}

// FormKind says how the type follows.
type FormKind int

// The ways in which an expression gets its type. A call, a column and a subquery have methods of their own.
const (
	OtherForm   FormKind = iota // a value that is no row: a constant, a condition, what an operator returns
	RowForm                     // a row of Parts
	ArrayForm                   // an array of Parts
	ElementForm                 // an element of the array that is the only part
	SameForm                    // the type of Parts, of which any may be null
	FieldForm                   // a field of the only part
	CastForm
)

// Form returns how the expression gets its type.
func (e Expr) Form() Form {
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_RowExpr:
		return Form{Kind: RowForm, Parts: exprs(n.RowExpr.Args)}
	case *pg_query.Node_AArrayExpr:
		return Form{Kind: ArrayForm, Parts: exprs(n.AArrayExpr.Elements)}
	case *pg_query.Node_CoalesceExpr:
		return Form{Kind: SameForm, Parts: exprs(n.CoalesceExpr.Args)}
	case *pg_query.Node_MinMaxExpr:
		return Form{Kind: SameForm, Parts: exprs(n.MinMaxExpr.Args)}
	case *pg_query.Node_CaseExpr:
		return Form{Kind: SameForm, Parts: exprs(results(n.CaseExpr))}
	case *pg_query.Node_AExpr:
		if n.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return Form{Kind: SameForm, Parts: []Expr{{n.AExpr.Lexpr}}}
		}
	case *pg_query.Node_TypeCast:
		return Form{Kind: CastForm, Parts: []Expr{{n.TypeCast.Arg}}, Type: TypeOf(n.TypeCast.TypeName)}
	case *pg_query.Node_CollateClause:
		return Form{Kind: SameForm, Parts: []Expr{{n.CollateClause.Arg}}}
	case *pg_query.Node_AIndirection:
		return indirection(n.AIndirection)
	}
	return Form{}
}

// indirection is the last step of a selection of fields and elements.
func indirection(x *pg_query.A_Indirection) Form {
	steps := x.Indirection
	if len(steps) == 0 {
		return Form{Kind: SameForm, Parts: []Expr{{x.Arg}}}
	}
	last := steps[len(steps)-1]
	base := []Expr{{x.Arg}}
	if len(steps) > 1 {
		base = []Expr{{&pg_query.Node{Node: &pg_query.Node_AIndirection{AIndirection: &pg_query.A_Indirection{Arg: x.Arg, Indirection: steps[:len(steps)-1]}}}}}
	}
	switch {
	case last.GetString_() != nil:
		return Form{Kind: FieldForm, Parts: base, Field: last.GetString_().Sval}
	case last.GetAIndices() != nil && !last.GetAIndices().IsSlice:
		return Form{Kind: ElementForm, Parts: base}
	}
	return Form{Kind: SameForm, Parts: base} // a slice; of (row).*, the row
}

// results are what a CASE may result in.
func results(c *pg_query.CaseExpr) []*pg_query.Node {
	var all []*pg_query.Node
	for _, arm := range c.Args {
		all = append(all, arm.GetCaseWhen().Result)
	}
	if c.Defresult != nil {
		all = append(all, c.Defresult)
	}
	return all
}

// IsNull reports whether the expression is the constant null.
func (e Expr) IsNull() bool { return e.node.GetAConst().GetIsnull() }

// Starred is the row of which (row).* stands for the columns.
func (e Expr) Starred() Expr { return e.Form().Parts[0] }

// ParseType reads the name of a type as format_type spells it.
func ParseType(text string) (Type, error) {
	tree, err := pg_query.Parse("select null::" + text)
	if err != nil {
		return Type{}, located(err)
	}
	targets := tree.Stmts[0].Stmt.GetSelectStmt().GetTargetList()
	if len(tree.Stmts) != 1 || len(targets) != 1 || targets[0].GetResTarget().GetVal().GetTypeCast() == nil {
		return Type{}, &Error{Message: "not the name of a type"}
	}
	return TypeOf(targets[0].GetResTarget().GetVal().GetTypeCast().TypeName), nil
}

// IsMoment reports whether a text that is cast to a type stands for the time at which it is read, as 'today'::date does.
func IsMoment(t Type, text string) bool {
	if !slices.Contains([]string{"date", "time", "timetz", "timestamp", "timestamptz", "abstime"}, t.Name) || t.Array {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"now", "today", "tomorrow", "yesterday"}, w) })
}
