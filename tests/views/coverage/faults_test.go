package coverage

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// planted are faults in the SQL that follows changes: what of a construct's function is replaced, once.
var planted = []struct{ construct, fault, what, by string }{
	{"EXISTS", "sign", `-(\w+)\.__mult as __mult`, "$1.__mult as __mult"},
	{"NOT EXISTS", "anti in place of semi", `where not exists \(select from public`, "where exists (select from public"},
	{"NOT EXISTS", "matches as they are in place of as they were", `not exists \(select from d\d+`, "not exists (select from public.orders d0 where d0.customer = d0.customer) and not exists (select from d1"},
	{"LEFT JOIN, RIGHT JOIN", "no preserved side", `null::\w+ as order_id`, "0 as order_id"},
	{"LEFT JOIN, RIGHT JOIN", "condition of the join in place of one of the test", `o\.amount > 10`, "o.amount > 12"},
	{"FULL JOIN", "sign", `-(\w+)\.__mult as __mult`, "$1.__mult as __mult"},
	{"JOIN … ON, USING, NATURAL", "term twice", `-\((\w+\.__mult \* \w+\.__mult)\) as __mult|-\w+\.__mult \* \w+\.__mult as __mult`, "0 as __mult"},
	{"count, sum, avg", "rows in place of multiplicities", `sum\(\w+\.__mult\) as __n`, "count(*) as __n"},
	{"stddev, variance", "null keys", `where e\.kind is null`, "where false and e.kind is null"},
	{"row_number, rank, percent_rank, ntile", "changes as they are", `, -\w+\.__mult as __mult`, ", 0 as __mult"},
	{"windows over rows that repeat", "duplicates", `join generate_series\(1, b\.__mult\) n on n\.n = abs\(n\.n\)`, ""},
	{"groups of DISTINCT ON", "null keys", `where e\.n is null`, "where false and e.n is null"},
	{"with the first rows", "one row more", `__place <= \(2\)`, "__place <= (3)"},
	{"INTERSECT ALL, EXCEPT ALL", "duplicates", `generate_series\(1, [^)]*\)`, "generate_series(1, 1)"},
	{"set operations of joins", "another side", `filter \(where d\.__count1_if\)`, "filter (where d.__count2_if)"},
	{"tables without a key, duplicates", "copies that are not counted", `set __mult = f\.__was \+ f\.__mult`, "set __mult = f.__mult"},
	{"nested tests", "what is added up is not", `(?s)(delta as materialized.*?)having sum\(d\.__mult\) <> 0`, "${1}having sum(d.__mult) > 0"},
}

// TestFaults plants each fault, and looks whether what TestExact does finds it.
func TestFaults(t *testing.T) {
	f, db := constructs(t), pgtest.DB(t)
	f.constructs = slices.DeleteFunc(f.constructs, func(c *construct) bool {
		return !slices.ContainsFunc(planted, func(p struct{ construct, fault, what, by string }) bool { return p.construct == c.name })
	})
	db.Exec(t, f.schema+fill(40))
	f.install(t, db, spec.RefreshDifferential, every)
	conn := db.Connect(t)
	for _, p := range planted {
		t.Run(p.construct+": "+p.fault, func(t *testing.T) {
			at := slices.IndexFunc(f.constructs, func(c *construct) bool { return c.name == p.construct })
			if at < 0 {
				t.Fatal("there is no such construct")
			}
			c := f.constructs[at]
			right := pgtest.One[string](t, conn, "select pg_get_functiondef(oid) from pg_proc where proname ~ $1", "(^|_)"+c.view()+"_apply$")
			found := regexp.MustCompile(p.what).FindStringSubmatchIndex(right)
			if found == nil {
				t.Fatalf("%s is not in\n%s", p.what, right)
			}
			wrong := right[:found[0]] + string(regexp.MustCompile(p.what).ExpandString(nil, p.by, right, found)) + right[found[1]:]
			exec(t, conn, "begin;"+wrong)
			defer exec(t, conn, "rollback")
			if !differs(t, conn, c) {
				t.Error("not found")
			}
		})
	}
}

// differs changes tables until a stream table fails, or differs from its query. It does not last.
func differs(t *testing.T, conn *pgx.Conn, c *construct) bool {
	random := rand.New(rand.NewPCG(0, uint64(c.number)))
	for range 200 { // with 60, a sign of EXISTS was not found in some orders of the file
		exec(t, conn, "savepoint round")
		for range 2 + random.IntN(8) { // several changes that meet in one refresh
			exec(t, conn, "savepoint s")
			if _, err := conn.Exec(t.Context(), changes(random)); err != nil {
				exec(t, conn, "rollback to s")
			}
		}
		exec(t, conn, "savepoint s")
		name := "differential_." + c.view()
		var mode string // a refresh that finds itself wrong recomputes
		if err := conn.QueryRow(t.Context(), fmt.Sprintf("select mode from differential_.refresh_stream_table('%s')", name)).Scan(&mode); err != nil {
			exec(t, conn, "rollback to s")
			return true
		}
		if mode == spec.RefreshFull {
			return true
		}
		if pgtest.One[bool](t, conn, fmt.Sprintf(`select exists (
(select q::text from (%[1]s) q except all select k::text from %[2]s k) union all (select k::text from %[2]s k except all select q::text from (%[1]s) q))`, c.query, name)) {
			return true
		}
		exec(t, conn, "rollback to round")
	}
	return false
}
