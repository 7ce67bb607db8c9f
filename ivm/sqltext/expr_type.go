package sqltext

import (
	"regexp"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// numbers are the types of exact numbers, each fitting into the next.
var numbers = []string{"smallint", "integer", "bigint", "numeric"}

// IsNumber reports whether a type is one of exact numbers, and whether it has values that are none: NaN and infinities.
func IsNumber(typ string) (is, hasSpecial bool) {
	typ, _, _ = strings.Cut(typ, "(")
	return slices.Contains(numbers, typ), typ == "numeric"
}

// IsString reports whether a type is of characters, which a collation compares.
func IsString(typ string) bool {
	typ, _, _ = strings.Cut(typ, "(")
	return slices.Contains([]string{"text", "character varying", "character"}, typ)
}

// incomparable are types without equality, or with one by which different values are equal.
var incomparable = []string{
	"json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle", "jsonpath", "refcursor", "pg_snapshot", "txid_snapshot",
	UnknownRow,
}

// UnknownRow stands for the type of rows whose columns only the server knows. They are compared by their text.
const UnknownRow = "row of unknown columns"

// Record is the type of a row that no type was given to. No table can have a column of it.
const Record = "record"

// IsComparable reports whether values of a type can be grouped. A type that is not known is taken to be like that.
func IsComparable(typ string) bool {
	return !slices.Contains(incomparable, strings.TrimRight(typ, "[]"))
}

// common are types whose equality every server has, whatever its search path.
var common = []string{
	"smallint", "integer", "bigint", "numeric", "real", "double precision", "text", "character varying", "boolean", "date", "uuid", "timestamp without time zone",
	"timestamp with time zone", "interval", "jsonb", "bytea",
}

// IsCommon reports whether values of a type can be compared without knowing more of it.
func IsCommon(typ string) bool {
	typ, _, _ = strings.Cut(typ, "(")
	return slices.Contains(common, typ)
}

// exact are types of which equal values are the same in all that can be seen of them. Strings are where their collation is deterministic.
var exact = []string{
	"smallint", "integer", "bigint", "oid", "boolean", "uuid", "bytea", "text", "character varying", "character", "name", "\"char\"", "money",
	"date", "time without time zone", "time with time zone", "timestamp without time zone", "timestamp with time zone", "bit", "bit varying",
	"inet", "cidr", "macaddr", "macaddr8", "int4range", "int8range", "daterange", "tsrange", "tstzrange",
}

// lengths are what types may say of the length of their values.
var lengths = regexp.MustCompile(`\([^)]*\)`)

// IsExact reports whether equal values of a type are the same. Of others 1.0 and 1.00 may be equal, 0 and -0, 30 days and one month, a and A.
func IsExact(typ string) bool {
	typ = strings.TrimRight(typ, "[]")
	plain := lengths.ReplaceAllString(typ, "")
	return slices.Contains(exact, plain) || plain == "numeric" && plain != typ // with a scale
}

// Least is the least of the images that an aggregate finds of equal values, as a value: whichever rows of a group come first, it is the same one.
func Least(column, typ string) string {
	if strings.HasSuffix(typ, "[]") { // of which array_agg makes an array of more dimensions
		return "min(" + Image(column) + ")::" + typ
	}
	return "(array_agg(" + column + " order by " + Image(column) + "))[1]"
}

// Unsized is a type without what it says of the length of its values, as messages of PostgreSQL name it.
func Unsized(typ string) string { return lengths.ReplaceAllString(typ, "") }

// IsBuiltin reports whether a type, or that of the elements of an array, is one of PostgreSQL's.
func IsBuiltin(typ string) bool {
	typ = strings.TrimRight(Unsized(typ), "[]")
	return slices.Contains(common, typ) || slices.Contains(exact, typ) || slices.Contains(incomparable, typ)
}

// Image is what tells equal values of a column apart that are not the same.
func Image(column string) string { return column + `::text collate "C"` }

// Unlike is the condition that two values of a type are not the same. Comparing images takes no text to be made, but types that not every
// server has may keep more in theirs than can be seen.
func Unlike(a, b, typ string) string {
	if IsCommon(typ) {
		return "record_image_ne(row(" + a + "), row(" + b + "))"
	}
	return Image(a) + " is distinct from " + Image(b)
}

// Grouped is a column of equal rows that are added up, and what to group them by: where values of the type have no equality, their images,
// and where equal ones may differ, those too.
func Grouped(alias, name, typ string, comparable, varied bool) (column, key string) {
	column = alias + "." + Ident(name)
	switch {
	case !comparable && strings.HasSuffix(typ, "[]"): // of which array_agg makes an array of more dimensions
		return column + "::text::" + typ, column + "::text"
	case !comparable:
		return "(array_agg(" + column + "))[1]", column + "::text"
	case varied:
		return column, column + ", " + Image(column)
	}
	return column, column
}

// Types tells the types of what stands in expressions; "" where it does not know.
type Types struct {
	Column   func(id int) string
	Function func(schema, name string, args int) string // that DDL makes; may be nil
	Named    func(schema, name string) string           // a type that DDL makes, as Column spells it; may be nil
}

// Type tells the type of an expression as far as following it needs to know: exact numbers, types that cannot be compared or hashed, those that
// DDL makes, and Record; "" for others and where only the server knows.
func (e Expr) Type(types Types) string {
	if id, ok := e.Column(); ok {
		return types.Column(id)
	}
	of := func(n *pg_query.Node) string { return Expr{n}.Type(types) }
	switch n := e.node.GetNode().(type) {
	case *pg_query.Node_AConst:
		return typeOfConstant(n.AConst)
	case *pg_query.Node_TypeCast:
		return typeOfCast(n.TypeCast.TypeName, types)
	case *pg_query.Node_AArrayExpr:
		if typ := widest(n.AArrayExpr.Elements, of); typ != "" {
			return typ + "[]"
		}
		return ""
	case *pg_query.Node_AExpr:
		return operation(n.AExpr, of)
	case *pg_query.Node_CoalesceExpr:
		return widest(n.CoalesceExpr.Args, of)
	case *pg_query.Node_MinMaxExpr:
		return widest(n.MinMaxExpr.Args, of)
	case *pg_query.Node_CaseExpr:
		return widest(results(n.CaseExpr), of)
	case *pg_query.Node_FuncCall:
		if types.Function != nil {
			schema, name := qualified(n.FuncCall.Funcname)
			if typ := types.Function(schema, name, len(n.FuncCall.Args)); typ != "" {
				return typ
			}
		}
		return typeOfCall(n.FuncCall, of)
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_BooleanTest:
		return "boolean"
	case *pg_query.Node_RowExpr:
		return Record
	case *pg_query.Node_XmlExpr:
		if n.XmlExpr.Op != pg_query.XmlExprOp_IS_DOCUMENT {
			return "xml"
		}
	}
	return ""
}

// typeOfCast is the type that a cast names.
func typeOfCast(to *pg_query.TypeName, types Types) string {
	schema, name := qualified(to.Names)
	typ := named(name)
	if made := ""; types.Named != nil {
		if made = types.Named(schema, name); made != "" {
			typ = made
		}
	}
	if len(to.ArrayBounds) > 0 && typ != "" {
		return typ + "[]"
	}
	return typ
}

// named is the type that a name stands for.
func named(name string) string {
	switch name {
	case "smallint", "int2":
		return "smallint"
	case "integer", "int", "int4":
		return "integer"
	case "bigint", "int8":
		return "bigint"
	case "numeric", "decimal":
		return "numeric"
	case "varchar":
		return "character varying"
	case "float8":
		return "double precision"
	case "float4":
		return "real"
	case "bool":
		return "boolean"
	case "timestamp":
		return "timestamp without time zone"
	case "timestamptz":
		return "timestamp with time zone"
	case "text", "date", "uuid", "boolean", "jsonb", "interval", "bytea", "real":
		return name
	}
	if slices.Contains(incomparable, name) || !isHashable(name) {
		return name
	}
	if name == "varbit" {
		return "bit varying"
	}
	return ""
}

func typeOfConstant(c *pg_query.A_Const) string {
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Ival:
		return "integer"
	case *pg_query.A_Const_Fval:
		if digits := v.Fval.Fval; len(digits) < 19 && !strings.ContainsAny(digits, ".eE") {
			return "bigint"
		}
		return "numeric"
	case *pg_query.A_Const_Bsval:
		return "bit"
	}
	return ""
}

