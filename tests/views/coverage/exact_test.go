package coverage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// every chooses all examples.
func every(int) bool { return true }

// install applies the examples that a mode is for, of those that are chosen by their numbers, as an extension of the mode's name.
func (f *file) install(t *testing.T, db *pgtest.Database, mode string, chosen func(number int) bool) []*construct {
	t.Helper()
	some := slices.DeleteFunc(slices.Clone(f.constructs), func(c *construct) bool {
		return !chosen(slices.Index(f.constructs, c)) || c.plan == nil || !c.followedIn(mode) && (mode != spec.RefreshFull || c.followed())
	})
	s, errs := f.spec(t, mode+"_", mode, some...)
	if !errs.Empty() {
		t.Fatal(errs)
	}
	e, errs := generator.Generate(s)
	if !errs.Empty() {
		t.Fatal(errs)
	}
	db.Exec(t, e.Install(generator.Plain))
	db.Exec(t, fmt.Sprintf("call %s__internal.pgt_fill()", mode))
	if mode == spec.RefreshAtCommit {
		db.Exec(t, fmt.Sprintf("call %s_.tick()", mode)) // commits maintain them from now on
	}
	return some
}

// index makes the indexes that explain asks for.
func (f *file) index(t *testing.T, db *pgtest.Database) {
	t.Helper()
	made := map[string]bool{}
	for _, c := range f.constructs {
		if !c.followed() {
			continue
		}
		for _, i := range ivm.Wanted(c.plan.Costs) {
			quoted := make([]string, len(i.Columns))
			for n, column := range i.Columns {
				quoted[n] = pgx.Identifier{column}.Sanitize()
			}
			sql := fmt.Sprintf("create index on %s (%s)", i.Table.SQLName(), strings.Join(quoted, ", "))
			if !made[sql] {
				db.Exec(t, sql)
			}
			made[sql] = true
		}
	}
}

// TestExact installs all examples at once in each mode, in the short run each in one or two of them, and those that are recomputed, changes the tables and compares each with its query.
func TestExact(t *testing.T) {
	f, db := constructs(t), pgtest.DB(t)
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	rounds := pgtest.ShortOrLong(2, 200)
	db.Exec(t, f.schema+fill(40))
	compared := &comparison{t: t, conn: db.Connect(t), wrong: map[string]bool{}}
	for n, mode := range []string{spec.RefreshDifferential, spec.RefreshImmediate, spec.RefreshAtCommit, spec.RefreshFull} {
		compared.add(mode, f.install(t, db, mode, func(number int) bool { return pgtest.Chosen(number+n, 2) }))
	}
	compared.all("filled")
	random, failed := rand.New(rand.NewPCG(seed, 1)), 0
	for n := range rounds {
		exec(t, compared.conn, "begin")
		said := ""
		for range 1 + random.IntN(8) { // several changes that meet in one refresh
			sql := changes(random)
			said += sql + ";\n"
			exec(t, compared.conn, "savepoint s")
			if _, err := compared.conn.Exec(t.Context(), sql); err != nil {
				failed++
				said += "-- " + pgtest.ErrorText(err) + "\n"
				exec(t, compared.conn, "rollback to s")
			}
		}
		compared.refresh()
		compared.all(fmt.Sprintf("seed %d, round %d\n%s", seed, n+1, said))
		exec(t, compared.conn, []string{"commit", "rollback"}[random.IntN(2)])
	}
	if failed > 3*rounds {
		t.Errorf("%d statements failed", failed)
	}
}

// comparison compares stream tables with their queries.
type comparison struct {
	t     *testing.T
	conn  *pgx.Conn
	views []shown
	wrong map[string]bool
}

type shown struct {
	mode, relation string
	*construct
}

func (c *comparison) add(mode string, some []*construct) {
	for _, s := range some {
		c.views = append(c.views, shown{mode, mode + "_." + s.view(), s})
	}
}

// refresh brings all up to date; what happens at the commit does so now.
func (c *comparison) refresh() {
	exec(c.t, c.conn, "set constraints all immediate; set constraints all deferred")
	batch := &pgx.Batch{}
	for _, v := range c.views {
		if v.mode == spec.RefreshDifferential || v.mode == spec.RefreshFull {
			batch.Queue(fmt.Sprintf("select mode from %s_.refresh_stream_table('%s')", v.mode, v.relation)).QueryRow(func(row pgx.Row) error {
				var mode string
				if err := row.Scan(&mode); err != nil {
					return fmt.Errorf("%s: %w", v.name, err)
				}
				if v.mode == spec.RefreshDifferential && mode == spec.RefreshFull { // it found itself wrong
					c.t.Errorf("%s was recomputed", v.name)
				}
				return nil
			})
		}
	}
	if err := c.conn.SendBatch(c.t.Context(), batch).Close(); err != nil {
		c.t.Fatal(pgtest.ErrorText(err))
	}
}

func (c *comparison) all(when string) {
	c.t.Helper()
	batch := &pgx.Batch{}
	for _, v := range c.views {
		batch.Queue(fmt.Sprintf(`with query_ as materialized (select q::text as row from (%s) q), kept_ as materialized (select k::text as row from %s k)
select 'missing ' || m.row from (table query_ except all table kept_) m union all select 'surplus ' || s.row from (table kept_ except all table query_) s limit 6`, v.query, v.relation)).Query(func(rows pgx.Rows) error {
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if len(lines) > 0 && !c.wrong[v.relation] {
				c.wrong[v.relation] = true
				c.t.Errorf("%s, mode %s, %s%q", v.name, v.mode, when, lines)
			}
			return err
		})
	}
	if err := c.conn.SendBatch(c.t.Context(), batch).Close(); err != nil {
		c.t.Fatal(pgtest.ErrorText(err))
	}
}
