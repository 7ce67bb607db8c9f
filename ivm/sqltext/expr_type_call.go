package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

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