// operation is the type of arithmetic, which stays among exact numbers.
func operation(x *pg_query.A_Expr, of func(*pg_query.Node) string) string {
	op := operator(x.Name, x.Location)
	if isCondition(x.Kind, op) {
		return "boolean"
	}
	if op.Name == "->" || op.Name == "#>" { // of json, json; of jsonb, jsonb
		return of(x.Lexpr)
	}
	if x.Kind == pg_query.A_Expr_Kind_AEXPR_OP && slices.Contains([]string{"&", "|", "#", "~", "<<", ">>", "||", "&&", "!!", "<->"}, op.Name) {
		return eitherUnhashable(x, of)
	}
	if x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || op.Schema != "" || !slices.Contains([]string{"+", "-", "*", "/", "%"}, op.Name) {
		return ""
	}
	if x.Lexpr == nil {
		return of(x.Rexpr)
	}
	return widest([]*pg_query.Node{x.Lexpr, x.Rexpr}, of)
}

// isCondition reports whether an operation yields a boolean, as all do that SQL has a syntax for, and comparisons.
func isCondition(kind pg_query.A_Expr_Kind, op Operator) bool {
	switch kind {
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return false
	case pg_query.A_Expr_Kind_AEXPR_OP:
		return op.Schema == "" && slices.Contains([]string{"=", "<>", "!=", "<", "<=", ">", ">="}, op.Name)
	}
	return true
}

