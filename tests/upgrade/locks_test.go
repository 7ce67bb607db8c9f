package upgrade

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestLocksMeetNoDeadlock: sessions that read things that an upgrade renames, in other orders and slower than the server looks for deadlocks, all
// go on, and so does the upgrade when they have ended.
func TestLocksMeetNoDeadlock(t *testing.T) {
	pgtest.Parallel(t)
	versions := generated(t, "renames/*.yaml", 5)
	db := at(t, versions[0])
	reads := [][2]string{ // what is locked last, and what is before
		{"pgtrickle.letters_dlq", "pgtrickle.outbox_shop_events"}, {"pgtrickle.outbox_order_totals", "pgtrickle.payments"},
	}
	read := func(reader *pgtest.Session, from string) {
		if said := reader.Run(t.Context(), "select from "+from+" limit 1"); strings.Contains(said, "ERROR") {
			t.Errorf("reading %s: %s", from, said)
		}
	}
	var readers []*pgtest.Session
	for _, pair := range reads {
		reader := pgtest.OpenSession(t, db.DSN(), "reader")
		reader.Run(t.Context(), "begin")
		read(reader, pair[0])
		readers = append(readers, reader)
	}

	progress := &commandtest.Progress{DSN: db.DSN(), Log: func(format string, args ...any) {
		if strings.Contains(format, "trying again") {
			t.Errorf(format, args...)
		}
	}}
	options := commandtest.ApplyOptions{Released: manifests(versions), LockTimeout: time.Minute, Retry: 2 * time.Minute, Progress: progress}
	var upgrading sync.WaitGroup
	upgrading.Go(func() { apply(t, db, versions[1], options) })
	watch := db.Connect(t)
	const waits = "select exists (select from pg_stat_activity where application_name <> 'reader' and wait_event_type = 'Lock' and datname = current_database())"
	pgtest.UntilTrue(t, watch, waits)
	time.Sleep(1500 * time.Millisecond) // longer than deadlock_timeout: the session that closes a cycle from now on is ended
	for n, pair := range reads {
		read(readers[n], pair[1])
	}
	for _, reader := range readers {
		reader.Run(t.Context(), "commit")
	}
	upgrading.Wait()
}

// TestLocksFirst: what an upgrade locks against writers or readers, it locks in its first step, which releases all locks if one cannot be acquired. While
// it waits for a later lock it holds all others, and sessions that lock the same tables in another order meet a deadlock.
func TestLocksFirst(t *testing.T) {
	versions := history(t)
	for _, pair := range somePairs(t, later(len(versions)), 3, 1) {
		from, to := versions[pair[0]], versions[pair[1]]
		t.Run(from.Version+" to "+to.Version, func(t *testing.T) {
			t.Parallel() // all on one server, where each version is installed once
			db := at(t, from).Connect(t)
			w := &world{db: db}
			w.use(t)
			exec(t, db, "create temporary table before as select c.oid, c.relkind, c.oid::regclass::text as name, coalesce(i.indrelid, t.oid, d.refobjid) as of from pg_class c left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i' left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.reltoastrelid = c.oid")
			exec(t, db, "begin")
			plan, err := artifact.Upgrade(from.Manifest(), to.Manifest(), false)
			if err != nil {
				t.Fatal(err)
			}
			exec(t, db, "set local check_function_bodies = off")
			if plan.Steps[0].Action == "lock" {
				exec(t, db, plan.Steps[0].SQL)
			}
			exec(t, db, "create temporary table first as "+strongLocks)
			exec(t, db, artifact.UpgradeScript(from.Manifest(), to.Manifest(), plan))
			for _, late := range pgtest.Column[string](t, db, lateLocks) {
				t.Error("locked late: " + late)
			}
			exec(t, db, "rollback")
		})
	}
}

// TestRolesOfNewNames: where an inbox or outbox has roles of its own, renaming, adding or removing one changes rights, and no policy of a table that all
// of them share, which the upgrade would have to lock.
func TestRolesOfNewNames(t *testing.T) {
	versions := generated(t, "renames/*.yaml", 5)[:4]
	for _, from := range versions {
		for _, to := range versions {
			plan, err := artifact.Upgrade(from.Manifest(), to.Manifest(), false)
			if err != nil {
				t.Fatal(err)
			}
			if rights := strings.Contains(plan.Script(), "pgt_rights"); rights != (from != to) {
				t.Errorf("%s to %s: rights change: %t", from.Version, to.Version, rights)
			}
			for _, step := range plan.Steps {
				// The tables of an inbox with tenants have policies, too, and are locked to be renamed.
				ofInbox := !slices.ContainsFunc(from.Manifest().Objects, func(o upgrade.Object) bool { return o.ID() == step.Object })
				if strings.HasPrefix(step.Object, upgrade.Policy+" ") && !ofInbox {
					t.Errorf("%s to %s: %s: %s", from.Version, to.Version, step.Action, step.Object)
				}
			}
		}
	}
}

// strongLocks are the session's locks on relations that were there before, without those that others do not meet.
const strongLocks = `
select l.relation, max(l.mode) filter (where l.mode = 'AccessExclusiveLock') is not null as from_all
from pg_locks l
join before b on b.oid = l.relation
where l.pid = pg_backend_pid() and l.locktype = 'relation' and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
group by l.relation`

const lateLocks = `
with now as (` + strongLocks + `)
select concat_ws(' ', b.relkind, b.name, case when n.from_all then 'against all' else 'against writers' end)
from now n
join before b on b.oid = n.relation
where not exists (select from first f where f.relation in (b.oid, b.of) and f.from_all >= n.from_all) -- who uses an index has its table first
  and not exists (select from now p where p.relation = b.of and p.from_all)
  and b.name <> 'pgtrickle_internal.pgt_version_history' -- which only upgrades write
order by 1`
