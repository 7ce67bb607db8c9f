package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Form is what an expression is made of, as far as types follow from it. A call, a column, a name, a subquery and a value function have methods of their
// own.
type Form struct {
	Kind     FormKind
	Pos      int      // where PostgreSQL's messages about it point to; -1 if it was made rather than parsed
	Parts    []Expr   // what its type follows from
	Tested   []Expr   // of Case: the conditions, or the values that its argument is compared with
	Arg      Expr     // of Case, if it has one
	Operator Operator // of Operation and those like it
	Word     string   // what messages call it, such as COALESCE or IS TRUE
	Field    string   // of Field
	Type     Type     // of Cast and Constant
	Text     string   // of Constant
}

// FormKind says what an expression is.
type FormKind int

// The kinds of expressions. Parts of those down to Slice have one type, which is that of the whole.
const (
	OtherForm    FormKind = iota
	ConstantForm          // Type is zero for strings and null
	OperationForm
	AnyForm       // Operator between the first part and any, or all, elements of the second
	ListForm      // the first part IN the others
	BetweenForm   // the first part between the other two
	DistinctForm  // IS DISTINCT FROM
	LogicForm     // AND, OR, NOT
	TestForm      // IS TRUE and the like
	NullTestForm  // IS NULL
	RowForm       // a row of Parts
	ArrayForm     // an array of Parts
	ElementForm   // an element of the array that is the first part, at the others
	FieldForm     // a field of the only part
	CastForm      // to Type
	GroupingForm  // GROUPING
	XMLForm       // what makes XML
	PredicateForm // IS DOCUMENT, IS JSON
	CaseForm
	CoalesceForm // and GREATEST, LEAST
	NullIfForm   // Operator between the two parts decides; the type is that of the first
	CollateForm
	SliceForm // of an array; of (row).*, the row
)

// One reports whether the type of an expression is the one of its parts.
func (k FormKind) One() bool { return k >= CaseForm }

// One are the parts whose type is that of the whole.
func (f Form) One() []Expr {
	if f.Kind == NullIfForm || f.Kind == SliceForm {
		return f.Parts[:1]
	}
	return f.Parts
}

// Form returns what the expression is made of.
func (e Expr) Form() Form {
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_AConst:
		return constant(n.AConst)
	case *pg_query.Node_AExpr:
		return operationForm(n.AExpr)
	case *pg_query.Node_BoolExpr:
		return Form{Kind: LogicForm, Word: logicWords[n.BoolExpr.Boolop], Parts: exprs(n.BoolExpr.Args)}
	case *pg_query.Node_NullTest:
		return Form{Kind: NullTestForm, Parts: []Expr{{n.NullTest.Arg}}}
	case *pg_query.Node_BooleanTest:
		return Form{Kind: TestForm, Word: testWords[n.BooleanTest.Booltesttype], Parts: []Expr{{n.BooleanTest.Arg}}}
	case *pg_query.Node_RowExpr:
		return Form{Kind: RowForm, Pos: int(n.RowExpr.Location), Parts: exprs(n.RowExpr.Args)}
	case *pg_query.Node_AArrayExpr:
		return Form{Kind: ArrayForm, Word: "ARRAY", Pos: int(n.AArrayExpr.Location), Parts: exprs(n.AArrayExpr.Elements)}
	case *pg_query.Node_CoalesceExpr:
		return Form{Kind: CoalesceForm, Word: "COALESCE", Parts: exprs(n.CoalesceExpr.Args)}
	case *pg_query.Node_MinMaxExpr:
		return Form{Kind: CoalesceForm, Word: minMaxWords[n.MinMaxExpr.Op], Parts: exprs(n.MinMaxExpr.Args)}
	case *pg_query.Node_CaseExpr:
		return caseForm(n.CaseExpr)
	case *pg_query.Node_TypeCast:
		return Form{Kind: CastForm, Pos: int(n.TypeCast.Location), Parts: []Expr{{n.TypeCast.Arg}}, Type: TypeOf(n.TypeCast.TypeName)}
	case *pg_query.Node_CollateClause:
		return Form{Kind: CollateForm, Pos: int(n.CollateClause.Location), Parts: []Expr{{n.CollateClause.Arg}}}
	case *pg_query.Node_AIndirection:
		return indirection(n.AIndirection)
	}
	return rareForm(e.node)
}

func rareForm(n *pg_query.Node) Form {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_GroupingFunc:
		return Form{Kind: GroupingForm}
	case *pg_query.Node_JsonIsPredicate:
		return Form{Kind: PredicateForm}
	case *pg_query.Node_XmlExpr:
		if n.XmlExpr.Op == pg_query.XmlExprOp_IS_DOCUMENT {
			return Form{Kind: PredicateForm}
		}
		return Form{Kind: XMLForm}
	}
	return Form{}
}

