package typing

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// generator makes random queries. Most of what they call exists, for other types as often as not.
type generator struct {
	*rand.Rand
	columns   [][]string // name, type
	functions [][]string // name, types of the arguments
	operators [][]string // name, type of the left side, of the right
	types     []string
}

func newGenerator(t *testing.T, conn *pgx.Conn, random *rand.Rand) *generator {
	return &generator{
		Rand:    random,
		columns: pgtest.Rows(t, conn, `select attname, format_type(atttypid, null) from pg_attribute where attrelid = 'all_types'::regclass and attnum > 0 order by attnum`),
		functions: pgtest.Rows(t, conn, `
			select proname, coalesce((select string_agg(t::regtype::text, ',' order by n) from unnest(proargtypes) with ordinality u (t, n)), '')
			from pg_proc
			where prokind in ('f', 'a') and provolatile <> 'v' and not proretset and pronamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
			  and proname !~ '^(pg_|has_|_)' and not exists (select from pg_type t where t.oid = any (proargtypes || prorettype) and (t.typname in ('cstring', 'internal') or t.typname ~ '(trigger|_handler)$'))
			order by proname, proargtypes::text`),
		operators: pgtest.Rows(t, conn, `select oprname, oprleft::regtype::text, oprright::regtype::text from pg_operator where oprleft <> 0 order by oprname, oprleft, oprright`),
		types:     pgtest.Column[string](t, conn, `select distinct format_type(atttypid, null) from pg_attribute where attrelid = 'all_types'::regclass and attnum > 0 order by 1`),
	}
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) query() string {
	from := " from all_types"
	switch g.IntN(28) {
	case 0:
		return "select " + g.expr("", 2) + from + " " + pick(g, []string{"union", "union all", "intersect", "except"}) + " select " + g.expr("", 2) + from
	case 1:
		return "select " + g.expr("", 2) + " as x" + from + " where " + g.expr("boolean", 2)
	case 2:
		return "select distinct " + g.expr("", 2) + from
	case 3:
		return "select count(*)" + from + " group by " + pick(g, g.columns)[0]
	case 4:
		return "select x from (select " + g.expr("", 2) + " as x" + from + ") s, all_types where x = " + g.expr("", 1)
	case 5:
		return "select " + g.expr("", 1) + from + " where " + g.expr("", 1) + " in (select " + g.expr("", 1) + from + ")"
	case 6:
		return "select column1 from (values (" + g.expr("", 0) + "), (" + g.expr("", 0) + ")) v, all_types"
	case 7:
		return "select " + g.aggregate() + " as x" + from + " having " + g.aggregate() + " = " + g.aggregate()
	case 8:
		return "select " + g.aggregate() + " over (partition by " + g.expr("", 1) + " order by " + g.expr("", 1) + ") as x" + from
	case 9:
		c := pick(g, g.columns)[0]
		return "select " + c + ", " + g.aggregate() + " as x" + from + " group by " + c + " order by " + pick(g, []string{"1", "2", "x", c, "3", "count(*)"})
	case 10:
		return "select a." + pick(g, g.columns)[0] + " as x from all_types a join (select " + pick(g, g.columns)[0] + " as " + pick(g, g.columns)[0] + from + ") b using (" + pick(g, g.columns)[0] + ")"
	case 11:
		return "with w as (select " + g.expr("", 2) + " as x" + from + ") select x, " + pick(g, []string{"x + 1", "x || 'a'", "x::text", "coalesce(x, 0)", "x is null", "x[1]", "array[x]"}) + " as y from w"
	case 12:
		return "select f from all_types, lateral " + g.call(1) + " f"
	case 13:
		return "select (select " + g.expr("", 1) + from + " limit " + pick(g, []string{"1", "'1'", "1.5", "a_integer", "true"}) + ") as x, array(select " + g.expr("", 1) + from + ") as y, exists (select 1) as z"
	case 14:
		return "select " + g.expr("", 1) + " as x" + from + " order by " + g.expr("", 1)
	case 15:
		return "select distinct on (" + g.leaf("") + ") " + g.leaf("") + " as x" + from
	case 16:
		return "with recursive r(x) as (select " + g.expr("", 1) + from + " union all select " + pick(g, []string{"x", "x + 1", "null", "'1'"}) + " from r) select x from r"
	case 17:
		return "select s.x from (values (1, " + g.leaf("") + "), (2, " + g.leaf("") + ")) as s(n, x), all_types"
	case 18:
		return "select (" + g.leaf("") + ").a as x, (a_pair).b" + from
	}
	return "select " + g.expr("", 3) + " as x" + from
}

