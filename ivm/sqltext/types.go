package sqltext

import (
	"regexp"
	"slices"
	"strings"
)

// numbers are the types of exact numbers, each fitting into the next.
var numbers = []string{"smallint", "integer", "bigint", "numeric"}

// IsNumber reports whether a type is one of exact numbers, and whether it has values that are none: NaN and infinities.
func IsNumber(typ string) (is, hasSpecial bool) {
	typ, _, _ = strings.Cut(typ, "(")
	return slices.Contains(numbers, typ), typ == "numeric"
}

// IsFloat reports whether a type is of floating-point numbers, whose sums are rounded.
func IsFloat(typ string) bool { return typ == "real" || typ == "double precision" }

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
// sorted: groups by the type can be sorted, as an aggregate with ORDER BY needs.
func Least(column, typ string, sorted bool) string {
	if !sorted || strings.HasSuffix(typ, "[]") { // of which array_agg makes an array of more dimensions
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

// Image is the expression by which equal values of a column that are not the same differ.
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
