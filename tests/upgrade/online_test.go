package upgrade

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const (
	shown  = "select format('%s rows, %s', count(*), max(to_jsonb(s)::text)) from pgtrickle.silent s"
	oldRow = `{"id": 99, "amount": 99}`
)

// TestOnline: a stream table of another definition is filled beside the old rows. Who reads them goes on, however long that takes, and the
// new ones are shown when nobody does; also where another version comes before that.
func TestOnline(t *testing.T) {
	pgtest.Parallel(t)
	versions := []*generator.Extension{
		versionWith(t, 0, "true", "id, amount"), versionWith(t, 1, "{on_column_change: full_refresh}", "id, status"),
		versionWith(t, 2, "{on_column_change: full_refresh}", "id, customer_id"),
	}
	back := versionWith(t, 3, "{on_column_change: full_refresh}", "id, amount")
	versions = append(versions, back)
	released := manifests(versions)
	for _, to := range pgtest.ShortOrLong([][]*generator.Extension{{versions[1], back}}, [][]*generator.Extension{versions[1:2], versions[1:3], {versions[1], back}}) {
		db := at(t, versions[0])
		db.SuperExec(t, "grant select on pgtrickle.silent to mail_watch")
		reader, other := db.Connect(t), db.Connect(t)
		run := func(sql string) {
			t.Helper()
			if _, err := reader.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		is := func(want string) {
			t.Helper()
			if got := pgtest.One[string](t, other, shown); got != want {
				t.Errorf("readers see %s, want %s", got, want)
			}
		}
		upgradeOnly(t, db, released[:1], to[0])
		is("300 rows, " + oldRow)
		run("begin")
		run("select from pgtrickle.silent limit 1")
		for _, e := range to { // the first of them fills
			apply(t, db, e, commandtest.ApplyOptions{Released: released})
			is("300 rows, " + oldRow)
		}
		last := to[len(to)-1]
		if again := apply(t, db, last, commandtest.ApplyOptions{Released: released}); len(again.Repaired)+len(again.Left) > 0 {
			t.Errorf("the old rows were taken for drift: %v %v", again.Repaired, again.Left)
		}
		db.Exec(t, "insert into public.orders values (1000, 1, 5, 'paid')")
		db.Exec(t, "call pgtrickle.tick()") // follows the change, and finds the reader again
		is("300 rows, " + oldRow)
		run("commit")
		db.Exec(t, "call pgtrickle.tick()")
		equalQueries(t, db.Connect(t), last.Version)
		if !pgtest.One[bool](t, db, "select has_table_privilege('mail_watch', 'pgtrickle.silent', 'select')") {
			t.Error("what was granted is gone")
		}
		db.SuperExec(t, "revoke select on pgtrickle.silent from mail_watch")
		got := snapshot(t, db)
		for n := range got { // an empty list of rights is not none
			if strings.HasPrefix(got[n], "relation pgtrickle.silent v") {
				got[n] = strings.Replace(got[n], ",mail_watch=r/owner", "", 1)
			}
		}
		same(t, fresh(t, last), got)
	}
}

// TestOnlineInTheWay: what depends on a stream table is found before anything is computed, and an upgrade that nobody fills leaves the old rows.
func TestOnlineInTheWay(t *testing.T) {
	pgtest.Parallel(t)
	first, next := versionWith(t, 0, "true", "id, amount"), versionWith(t, 1, "{on_column_change: full_refresh}", "id, status")
	released := manifests([]*generator.Extension{first})
	db := at(t, first)
	db.Exec(t, "create view public.mine as select id from pgtrickle.silent")
	_, err := commandtest.Apply(t.Context(), db.Connect(t), next, commandtest.ApplyOptions{Released: released})
	if err == nil || !strings.Contains(pgtest.ErrorText(err), "rule _RETURN on view public.mine") {
		t.Errorf("got %v, want what depends on it", err)
	}
	db.Exec(t, "drop view public.mine")
	upgradeOnly(t, db, released, next)
	if got := pgtest.One[string](t, db, shown); got != "300 rows, "+oldRow {
		t.Errorf("readers see %s", got)
	}
	db.Exec(t, "call pgtrickle.tick()")
	equalQueries(t, db.Connect(t), next.Version)
	db.Exec(t, "select pgtrickle.detach()")
	if n := pgtest.One[int](t, db, "select count(*) from pg_class where relname like 'silent%' and relkind in ('r', 'v')"); n != 0 {
		t.Errorf("%d relations are left", n)
	}
}

// upgradeOnly runs the script of an upgrade, and leaves filling to others.
func upgradeOnly(t *testing.T, db *pgtest.Database, released []upgrade.Manifest, e *generator.Extension) {
	t.Helper()
	files, err := e.Files(e.Releasing(released))
	if err == nil {
		script := files["mail/migrations/mail_"+released[len(released)-1].Version+"_to_"+e.Version+".up.sql"]
		_, err = db.Connect(t).PgConn().Exec(t.Context(), script).ReadAll()
	}
	if err != nil {
		t.Fatal(err)
	}
}