// eitherUnhashable is the type of an operation on a value that cannot be hashed, which makes another one; "" for other operations.
func eitherUnhashable(x *pg_query.A_Expr, of func(*pg_query.Node) string) string {
	for _, n := range []*pg_query.Node{x.Lexpr, x.Rexpr} {
		if n == nil {
			continue
		}
		if typ := Unsized(of(n)); !isHashable(typ) {
			return typ
		}
	}
	return ""
}

// widest is the type that all alternatives are brought to; a bare null takes any.
func widest(nodes []*pg_query.Node, of func(*pg_query.Node) string) string {
	widest := -1
	for _, n := range nodes {
		if n.GetAConst().GetIsnull() {
			continue
		}
		typ, _, _ := strings.Cut(of(n), "(")
		if !IsComparable(typ) || !isHashable(typ) {
			return typ
		}
		at := slices.Index(numbers, typ)
		if at < 0 {
			return ""
		}
		widest = max(widest, at)
	}
	if widest < 0 {
		return ""
	}
	return numbers[widest]
}

// typeOfCall knows functions that nothing in a user's schema can stand before.
func typeOfCall(f *pg_query.FuncCall, of func(*pg_query.Node) string) string {
	schema, name := qualified(f.Funcname)
	if schema != "" && schema != "pg_catalog" {
		return ""
	}
	if typ := TypeOfFunction(name); typ != "" || len(f.Args) == 0 {
		return typ
	}
	switch arg, _, _ := strings.Cut(of(f.Args[0]), "("); name {
	case "lag", "lead", "first_value", "last_value", "nth_value", "any_value", "abs", "min", "max", "bit_and", "bit_or", "bit_xor", "overlay", "set_bit", "array_append", "array_cat", "array_remove", "array_replace", "trim_array":
		return arg
	case "array_agg":
		if arg != "" && !strings.HasSuffix(arg, "[]") {
			arg += "[]"
		}
		return arg
	case "sum":
		return sums[arg]
	case "avg":
		return averages[arg]
	case "substring":
		if !isHashable(arg) {
			return arg
		}
	case "round", "trunc", "ceil", "ceiling", "floor":
		if arg == "numeric" {
			return arg
		}
	}
	return ""
}

// sums and averages are the types of sum and avg by that of what they add up.
var (
	sums = map[string]string{
		"smallint": "bigint", "integer": "bigint", "bigint": "numeric", "numeric": "numeric", "real": "real", "double precision": "double precision",
		"money": "money", "interval": "interval",
	}
	averages = map[string]string{
		"smallint": "numeric", "integer": "numeric", "bigint": "numeric", "numeric": "numeric", "real": "double precision", "double precision": "double precision",
		"interval": "interval",
	}
)

// unhashable are PostgreSQL's own types that can be grouped and not hashed.
var unhashable = []string{"bit", "bit varying", "money", "tsvector", "tsquery"}

func isHashable(typ string) bool { return !slices.Contains(unhashable, typ) }

// TypeOfFunction is the type of a built-in function whose results are arrays or cannot be compared or not hashed, and of count; "" for others.
func TypeOfFunction(name string) string {
	switch name {
	case "json_agg", "json_object_agg", "json_build_object", "json_build_array", "to_json", "row_to_json", "array_to_json", "json_object",
		"json_strip_nulls", "json_extract_path", "json_agg_strict", "json_object_agg_strict", "json_object_agg_unique":
		return "json"
	case "xmlagg", "xmlcomment":
		return "xml"
	case "point", "line", "lseg", "box", "path", "polygon", "circle", "center":
		return "point"
	case "count":
		return "bigint"
	case "string_to_array", "regexp_split_to_array", "regexp_match", "tsvector_to_array":
		return "text[]"
	case "array_positions":
		return "integer[]"
	case "to_tsvector", "array_to_tsvector", "json_to_tsvector", "jsonb_to_tsvector", "setweight", "strip", "ts_delete", "ts_filter":
		return "tsvector"
	case "to_tsquery", "plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery", "tsquery_phrase", "ts_rewrite":
		return "tsquery"
	}
	return ""
}

// ParseExpr parses one expression and binds each name in it that is one of columns.
func ParseExpr(text string, columns map[string]int) (Expr, error) {
	q, err := ParseQuery("select " + text)
	if err != nil {
		return Expr{}, err
	}
	if problem := Unprintable(q); problem != nil {
		return Expr{}, problem
	}
	return q.(*Select).Targets[0].Expr.Map(func(e Expr) (Expr, bool) {
		ref, ok := e.Ref()
		if !ok || len(ref.Parts) != 1 {
			return Expr{}, false
		}
		id, ok := columns[ref.Parts[0]]
		return Column(id), ok
	}), nil
}

// IsLoose reports whether a condition needs parentheses before AND is put beside it.
func IsLoose(cond string) bool {
	tree, err := pg_query.Parse("select " + cond)
	if err != nil {
		return true
	}
	targets := tree.Stmts[0].Stmt.GetSelectStmt().GetTargetList()
	return len(targets) != 1 || targets[0].GetResTarget().GetVal().GetBoolExpr().GetBoolop() == pg_query.BoolExprType_OR_EXPR
}