var (
	testWords = map[pg_query.BoolTestType]string{
		pg_query.BoolTestType_IS_TRUE: "IS TRUE", pg_query.BoolTestType_IS_NOT_TRUE: "IS NOT TRUE", pg_query.BoolTestType_IS_FALSE: "IS FALSE",
		pg_query.BoolTestType_IS_NOT_FALSE: "IS NOT FALSE", pg_query.BoolTestType_IS_UNKNOWN: "IS UNKNOWN", pg_query.BoolTestType_IS_NOT_UNKNOWN: "IS NOT UNKNOWN",
	}
	minMaxWords = map[pg_query.MinMaxOp]string{pg_query.MinMaxOp_IS_GREATEST: "GREATEST", pg_query.MinMaxOp_IS_LEAST: "LEAST"}
)

func constant(c *pg_query.A_Const) Form {
	f := Form{Kind: ConstantForm, Pos: int(c.Location)}
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		f.Type.Name, f.Text = "int4", strconv.Itoa(int(v.Ival.Ival))
	case *pg_query.A_Const_Fval:
		f.Type.Name, f.Text = "numeric", v.Fval.Fval
		if _, err := strconv.ParseInt(decimal(f.Text), 0, 64); err == nil {
			f.Type.Name = "int8"
		}
	case *pg_query.A_Const_Bsval:
		f.Type.Name, f.Text = "bit", v.Bsval.Bsval
	case *pg_query.A_Const_Boolval:
		f.Type.Name = "bool"
	case *pg_query.A_Const_Sval:
		f.Text = v.Sval.Sval
	}
	return f
}

// decimal is a number without zeros before it, which Go takes for octal.
func decimal(text string) string {
	if rest := strings.TrimLeft(text, "0_"); rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return rest
	}
	return text
}

// operationForm reads what stands for an operator; LIKE and its like are operators by other names.
func operationForm(x *pg_query.A_Expr) Form {
	f := Form{Kind: OperationForm, Pos: int(x.Location), Operator: operator(x.Name, x.Location)}
	if x.Lexpr != nil {
		f.Parts = append(f.Parts, Expr{x.Lexpr})
	}
	if items := x.Rexpr.GetList(); items != nil {
		f.Parts = append(f.Parts, exprs(items.Items)...)
	} else {
		f.Parts = append(f.Parts, Expr{x.Rexpr})
	}
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		f.Kind = AnyForm
	case pg_query.A_Expr_Kind_AEXPR_IN:
		f.Kind = ListForm
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		f.Kind = NullIfForm
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		f.Kind = DistinctForm
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		f.Kind = BetweenForm
	}
	return f
}

// Between takes x BETWEEN low AND high apart.
func (e Expr) Between() (x, low, high Expr, ok bool) {
	between := e.node.GetAExpr()
	if between == nil || between.Kind != pg_query.A_Expr_Kind_AEXPR_BETWEEN {
		return x, low, high, false
	}
	parts := operationForm(between).Parts
	return parts[0], parts[1], parts[2], true
}

// caseForm reads CASE. What stands behind ELSE comes first, as PostgreSQL takes it.
func caseForm(c *pg_query.CaseExpr) Form {
	f := Form{Kind: CaseForm, Word: "CASE", Pos: int(c.Location), Arg: Expr{c.Arg}}
	if c.Defresult != nil {
		f.Parts = append(f.Parts, Expr{c.Defresult})
	}
	for _, arm := range c.Args {
		when := arm.GetCaseWhen()
		f.Tested, f.Parts = append(f.Tested, Expr{when.Expr}), append(f.Parts, Expr{when.Result})
	}
	return f
}

// indirection is the last step of a selection of fields and elements. Subscripts that follow each other are one step, which several dimensions take.
func indirection(x *pg_query.A_Indirection) Form {
	steps, from := x.Indirection, len(x.Indirection)-1
	if from < 0 {
		return Form{Kind: SliceForm, Parts: []Expr{{x.Arg}}}
	}
	last := steps[from]
	for last.GetAIndices() != nil && from > 0 && steps[from-1].GetAIndices() != nil {
		from--
	}
	parts := []Expr{{x.Arg}}
	if from > 0 {
		parts = []Expr{{&pg_query.Node{Node: &pg_query.Node_AIndirection{AIndirection: &pg_query.A_Indirection{Arg: x.Arg, Indirection: steps[:from]}}}}}
	}
	if last.GetString_() != nil {
		return Form{Kind: FieldForm, Parts: parts, Field: last.GetString_().Sval}
	}
	kind := ElementForm
	for _, step := range steps[from:] {
		if step.GetAIndices() == nil || step.GetAIndices().IsSlice {
			kind = SliceForm
		}
		for _, bound := range []*pg_query.Node{step.GetAIndices().GetLidx(), step.GetAIndices().GetUidx()} {
			if bound != nil {
				parts = append(parts, Expr{bound})
			}
		}
	}
	return Form{Kind: kind, Parts: parts}
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
