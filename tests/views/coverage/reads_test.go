package coverage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// few is how many rows the tables have, and eight times as many in the other database.
const few = 1500

// noise is how many tuples more a change may read where tables are large, beside twice as many.
const noise = 60

// tuples is how many tuples of tables, also of Sluice's own, statements have read in a transaction.
const tuples = `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint from pg_stat_xact_all_tables
where schemaname <> all ('{pg_catalog,pg_toast,information_schema}')`

// stored lists the tables with the rows and the states of a stream table, which autovacuum analyzes in the first minute.
const stored = `select string_agg(format('%I.%I', schemaname, tablename), ', ') from pg_tables
where schemaname = 'immediate__internal' and tablename ~ '_(rows|state[0-9]+)$'`

// reading is a change of a source of a construct, in a mode.
type reading struct {
	number, change int
	mode, source   string
}

// counted are the tuples that were read.
type counted map[reading]int64

// TestReads changes single rows of tables with few rows and with eight times as many. Where explain says that the work follows the changed rows, what they match,
// or their groups, as many tuples are read in both. In mode immediate it takes a third
// of the constructs, by SLUICE_TEST_SEED, and all with SLUICE_TEST_LONG.
func TestReads(t *testing.T) {
	f := constructs(t)
	f.constructs = slices.DeleteFunc(f.constructs, func(c *construct) bool { return len(c.bounded()) == 0 })
	counts := map[int]counted{}
	t.Run("sizes", func(t *testing.T) {
		for _, n := range []int{few, 8 * few} {
			counts[n] = counted{}
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				pgtest.Parallel(t)
				f.reads(t, n, counts[n])
			})
		}
	})
	small, large := counts[few], counts[8*few]
	for _, r := range slices.SortedFunc(maps.Keys(small), func(a, b reading) int {
		return cmp.Or(a.number-b.number, strings.Compare(a.mode+a.source, b.mode+b.source), a.change-b.change)
	}) {
		if c := f.constructs[r.number]; large[r] > 2*small[r]+noise {
			t.Errorf("%s, mode %s, %s: %d tuples are read, and %d with eight times the rows: %s", c.name, r.mode, c.cost(), small[r], large[r], single(r.source, few)[r.change])
		}
	}
	t.Logf("%d changes of %d constructs", len(small), len(f.constructs))
}

// bounded are the sources whose changes do not read the whole of a table.
func (c *construct) bounded() (sources []string) {
	if c.followed() {
		for _, cost := range c.plan.Costs {
			if cost.Class != ivm.CostWhole {
				sources = append(sources, cost.Table.Name)
			}
		}
	}
	return sources
}

// reads counts what single-row changes read of tables with n rows. Differential stream tables are all there, immediate ones one by one, as they would all count.
func (f *file) reads(t *testing.T, n int, counts counted) {
	db := pgtest.DB(t)
	db.Exec(t, f.schema+fill(n))
	f.index(t, db)
	db.Exec(t, "analyze")
	for number, c := range f.constructs {
		if !c.followedIn(spec.RefreshImmediate) || !pgtest.Chosen(number, 8) { // each is installed by itself
			continue
		}
		conn := db.Connect(t)
		exec(t, conn, "begin;"+f.script(t, spec.RefreshImmediate, c))
		exec(t, conn, "analyze "+pgtest.One[string](t, conn, stored))
		counts.add(t, conn, c, reading{number: number, mode: spec.RefreshImmediate}, n, func(sql string) int64 {
			return tuplesOf(t, conn, sql)
		})
		exec(t, conn, "rollback")
		conn.Close(t.Context())
	}
	chosen := func(number int) bool { return pgtest.Chosen(number, 3) }
	f.install(t, db, spec.RefreshDifferential, chosen)
	db.Exec(t, "analyze")
	for number, c := range f.constructs {
		if !chosen(number) {
			continue
		}
		conn := db.Connect(t)
		exec(t, conn, "begin")
		counts.add(t, conn, c, reading{number: number, mode: spec.RefreshDifferential}, n, func(sql string) int64 {
			exec(t, conn, sql)
			return tuplesOf(t, conn, fmt.Sprintf("select from differential_.refresh_stream_table('differential_.%s')", c.view()))
		})
		conn.Close(t.Context())
	}
}

// add makes each single-row change of the sources of a construct, and takes it back.
func (all counted) add(t *testing.T, conn *pgx.Conn, c *construct, r reading, n int, count func(sql string) int64) {
	t.Helper()
	ctid := pgtest.One[string](t, conn, fmt.Sprintf("select ctid::text from events where n = %d limit 1", n/4))
	for _, r.source = range c.bounded() {
		for i, sql := range single(r.source, n) {
			r.change = i
			exec(t, conn, "savepoint s")
			all[r] = count(strings.ReplaceAll(sql, "$ctid", ctid))
			exec(t, conn, "rollback to s; release s")
		}
	}
}

// tuplesOf is how many tuples a statement reads.
func tuplesOf(t *testing.T, conn *pgx.Conn, sql string) int64 {
	t.Helper()
	before := pgtest.One[int64](t, conn, tuples)
	exec(t, conn, sql)
	return pgtest.One[int64](t, conn, tuples) - before
}

// script installs one construct within a transaction.
func (f *file) script(t *testing.T, mode string, c *construct) string {
	t.Helper()
	s, errs := f.spec(t, mode+"_", mode, c)
	if !errs.Empty() {
		t.Fatal(errs)
	}
	e, errs := generator.Generate(s)
	if !errs.Empty() {
		t.Fatal(errs)
	}
	return e.Install(generator.Plain)
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
}
