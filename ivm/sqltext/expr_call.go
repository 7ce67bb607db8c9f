package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Call is a call of a function, an aggregate or a window function, those with a syntax of their own such as EXTRACT among them.
type Call struct {
	Pos          int
	Schema, Name string
	Args         []Expr
	Named        bool     // an argument is given by name
	Names        []string // of the arguments, "" of those given by position; nil if none is Named
	Star         bool     // count(*)
	Distinct     bool
	Variadic     bool
	WithinGroup  bool
	Order        []SortItem // of the arguments, or of WITHIN GROUP
	Filter       Expr
	Over         *Window // nil if it is no window function call
}

// Window is what a window function call or an item of the WINDOW clause says.
type Window struct {
	Pos       int
	Name      string // of the item of the WINDOW clause, or in OVER name
	Base      string // the window that it extends
	Partition []Expr
	Order     []SortItem
	Frame     string // SQL, "" for the default
	Bounds    []Expr // the offsets in the frame

	def *pg_query.WindowDef
}

// SortItem is one item of an ORDER BY.
type SortItem struct {
	Expr  Expr
	Desc  bool
	Using Operator // USING operator
	Nulls Nulls
}

// Nulls says where nulls sort.
type Nulls string

// Where nulls sort; without a word they sort as larger than all others.
const (
	NullsLarge Nulls = ""
	NullsFirst Nulls = "first"
	NullsLast  Nulls = "last"
)

// Operator is an operator by name; Schema is empty unless it is written as OPERATOR(schema.name).
type Operator struct {
	Pos          int
	Schema, Name string
}

// Subquery is a query within an expression.
type Subquery struct {
	Pos      int
	Kind     SubqueryKind
	Test     Expr     // of Any and All: what stands before the operator
	Operator Operator // of Any and All; that of IN is =
	Query    Query
}

// SubqueryKind says how an expression uses a query.
type SubqueryKind string

// The uses of a query in an expression.
const (
	Exists    SubqueryKind = "exists"
	Any       SubqueryKind = "any" // IN too
	All       SubqueryKind = "all"
	Scalar    SubqueryKind = "scalar"
	Array     SubqueryKind = "array"
	JSONArray SubqueryKind = "json_array"
)

// Call returns the call that the expression is. COALESCE, GREATEST, NULLIF, XML and JSON constructors are no calls; JSON_OBJECTAGG and
// JSON_ARRAYAGG are.
func (e Expr) Call() (Call, bool) {
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_FuncCall:
		return functionCall(n.FuncCall), true
	case *pg_query.Node_JsonObjectAgg:
		pair := n.JsonObjectAgg.Arg
		return jsonAggregate("json_objectagg", n.JsonObjectAgg.Constructor, Expr{pair.Key}, Expr{pair.Value.RawExpr}), true
	case *pg_query.Node_JsonArrayAgg:
		return jsonAggregate("json_arrayagg", n.JsonArrayAgg.Constructor, Expr{n.JsonArrayAgg.Arg.RawExpr}), true
	}
	return Call{}, false
}

func functionCall(f *pg_query.FuncCall) Call {
	c := Call{
		Pos: int(f.Location), Star: f.AggStar, Distinct: f.AggDistinct, Variadic: f.FuncVariadic, WithinGroup: f.AggWithinGroup,
		Order: sortItems(f.AggOrder), Filter: Expr{f.AggFilter}, Over: window(f.Over),
	}
	c.Schema, c.Name = qualified(f.Funcname)
	for _, arg := range f.Args {
		if named := arg.GetNamedArgExpr(); named != nil {
			for !c.Named && len(c.Names) < len(c.Args) {
				c.Names = append(c.Names, "")
			}
			c.Named, c.Names = true, append(c.Names, named.Name)
			arg = named.Arg
		}
		c.Args = append(c.Args, Expr{arg})
	}
	return c
}

func jsonAggregate(name string, j *pg_query.JsonAggConstructor, args ...Expr) Call {
	return Call{
		Pos: int(j.Location), Schema: "pg_catalog", Name: name, Args: args,
		Order: sortItems(j.AggOrder), Filter: Expr{j.AggFilter}, Over: window(j.Over),
	}
}

