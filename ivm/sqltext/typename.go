package sqltext

import (
	"fmt"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Type is the name of a type as a script writes it, unquoted. Types of PostgreSQL itself have no schema and their inner name, int4 for
// integer, where the script uses one of the standard's names.
type Type struct {
	Pos          int
	Schema, Name string
	Modifier     string // such as 12,2
	Array        bool
	Set          bool // SETOF, of what a function returns
}

// IsZero reports whether there is no type.
func (t Type) IsZero() bool { return t.Name == "" }

// standardTypes are the types that format_type spells otherwise than their name; %s is the modifier with its parentheses.
var standardTypes = map[string]string{
	"bit": "bit%s", "bool": "boolean%s", "bpchar": "character%s", "float4": "real%s", "float8": "double precision%s",
	"int2": "smallint%s", "int4": "integer%s", "int8": "bigint%s", "interval": "interval%s", "numeric": "numeric%s",
	"time": "time%s without time zone", "timetz": "time%s with time zone", "timestamp": "timestamp%s without time zone",
	"timestamptz": "timestamp%s with time zone", "varbit": "bit varying%s", "varchar": "character varying%s",
}

// standard reports whether format_type spells the type otherwise than its name.
func (t Type) standard() bool {
	_, ok := standardTypes[t.Name]
	return ok && t.Schema == ""
}

// SQL returns the type as format_type spells it and DDL can use it.
func (t Type) SQL() string {
	modifier := t.Modifier
	if modifier != "" && (t.Name != "interval" || modifier[0] >= '0' && modifier[0] <= '9') {
		modifier = "(" + modifier + ")"
	} else if modifier != "" {
		modifier = " " + modifier
	}
	text := Ident(t.Name) + modifier
	switch {
	case t.standard() && t.Name == "bpchar" && modifier == "":
		text = "bpchar"
	case t.standard():
		text = fmt.Sprintf(standardTypes[t.Name], modifier)
	case t.Schema != "":
		text = Ident(t.Schema) + "." + text
	}
	if t.Array {
		text += "[]"
	}
	return text
}

// TypeOf reads a type; nil is the zero type.
func TypeOf(n *pg_query.TypeName) Type {
	if n == nil {
		return Type{}
	}
	names := Strings(n.Names)
	t := Type{Pos: max(int(n.Location), 0), Name: names[len(names)-1], Array: len(n.ArrayBounds) > 0, Set: n.Setof}
	if len(names) > 1 {
		t.Schema = names[len(names)-2]
	}
	if t.Schema == "pg_catalog" {
		t.Schema = ""
	}
	if t.standard() && t.Name == "interval" {
		t.Modifier = intervalModifier(n.Typmods)
	} else {
		t.Modifier = modifiers(n.Typmods)
	}
	return t
}

// modifiers spells the arguments of a type: numbers, and names or strings for types of extensions.
func modifiers(nodes []*pg_query.Node) string {
	var list []string
	for _, n := range nodes {
		switch c := n.GetAConst(); {
		case c == nil:
			list = append(list, strings.Join(identifiers(n.GetColumnRef().GetFields()), "."))
		case c.GetSval() != nil:
			list = append(list, Literal(c.GetSval().Sval))
		case c.GetFval() != nil:
			list = append(list, c.GetFval().Fval)
		default:
			list = append(list, strconv.Itoa(int(c.GetIval().GetIval())))
		}
	}
	return strings.Join(list, ",")
}

func identifiers(nodes []*pg_query.Node) []string {
	names := Strings(nodes)
	for i, n := range names {
		names[i] = Ident(n)
	}
	return names
}

// intervalFields are the fields of an interval by the number that stands for them.
var intervalFields = map[int32]string{
	1 << 2: "year", 1 << 1: "month", 1 << 3: "day", 1 << 10: "hour", 1 << 11: "minute", 1 << 12: "second",
	1<<2 | 1<<1: "year to month", 1<<3 | 1<<10: "day to hour", 1<<3 | 1<<10 | 1<<11: "day to minute",
	1<<3 | 1<<10 | 1<<11 | 1<<12: "day to second", 1<<10 | 1<<11: "hour to minute", 1<<10 | 1<<11 | 1<<12: "hour to second",
	1<<11 | 1<<12: "minute to second",
}

// intervalModifier spells the fields and the precision of an interval.
func intervalModifier(nodes []*pg_query.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	text := intervalFields[nodes[0].GetAConst().GetIval().GetIval()]
	if len(nodes) == 1 {
		return text
	}
	precision := strconv.Itoa(int(nodes[1].GetAConst().GetIval().GetIval()))
	if text == "" {
		return precision
	}
	return text + "(" + precision + ")"
}
