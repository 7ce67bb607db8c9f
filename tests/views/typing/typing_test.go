// Package typing compares the types that Sluice finds for random expressions, and the errors, with those of a server.
//
//	go test ./tests/views/typing
//	SLUICE_TEST_CASES=200000 SLUICE_TEST_SEED=7 go test ./tests/views/typing
package typing

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const schema = `
create type mood as enum ('sad', 'ok', 'happy');
create type pair as (a integer, b text);
create domain positive as integer check (value > 0);
create domain word as text;
create domain numbers as integer[];
create function twice(n integer) returns integer language sql immutable as 'select n * 2';
create function twice(t text) returns text language sql immutable as 'select t || t';
create function first_of(a anyarray) returns anyelement language sql immutable as 'select a[1]';
create function with_default(a integer, b text default 'x') returns text language sql immutable as 'select b';
create function all_of(variadic a numeric[]) returns numeric language sql immutable as 'select a[1]';
create table all_types (
    a_smallint smallint, a_integer integer, a_bigint bigint, a_numeric numeric(10, 2), a_real real, a_double double precision, a_money money,
    a_text text, a_varchar varchar(10), a_char char(3), a_name name,
    a_boolean boolean, a_date date, a_time time, a_timetz timetz, a_timestamp timestamp, a_timestamptz timestamptz, an_interval interval,
    a_uuid uuid, a_bytea bytea, a_json json, a_jsonb jsonb, an_xml xml, an_inet inet, a_cidr cidr, a_macaddr macaddr, a_bit bit(4), a_varbit varbit,
    a_point point, a_box box, a_circle circle, a_tsvector tsvector, a_tsquery tsquery, an_oid oid, a_regclass regclass,
    a_range int4range, a_daterange daterange, a_multirange int4multirange, a_mood mood, a_pair pair, a_positive positive, a_word word, some_numbers numbers,
    integers integer[], texts text[], numerics numeric[], dates date[], moods mood[], varchars varchar[], jsons json[], pairs pair[]
);
`

// TestTypes: what the server accepts has the types that it says, and what it refuses for its types is refused at the same place.
func TestTypes(t *testing.T) {
	seed, cases := number("SLUICE_TEST_SEED", 1), number("SLUICE_TEST_CASES", pgtest.ShortOrLong(2000, 6000))
	known, conn := withSchema(t)
	g := newGenerator(t, conn, rand.New(rand.NewPCG(uint64(seed), 0)))
	tally := map[string]int{}
	for range cases {
		query := g.query()
		if problem := compare(conn, known, query, tally); problem != "" {
			t.Errorf("%s\n%s", query, problem)
		}
		if tally["wrong"] > 20 {
			t.Fatal("and so on")
		}
	}
	t.Logf("seed %d: %v", seed, tally)
	if tally["missed"]*50 > tally["refused"] {
		t.Errorf("%d errors of the server are missed, more than one of fifty", tally["missed"])
	}
}

func number(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

// aboutTypes are the errors of a server that follow from types.
var aboutTypes = []string{
	"42883", // undefined_function
	"42804", // datatype_mismatch
	"42846", // cannot_coerce
	"42725", // ambiguous_function
	"42704", // undefined_object
	"42809", // wrong_object_type
}

// compare says what differs.
func compare(conn *pgx.Conn, known *catalog.Catalog, query string, tally map[string]int) string {
	types, refused := ofServer(conn, query)
	outputs, problems, ok := ofSluice(known, query)
	if !ok {
		tally["not parsed"]++
		return ""
	}
	wrong := func(message string) string {
		tally["wrong"]++
		return message
	}
	switch {
	case refused == nil && problems != "":
		return wrong("the server accepts it:\n" + problems)
	case refused == nil:
		for i, output := range outputs {
			if output.Type == "" {
				tally["type not known"]++
			} else if known.BaseType(output.Type) != types[i] {
				return wrong("type " + output.Type + " of column " + output.Name + ", " + types[i] + " by the server")
			}
		}
		tally["accepted"]++
	case !slices.Contains(aboutTypes, refused.Code):
		tally["other error "+refused.Code]++
	case problems == "":
		if tally["missed"]++; os.Getenv("SLUICE_TEST_MISSED") != "" {
			return query + "\nmissed: " + refused.Message
		}
	case !strings.Contains(problems, ":"+strconv.Itoa(int(refused.Position))+": "):
		tally["elsewhere"]++
		if os.Getenv("SLUICE_TEST_MISSED") != "" {
			return "elsewhere: " + refused.Message + " at " + strconv.Itoa(int(refused.Position)) + "\n" + problems
		}
	default:
		tally["refused"]++
	}
	return ""
}

// ofServer are the types of a query's columns, or the error that the server has.
func ofServer(conn *pgx.Conn, query string) ([]string, *pgconn.PgError) {
	ctx := context.Background()
	described, err := conn.PgConn().Prepare(ctx, "", query, nil)
	if err != nil {
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			return nil, refused
		}
		return nil, &pgconn.PgError{Code: err.Error()}
	}
	var types []string
	for _, field := range described.Fields {
		types = append(types, typeName(conn, field.DataTypeOID))
	}
	return types, nil
}

var typeNames = map[uint32]string{}

func typeName(conn *pgx.Conn, oid uint32) string {
	if typeNames[oid] == "" {
		var name string
		err := conn.QueryRow(context.Background(), `select case when typnamespace = 'public'::regnamespace then 'public.' else '' end || format_type(oid, null) from pg_type where oid = $1`, oid).Scan(&name)
		if err != nil {
			name = err.Error()
		}
		typeNames[oid] = name
	}
	return typeNames[oid]
}

// ofSluice are the columns of a query, and what is wrong with its types.
func ofSluice(known *catalog.Catalog, query string) (outputs []resolve.Output, problems string, ok bool) {
	errs := &diag.List{}
	errs.AddSource("q", query)
	q, err := sqltext.ParseQuery(query)
	if err != nil {
		return nil, "", false
	}
	result := resolve.Query(q, query, diag.WholeFile("q", query).Pos, known, &algebra.Columns{}, errs)
	for _, e := range errs.Errors() {
		if !slices.Contains([]string{"volatile", "not-a-view", "grouping"}, e.Code) {
			problems += e.Error() + "\n"
		}
	}
	return result.Output, problems, true
}
