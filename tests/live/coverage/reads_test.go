package coverage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// few is how many rows the tables have, and eight times as many in the other database.
const few = 2000

// noise is how many tuples more a change may read where tables are large, beside twice as many.
const noise = 60

// read is how many tuples of tables, also of Sluice's own, statements have read in a transaction.
const tuples = `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint from pg_stat_xact_all_tables
where schemaname <> all ('{pg_catalog,pg_toast,information_schema}')`

// counted are the tuples that changes of a source made to be read.
type counted map[string]int64

// TestReads changes single rows of tables with few rows and with eight times as many. Where explain says that the work follows the changed rows, what they match,
// or their groups, as many tuples are read in both.
func TestReads(t *testing.T) {
	f := constructs(t)
	for _, mode := range modes {
		small, large := f.reads(t, mode, few), f.reads(t, mode, 8*few)
		for _, c := range f.constructs {
			if !c.followed() {
				continue
			}
			for _, cost := range c.plan.Costs {
				for _, change := range single(cost.Table.Name, few) {
					_ = change
				}
				for n := range single(cost.Table.Name, few) {
					key := fmt.Sprintf("%s %s %d", c.name, cost.Table.Name, n)
					grows := large[key] > 2*small[key]+noise
					if grows != (cost.Class == ivm.CostWhole) {
						t.Errorf("mode %s: %s: %s: %s: %d tuples are read, and %d with eight times the rows", mode, c.name, cost.Class, single(cost.Table.Name, few)[n], small[key], large[key])
					}
				}
			}
		}
	}
}

// reads counts what single-row changes read of tables with n rows.
func (f *file) reads(t *testing.T, mode string, n int) counted {
	t.Helper()
	db := pgtest.DB(t)
	db.Exec(t, f.schema+fill(n))
	f.index(t, db)
	db.Exec(t, "create index on events (n); create index on events (kind); analyze")
	counts := counted{}
	if mode == spec.RefreshDifferential {
		all := f.install(t, db, mode)
		db.Exec(t, "analyze")
		for _, c := range all {
			conn := db.Connect(t)
			f.change(t, conn, c, n, func(sql string) int64 {
				exec(t, conn, sql)
				before := pgtest.One[int64](t, conn, tuples)
				exec(t, conn, fmt.Sprintf("select from differential_.refresh_stream_table('differential_.%s')", c.view()))
				return pgtest.One[int64](t, conn, tuples) - before
			}, counts)
			conn.Close(t.Context())
		}
		return counts
	}
	for _, c := range f.constructs {
		if !c.followed() {
			continue
		}
		conn := db.Connect(t)
		exec(t, conn, "begin;"+f.script(t, mode, c))
		exec(t, conn, fmt.Sprintf("analyze immediate__internal.immediate__%s_rows", c.view()))
		f.change(t, conn, c, n, func(sql string) int64 {
			before := pgtest.One[int64](t, conn, tuples)
			exec(t, conn, sql)
			return pgtest.One[int64](t, conn, tuples) - before
		}, counts)
		conn.Close(t.Context())
	}
	return counts
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

// change makes each single-row change of the sources of a construct, and takes it back.
func (f *file) change(t *testing.T, conn *pgx.Conn, c *construct, n int, count func(sql string) int64, counts counted) {
	t.Helper()
	ctid := pgtest.One[string](t, conn, fmt.Sprintf("select ctid::text from events where n = %d limit 1", n/4))
	for _, cost := range c.plan.Costs {
		for i, sql := range single(cost.Table.Name, n) {
			exec(t, conn, "begin; savepoint s")
			counts[fmt.Sprintf("%s %s %d", c.name, cost.Table.Name, i)] = count(strings.ReplaceAll(sql, "$ctid", ctid))
			exec(t, conn, "rollback to s")
		}
	}
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
}

var _ = slices.Contains[[]int]
