package upgrade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestDataSurvives goes through a stretch of the history, or the whole, with data in everything, and traffic before each step: messages and their counts, events,
// what groups hold, have committed and given up, and rows of outboxes are kept; each stream table equals its query right after the upgrade.
func TestDataSurvives(t *testing.T) {
	pgtest.Parallel(t)
	versions := stretch(t, history(t), 4, 5)
	released := manifests(versions)
	db := at(t, versions[0])
	w := &world{db: db.Connect(t)}
	for n, e := range versions[1:] {
		w.use(t)
		before := w.survey(t)
		apply(t, db, e, commandtest.ApplyOptions{Released: released, Loss: true})
		equalQueries(t, w.db, e.Version)
		changed := changedBetween(versions[n], e)
		kept(t, e.Version, before, w.survey(t), changed.gone)
		w.goesOn(t, e.Version, changed)
	}
	w.use(t)
	equalQueries(t, w.db, "the last version")
}

// changes are what an upgrade takes away by the specs: names of inboxes, outboxes and groups that the second does not have, and of groups whose
// outbox keeps another order.
type changes struct {
	removed, reordered []string
	unwired            bool // no inbox has a wire format any more
}

func changedBetween(from, to *generator.Extension) changes {
	var c changes
	c.unwired = !slices.ContainsFunc(to.Manifest().Objects, func(o upgrade.Object) bool { return o.Signature == quarantine })
	stays := map[string]bool{}
	for _, m := range to.Manifest().Made {
		stays[m.ID()] = true
	}
	asked := map[string]bool{}
	for _, m := range to.Manifest().Made {
		asked[m.ID()] = m.Definition != "" // of outboxes
	}
	orders := map[string]bool{}
	for _, m := range from.Manifest().Made {
		switch name, outbox, _ := strings.Cut(m.Name, " of "); {
		case m.Kind == "order of outbox" && !stays[m.ID()]:
			name, _, _ := strings.Cut(m.Name, " by ")
			orders[name] = true
		case m.Kind == "counts of inbox" && !stays[m.ID()], m.Kind == "state of outbox" && !stays[m.ID()]:
			c.removed = append(c.removed, m.Name)
		case m.Kind == "outbox" && (!stays[m.ID()] || !asked[m.ID()]):
			c.removed = append(c.removed, m.Name)
		case m.Kind == "consumer group" && !stays[m.ID()]:
			c.removed = append(c.removed, name)
		case m.Kind == "consumer group" && orders[outbox]:
			c.reordered = append(c.reordered, name)
		}
	}
	return c
}

func (c changes) gone(what string) bool {
	kind, name, _ := strings.Cut(what, " ")
	if kind == "quarantine" && c.unwired {
		return true
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "letters "), "rows ")
	name = strings.TrimPrefix(name, "of ")
	return slices.Contains(c.removed, name) || slices.Contains(c.reordered, name) && (kind == "leases" || kind == "stand")
}

// goesOn shows that groups go on where they were: holders commit what they hold, and the rest comes once.
func (w *world) goesOn(t *testing.T, version string, changed changes) {
	t.Helper()
	for _, group := range w.groups(t) {
		held, was := w.held[group]
		if !was || slices.Contains(changed.removed, group) {
			continue
		}
		if slices.Contains(changed.reordered, group) || held == 0 {
			var pg *pgconn.PgError
			if _, err := w.db.Exec(t.Context(), "select pgtrickle.commit_offset($1, $2, 1000000)", group, w.holder); !errors.As(err, &pg) || pg.Code != "55000" { // what it had comes again
				t.Errorf("%s: the holder of group %s, which has no lease, commits: %v", version, group, err)
			}
		} else if got := pgtest.One[int64](t, w.db, "select pgtrickle.commit_offset($1, $2, 1000000)", group, w.holder); got != held {
			t.Errorf("%s: the holder of group %s commits %d, want %d", version, group, got, held)
		}
		if lag := w.drain(t, group); lag != 0 {
			t.Errorf("%s: group %s is %d behind", version, group, lag)
		}
	}
}

// drain consumes all that a group has not, and returns what is left.
func (w *world) drain(t *testing.T, group string) int64 {
	t.Helper()
	for n := range 100 {
		name := fmt.Sprint("drain ", w.rounds, n)
		if pgtest.One[int64](t, w.db, "select coalesce((select pgtrickle.commit_offset($1, $2, max(p.id)) from pgtrickle.poll_outbox($1, $2, 1000) p having count(*) > 0), 0)", group, name) == 0 {
			break
		}
	}
	return pgtest.One[int64](t, w.db, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = $1", group)
}

func refreshAll(t *testing.T, db *pgx.Conn) {
	t.Helper()
	if pgtest.One[bool](t, db, "select to_regclass('pgtrickle.pgt_stream_tables') is null") {
		return
	}
	for _, name := range pgtest.Column[string](t, db, "select stream_table from pgtrickle_internal.pgt_stream_table_config order by refresh_order") {
		exec(t, db, "select pgtrickle.refresh_stream_table($1)", name)
	}
}

// equalQueries compares all stream tables with their queries.
func equalQueries(t *testing.T, db *pgx.Conn, version string) {
	t.Helper()
	if pgtest.One[bool](t, db, "select to_regclass('pgtrickle.pgt_stream_tables') is null") {
		return
	}
	for _, row := range pgtest.Rows(t, db, "select format('%I.%I', pgt_schema, pgt_name), query from pgtrickle.pgt_stream_tables") {
		exec(t, db, "set search_path = public, pgtrickle")
		differ := pgtest.Column[string](t, db, fmt.Sprintf("select d::text from ((select 'is there' as what, * from %[1]s except all select 'is there', q.* from (%[2]s) q) union all (select 'is missing', q.* from (%[2]s) q except all select 'is missing', * from %[1]s)) d", row[0], row[1]))
		exec(t, db, "reset search_path")
		if len(differ) > 0 {
			t.Errorf("%s: %d rows of %s differ from its query: %q\n%s", version, len(differ), row[0], differ, strings.Join(pgtest.Column[string](t, db, `
				(select to_jsonb(h)::text from pgtrickle.pgt_refresh_history h where h.stream_table = $1 order by h.started_at desc limit 12)
				union all
				select jsonb_build_array(to_jsonb(c), to_jsonb(s))::text
				from pgtrickle_internal.pgt_stream_table_config c join pgtrickle_internal.pgt_stream_table_state s using (stream_table)
				where c.stream_table = $1`, row[0]), "\n"))
		}
	}
}