var subqueryKinds = map[pg_query.SubLinkType]SubqueryKind{
	pg_query.SubLinkType_EXISTS_SUBLINK: Exists,
	pg_query.SubLinkType_ANY_SUBLINK:    Any,
	pg_query.SubLinkType_ALL_SUBLINK:    All,
	pg_query.SubLinkType_EXPR_SUBLINK:   Scalar,
	pg_query.SubLinkType_ARRAY_SUBLINK:  Array,
}

// Subquery returns the subquery that the expression is. Each call builds its Query again.
func (e Expr) Subquery() (Subquery, bool) {
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_SubLink:
		s := n.SubLink
		sub := Subquery{Pos: int(s.Location), Kind: subqueryKinds[s.SubLinkType], Test: Expr{s.Testexpr}, Query: query(s.Subselect.GetSelectStmt())}
		if sub.Kind == Any || sub.Kind == All {
			sub.Operator = operator(s.OperName, s.Location)
		}
		return sub, true
	case *pg_query.Node_JsonArrayQueryConstructor:
		j := n.JsonArrayQueryConstructor
		return Subquery{Pos: int(j.Location), Kind: JSONArray, Query: query(j.Query.GetSelectStmt())}, true
	}
	return Subquery{}, false
}

// SubqueryID tells the query of a subquery from others; copies of the expression have the same.
func (e Expr) SubqueryID() any {
	if j := e.node.GetJsonArrayQueryConstructor(); j != nil {
		return j.Query
	}
	return e.node.GetSubLink().GetSubselect()
}

// SQL prints the item as ORDER BY wants it.
func (s SortItem) SQL() string { return s.Over(s.Expr.SQL()) }

// Over prints the item with another expression.
func (s SortItem) Over(sql string) string {
	if s.Using.Name != "" {
		sql += " using " + s.Using.SQL()
	}
	if s.Desc {
		sql += " desc"
	}
	if s.Nulls != NullsLarge {
		sql += " nulls " + string(s.Nulls)
	}
	return sql
}

// SQL prints the operator as an expression wants it.
func (o Operator) SQL() string {
	if o.Schema == "" {
		return o.Name
	}
	return "operator(" + Ident(o.Schema) + "." + o.Name + ")"
}

func window(w *pg_query.WindowDef) *Window {
	if w == nil {
		return nil
	}
	out := &Window{
		Pos: int(w.Location), Name: w.Name, Base: w.Refname,
		Partition: exprs(w.PartitionClause), Order: sortItems(w.OrderClause), Frame: frameSQL(w), def: w,
	}
	for _, bound := range []*pg_query.Node{w.StartOffset, w.EndOffset} {
		if bound != nil {
			out.Bounds = append(out.Bounds, Expr{bound})
		}
	}
	return out
}

func sortItems(nodes []*pg_query.Node) []SortItem {
	var all []SortItem
	for _, n := range nodes {
		all = append(all, sortItem(n.GetSortBy()))
	}
	return all
}

func sortItem(s *pg_query.SortBy) SortItem {
	item := SortItem{Expr: Expr{s.Node}}
	switch s.SortbyDir {
	case pg_query.SortByDir_SORTBY_DESC:
		item.Desc = true
	case pg_query.SortByDir_SORTBY_USING:
		item.Using = operator(s.UseOp, s.Location)
	}
	switch s.SortbyNulls {
	case pg_query.SortByNulls_SORTBY_NULLS_FIRST:
		item.Nulls = NullsFirst
	case pg_query.SortByNulls_SORTBY_NULLS_LAST:
		item.Nulls = NullsLast
	}
	return item
}

// operator reads the name of an operator; IN has none, and means =.
func operator(names []*pg_query.Node, at int32) Operator {
	if len(names) == 0 {
		return Operator{Pos: int(at), Name: "="}
	}
	schema, name := qualified(names)
	return Operator{Pos: int(at), Schema: schema, Name: name}
}

func qualified(names []*pg_query.Node) (schema, name string) {
	parts := Strings(names)
	return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
}

func dotted(names []*pg_query.Node) string {
	parts := Strings(names)
	for i, part := range parts {
		parts[i] = Ident(part)
	}
	return strings.Join(parts, ".")
}
