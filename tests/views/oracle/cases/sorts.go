package cases

import (
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// sort is a kind of values: a type, and what is known of the values beyond it. Two sorts may have one type.
type sort struct {
	name   string
	sql    string   // the type
	weight int      // how often columns of tables are of it
	values []string // as COPY reads them, without escapes
	how    literal
	keys   bool // may be a key and a join column
	opaque bool // has no equality
}

// literal is how SQL writes a value.
type literal int

const (
	bare   literal = iota // 12
	quoted                // 'text', whose type follows from where it stands
	prefix                // date '2024-01-31'
	cast                  // '{1,2}'::int[]
)

// sorts are all there are. Small domains make for duplicates, matches and groups. Where values that are equal may look
// different (1.0 and 1.00), expressions.txt has no function of the sort that distinguishes them, as the result would hang on
// which of them a group happens to show.
var sorts = []*sort{
	{name: "int", sql: "integer", weight: 30, keys: true, how: bare, values: list("0 1 2 3 4 5 6 7 8 -3")},
	{name: "bigint", sql: "bigint", weight: 7, keys: true, how: bare, values: list("0 1 2 3 4 5 6 -7 4000000000")},
	{name: "smallint", sql: "smallint", weight: 3, keys: true, how: bare, values: list("0 1 2 3 4 5 -2")},
	{name: "numeric", sql: "numeric", weight: 6, how: bare, values: list("0 1 1.0 1.00 2.5 2.50 -1.5 10 0.125 99.99")},
	{name: "dec", sql: "numeric(8,2)", weight: 6, how: bare, values: list("0.00 1.00 2.50 -3.25 10.00 19.99 100.00 7.75")},
	{name: "scaled", sql: "numeric", weight: 5, how: bare, values: list("0 1 1.0 1.00000000000000000000 0.3 0.3333333333333333333333 -2.5 -2.500000000000000000 12 0.00")},
	{name: "text", sql: "text", weight: 14, keys: true, how: quoted, values: split(`a|b|c|ab|A|x-y|it's|ü| z|`)},
	{name: "nocase", sql: "text collate nocase", keys: true, how: quoted, values: split(`a|b|A|AB|ab|B|x-y|X-y||Ü|ü`)}, // with Options.Folded
	{name: "citext", sql: "citext", keys: true, how: cast, values: split(`a|b|A|AB|ab|B|x-y|X-y||Ü|ü`)},                // the same
	{name: "char", sql: "char(4)", weight: 4, how: quoted, values: list("a b ab abcd A")},
	{name: "bool", sql: "boolean", weight: 6, how: bare, values: list("true false")},
	{name: "date", sql: "date", weight: 4, keys: true, how: prefix, values: list("2023-12-31 2024-01-01 2024-02-29 2024-03-01 2024-07-15")},
	{name: "timestamp", sql: "timestamp", weight: 3, how: prefix, values: split("2024-01-01 00:00:00|2024-01-01 12:30:00|2024-02-29 23:59:59.5|2024-07-15 06:00:00")},
	{name: "timestamptz", sql: "timestamptz", weight: 3, how: prefix, values: split("2024-01-01 00:00:00+00|2024-01-01 02:00:00+02|2024-03-31 01:30:00+01|2024-07-15 06:00:00-07")},
	{name: "interval", sql: "interval", weight: 3, how: prefix, values: split("1 day|24:00:00|1 mon|30 days|02:00:00|-1 day")},
	{name: "jsonb", sql: "jsonb", weight: 4, how: cast, values: split(`{"k": "a", "n": 1}|{"n": 2, "t": ["x"]}|{"k": "b"}|[1, 2, "k"]|{}|{"k": null, "n": 3}`)},
	{name: "ints", sql: "integer[]", weight: 3, how: cast, values: split("{}|{1}|{1,2}|{2,1,1}|{3,NULL}")},
	{name: "texts", sql: "text[]", weight: 2, how: cast, values: split(`{}|{a}|{a,b}|{x-y,NULL}|{"it's"}`)},
	{name: "mood", sql: "mood", weight: 4, how: cast, values: list("sad ok happy")},
	{name: "posint", sql: "posint", weight: 3, how: cast, values: list("1 2 3 5 8")},
	{name: "uuid", sql: "uuid", weight: 2, keys: true, how: prefix, values: list("00000000-0000-0000-0000-000000000001 00000000-0000-0000-0000-000000000002 00000000-0000-0000-0000-00000000000a")},
	{name: "float8", sql: "float8", weight: 4, how: prefix, values: list("0 0.5 1.25 -2.125 100 -0 7.875")},
	{name: "bytea", sql: "bytea", weight: 1, how: cast, values: split(`\x|\x00|\x01ff`)},
	{name: "bits", sql: "bit(4)", weight: 2, how: cast, values: list("0000 0001 0101 1000 1111")},
	{name: "money", sql: "money", weight: 2, how: cast, values: list("0 1 2.50 -3.25 100")},
	{name: "point", sql: "point", weight: 1, how: cast, opaque: true, values: list("(0,0) (1,2) (-1,0.5)")},
	{name: "json", sql: "json", weight: 1, how: cast, opaque: true, values: split(`{"a": 1, "b": 2}|{"b":2,"a":1}|[1]`)},

	// Results of expressions only.
	{name: "ratio", sql: "numeric", how: bare},      // a quotient: its digits hang on how the operands are written
	{name: "bitset", sql: "bit", how: bare},         // of no fixed length, as the server says
	{name: "approx", sql: "float8", how: bare},      // rounded: a sum of such hangs on the order of its operands
	{name: "jsonv", sql: "jsonb", how: bare},        // a part of a document, of any kind
	{name: "record", sql: "record", how: bare},      // a row
	{name: "numerics", sql: "numeric[]", how: bare}, // an aggregate's
	{name: "floats", sql: "float8[]", how: bare},
	{name: "intervals", sql: "interval[]", how: bare},
}

// specials are values of two sorts that some cases have.
var specials = map[string][]string{"numeric": list("NaN Infinity -Infinity"), "scaled": list("NaN Infinity"), "float8": list("NaN Infinity -Infinity")}

func list(values string) []string  { return strings.Fields(values) }
func split(values string) []string { return strings.Split(values, "|") }

var sortsByName = func() map[string]*sort {
	byName := map[string]*sort{}
	for _, s := range sorts {
		byName[s.name] = s
	}
	return byName
}()

func sortOf(name string) *sort {
	s := sortsByName[name]
	if s == nil {
		panic("no sort " + name)
	}
	return s
}

// literal writes a value as SQL does.
func (s *sort) literal(value string) string {
	special := value == "NaN" || strings.HasSuffix(value, "Infinity")
	text := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	switch {
	case s.how == cast, s.how == bare && special:
		return text + "::" + s.sql
	case s.how == prefix:
		return s.sql + " " + text
	case s.how == bare && strings.HasPrefix(value, "-"):
		return "(" + value + ")"
	case s.how == bare:
		return value
	}
	return text
}

// typed writes a value so that its type is plain.
func (s *sort) typed(value string) string {
	if s.how == cast || s.how == prefix {
		return s.literal(value)
	}
	return s.literal(value) + "::" + s.sql
}

func (s *sort) null() string { return "null::" + s.sql }

var copyEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)

// copied writes a value as COPY reads it.
func (s *sort) copied(value string) string { return copyEscapes.Replace(value) }

// plain is the simplest literal of a sort: see tree.Reduce.
func plain(name string) *tree.Node {
	s := sortsByName[name]
	if s == nil || len(s.values) == 0 {
		return nil
	}
	return tree.Leaf(name, s.literal(s.values[min(1, len(s.values)-1)]))
}

// Plain is the simplest thing that may stand where a node of a sort does, nil if there is none.
func Plain(sort string) *tree.Node { return plain(sort) }

// Type is the SQL type of the expressions of a sort.
func Type(sort string) string { return sortOf(sort).sql }