// aggregate is a call of an aggregate, with what may stand in it.
func (g *generator) aggregate() string {
	name := pick(g, []string{"sum", "avg", "min", "max", "count", "array_agg", "string_agg", "bool_and", "stddev", "jsonb_agg", "json_object_agg", "percentile_cont", "mode", "rank", "every", "range_agg", "bit_or"})
	switch g.IntN(8) {
	case 0:
		return name + "(distinct " + g.expr("", 1) + ")"
	case 1:
		return name + "(" + g.leaf("") + ", " + g.leaf("text") + " order by " + g.leaf("") + ")"
	case 2:
		return name + "(" + g.leaf("") + ") filter (where " + g.arg("boolean", 1) + ")"
	case 3:
		return name + "(" + g.leaf("double precision") + ") within group (order by " + g.leaf("") + ")"
	case 4:
		return name + "(" + g.leaf("") + ", " + g.leaf("") + ")"
	}
	return name + "(" + g.expr("", 1) + ")"
}

// expr is an expression, rather of the wanted type.
func (g *generator) expr(want string, depth int) string {
	if depth == 0 {
		return g.leaf(want)
	}
	switch g.IntN(16) {
	case 0, 1, 2, 3:
		return g.call(depth - 1)
	case 4, 5, 6:
		o := pick(g, g.operators)
		return "(" + g.arg(o[1], depth-1) + " " + o[0] + " " + g.arg(o[2], depth-1) + ")"
	case 7:
		return g.expr("", depth-1) + "::" + pick(g, g.types)
	case 8:
		return "case when " + g.arg("boolean", depth-1) + " then " + g.expr(want, depth-1) + " else " + g.expr(want, depth-1) + " end"
	case 9:
		return pick(g, []string{"coalesce", "greatest", "least", "nullif"}) + "(" + g.expr(want, depth-1) + ", " + g.expr(want, depth-1) + ")"
	case 10:
		return "array[" + g.expr("", depth-1) + ", " + g.expr("", depth-1) + "]"
	case 11:
		return g.condition(depth - 1)
	case 12:
		return "(" + g.leaf("") + ")[" + g.leaf("integer") + "]"
	}
	return g.leaf(want)
}

func (g *generator) condition(depth int) string {
	value := g.expr("", depth)
	switch g.IntN(6) {
	case 0:
		return value + " in (" + g.expr("", depth) + ", " + g.expr("", depth) + ", " + g.expr("", depth) + ")"
	case 1:
		return value + " between " + g.expr("", depth) + " and " + g.expr("", depth)
	case 2:
		return value + " = any (" + g.expr("", depth) + ")"
	case 3:
		return value + " is distinct from " + g.expr("", depth)
	case 4:
		return "(" + value + " is null or " + g.arg("boolean", depth) + ")"
	}
	return "not " + g.arg("boolean", depth)
}

// call is a call of a function, often with the arguments that one of its name takes.
func (g *generator) call(depth int) string {
	f := pick(g, g.functions)
	var args []string
	if f[1] != "" {
		for _, typ := range strings.Split(f[1], ",") {
			args = append(args, g.arg(typ, depth))
		}
	}
	if g.IntN(20) == 0 {
		args = append(args, g.leaf(""))
	}
	return fmt.Sprintf("%s(%s)", ident(f[0]), strings.Join(args, ", "))
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

func (g *generator) arg(typ string, depth int) string {
	if g.IntN(6) == 0 {
		return g.expr("", depth)
	}
	if depth > 0 && g.IntN(3) == 0 {
		return g.expr(typ, depth)
	}
	return g.leaf(typ)
}

// literals are constants; what type they take follows from where they stand.
var literals = []string{"null", "1", "2000000000000", "1.5", "true", "''", "'x'", "'1'", "'1.5'", "'{}'", "'{1,2}'", "'2024-02-30'", "'2024-01-31'", "'[1,2)'", "'sad'", "'t'", "B'101'",
	"date '2024-01-01'", "interval '1 day'", "'1 day'", "array[1, 2]", "row(1, 'a')", "current_date", "'{\"a\": 1}'", "'12:30'", "'99999999999'"}

func (g *generator) leaf(want string) string {
	if want == "" || g.IntN(5) == 0 {
		if g.IntN(3) == 0 {
			return pick(g, literals)
		}
		return pick(g, g.columns)[0]
	}
	var fitting []string
	for _, c := range g.columns {
		if c[1] == want || strings.HasPrefix(want, `"any`) || want == "anyarray" && strings.HasSuffix(c[1], "[]") {
			fitting = append(fitting, c[0])
		}
	}
	if len(fitting) == 0 || g.IntN(6) == 0 {
		if g.IntN(2) == 0 {
			return pick(g, literals)
		}
		return pick(g, g.columns)[0]
	}
	return pick(g, fitting)
}
