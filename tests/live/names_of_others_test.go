package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const takenDDL = "create table orders (id int primary key, region text not null, amount int not null);"

const takenSpec = `
version: 1
extension: {name: sluice_taken, version: 1.0.0, schema: app}
schema: [schema.sql]
inboxes:
  - {name: letters, schema: mail}
outboxes:
  - {name: events}
stream_tables:
  - name: public.totals
    query: |
      select region, sum(amount) as total from orders group by region
`

const takenNext = `
version: 1
extension: {name: sluice_taken, version: 1.1.0, schema: app}
schema: [schema.sql]
inboxes:
  - {name: post, renamed_from: letters, schema: mail}
  - {name: bills, schema: mail}
outboxes:
  - {name: events}
stream_tables:
  - name: public.sums
    renamed_from: public.totals
    query: |
      select region, sum(amount) as total from orders group by region
  - name: public.large
    refresh_mode: immediate
    query: |
      select id, amount from orders where amount > 5
`

// inTheWay are objects of others with names that versions of the extension take.
var inTheWay = []struct {
	version    string // that takes the name
	make, drop string
}{
	{"1.0.0", "create view totals as select 1 as one", "drop view totals"},
	{"1.0.0", "create materialized view totals as select 1 as one", "drop materialized view totals"},
	{"1.0.0", "create domain totals as int", "drop domain totals"},
	{"1.0.0", "create schema mail; create table mail.letters (mine int)", "drop table mail.letters"},
	{"1.0.0", "create index letters_order on orders (amount); create table mail.mine (a int); create index letters_order on mail.mine (a)", "drop index letters_order; drop table mail.mine"},
	{"1.0.0", "create schema app; create function app.tick_once() returns int language sql as 'select 1'", "drop function app.tick_once()"},
	{"1.0.0", "create trigger sluice_taken_log_row_public_orders before insert on orders for each row execute function suppress_redundant_updates_trigger()", "drop trigger sluice_taken_log_row_public_orders on orders"},
	{"1.0.0", "create publication sluice_taken_outbox_events for table orders", "drop publication sluice_taken_outbox_events"},
	{"1.1.0", "create table sums (mine int)", "drop table sums"},
	{"1.1.0", "create view large as select 1 as one", "drop view large"},
	{"1.1.0", "create sequence mail.bills_pending", "drop sequence mail.bills_pending"},
	{"1.1.0", "create table mail.post (mine int)", "drop table mail.post"},
	{"1.1.0", "create trigger sluice_taken_immediate_insert_public_orders before insert on orders for each row execute function suppress_redundant_updates_trigger()", "drop trigger sluice_taken_immediate_insert_public_orders on orders"},
}

// TestTakenNames has scripts of both flavours, and apply, meet names of others: each refuses, and leaves all as it was.
func TestTakenNames(t *testing.T) {
	first := installed.Over(t, takenSpec, takenDDL)
	released := []upgrade.Manifest{first.Manifest()}
	next := installed.OverReleased(t, takenNext, takenDDL, released...)
	plan, err := artifact.Upgrade(released[0], next.Manifest(), false)
	if err != nil {
		t.Fatal(err)
	}
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, first)
	installed.PutFiles(t, install, next, released[0])
	server := installed.Start(t, install)
	for _, flavour := range []generator.Flavour{generator.Plain, generator.AsExtension} {
		conn := create(t, server, string(flavour))
		run(t, conn, takenDDL)
		bring := func(e *generator.Extension) (script string) {
			switch {
			case flavour == generator.Plain && e == first:
				return first.Install(flavour)
			case flavour == generator.Plain:
				return artifact.UpgradeScript(released[0], next.Manifest(), plan)
			case e == first:
				return "create extension sluice_taken version '1.0.0'; select app.attach()"
			}
			return "alter extension sluice_taken update to '1.1.0'; select app.attach()"
		}
		for _, e := range []*generator.Extension{first, next} {
			for _, c := range inTheWay {
				if c.version != e.Version {
					continue
				}
				run(t, conn, c.make)
				before := everything(t, conn)
				if name, isTrigger := strings.CutPrefix(c.make, "create trigger "); isTrigger {
					name, _, _ = strings.Cut(name, " ")
					noted(t, conn, bring(e), fmt.Sprintf("source public.orders cannot be followed: trigger %q for relation %q already exists", name, "orders"))
				} else {
					refuses(t, c.make, func() error { _, err := conn.Exec(t.Context(), bring(e)); return err }, "already exists")
				}
				_, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{Flavour: flavour, Released: released})
				var taken commandtest.NamesTaken
				if !errors.As(err, &taken) || !strings.Contains(err.Error(), "already exists, and extension sluice_taken did not make it") {
					t.Errorf("%s: apply says %v", c.make, err)
				}
				if after := everything(t, conn); after != before {
					t.Errorf("%s: it was %s and is %s", c.make, before, after)
				}
				run(t, conn, c.drop)
			}
			run(t, conn, bring(e))
		}
		// What others put in the place of what an upgrade, or its way back, drops or replaces.
		if flavour == generator.Plain {
			back, err := artifact.Upgrade(next.Manifest(), released[0], false)
			if err != nil {
				t.Fatal(err)
			}
			run(t, conn, "drop view mail.bills_stats; create view mail.bills_stats as select 1 as mine")
			for what, script := range map[string]string{"going back": artifact.UpgradeScript(next.Manifest(), released[0], back), "uninstalling": next.Uninstall()} {
				refuses(t, what, func() error { _, err := conn.Exec(t.Context(), script); return err }, "view was not made by extension sluice_taken: mail.bills_stats")
			}
			run(t, conn, "drop view mail.bills_stats")
			if _, err := commandtest.Apply(t.Context(), conn, next, commandtest.ApplyOptions{Released: released}); err != nil {
				t.Fatal(pgtest.ErrorText(err))
			}
		}
		if _, removed, err := commandtest.Uninstall(t.Context(), conn, next, true); err != nil || !removed {
			t.Errorf("uninstall: %v %s", removed, pgtest.ErrorText(err))
		}
		if left := leftovers(t, conn); strings.Join(left, " ") != "constraint orders_pkey relation orders relation orders_pkey schema mail trigger type orders type orders[]" &&
			strings.Join(left, " ") != "constraint orders_pkey relation orders relation orders_pkey schema app schema mail type orders type orders[]" {
			t.Errorf("left behind: %q", left)
		}
	}
}

// refuses runs something that has to end with duplicate_object, or duplicate_ something else.
func refuses(t *testing.T, what string, do func() error, says string) {
	t.Helper()
	err := do()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !slices.Contains([]string{"42710", "42P06", "42P07", "42723"}, pg.Code) || !strings.Contains(pg.Message, says) {
		t.Errorf("%s: got %s, want %q", what, pgtest.ErrorText(err), says)
	}
}

// noted runs a script and looks for a problem of a stream table; all is rolled back.
func noted(t *testing.T, conn *pgx.Conn, script, problem string) {
	t.Helper()
	run(t, conn, "begin")
	run(t, conn, script)
	if got := pgtest.One[string](t, conn, "select coalesce(string_agg(status || ': ' || last_error, ' '), '') from app.pgt_stream_tables where last_error is not null"); !strings.Contains(got, "failing: "+problem) || !strings.Contains(got, "Rename or drop") {
		t.Errorf("noted is %q, want %q", got, problem)
	}
	run(t, conn, "rollback")
}

// everything is a digest of what a database holds.
func everything(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return pgtest.One[string](t, conn, `select md5(string_agg(x::text, ' ' order by x::text)) from (
		select c.oid, c.relname::text, c.relkind::text from pg_class c where c.oid >= 16384 and c.relnamespace <> 'pg_toast'::regnamespace
		union all select p.oid, p.proname, p.prosrc from pg_proc p where p.oid >= 16384
		union all select t.oid, t.tgname, t.tgrelid::text from pg_trigger t
		union all select n.oid, n.nspname, '' from pg_namespace n where n.nspname not like 'pg\_%'
		union all select p.oid, p.pubname, '' from pg_publication p
		union all select e.oid, e.extname, e.extversion from pg_extension e
	) x`)
}

// Two extensions may stand beside each other with names that do not clash, also on one table and in a schema of users. Where names clash the second is refused, and the
// first goes on; none touches what the other made.
func TestTwoExtensionsOnOneTable(t *testing.T) {
	spec := func(name, schema, table, more string) *generator.Extension {
		return installed.Over(t, `
version: 1
extension: {name: `+name+`, version: 1.0.0, schema: `+schema+`}
schema: [schema.sql]
stream_tables:
  - name: `+table+`
    query: |
      select region, sum(amount) as total from orders group by region
`+more, takenDDL)
	}
	db := pgtest.DB(t)
	db.Exec(t, takenDDL)
	conn := db.Connect(t)
	apply := func(e *generator.Extension) error {
		_, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	refusedByApply := func(e *generator.Extension, says string) {
		t.Helper()
		if err := apply(e); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s in %s: %v", e.Name, e.Schema, err)
		}
	}
	refused := func(e *generator.Extension, says string) {
		t.Helper()
		refusedByApply(e, says)
		refuses(t, e.Name, func() error { _, err := conn.Exec(t.Context(), e.Install(generator.Plain)); return err }, "already exists")
	}
	one := spec("one", "one", "public.totals", "")
	must(apply(one))
	refused(spec("two", "two", "public.totals", ""), "view public.totals already exists, and extension two did not make it")
	refused(spec("two", "one", "public.other", ""), "schema one already holds extension one 1.0.0")
	refusedByApply(spec("one", "two", "public.other", ""), "trigger one_log_insert_public_orders on public.orders already exists, and extension one did not make it")
	two := spec("two", "two", "public.sums", "  - name: public.large\n    refresh_mode: immediate\n    query: |\n      select id, amount from orders where amount > 5\n")
	must(apply(two))
	db.Exec(t, "insert into orders select g, 'r' || g % 3, g from generate_series(1, 9) g")
	refreshed := func(e *generator.Extension, table string) {
		t.Helper()
		db.Exec(t, "select from "+e.Schema+".refresh_stream_table('"+table+"')")
		if n := pgtest.One[int](t, db, "select count(*)::int from (select region, sum(amount) as total from orders group by 1 except select region, total from "+table+") d"); n != 0 {
			t.Errorf("%s: %d rows are missing", table, n)
		}
	}
	refreshed(one, "totals")
	refreshed(two, "sums")
	// The first gets the name of the other while both are there: attaching refuses, and so it goes on being left alone.
	db.Exec(t, "drop view totals; alter view sums rename to totals")
	refuses(t, "attach", func() error { _, err := conn.Exec(t.Context(), "select one.attach()"); return err }, `relation "totals" already exists`)
	_, removed, err := commandtest.Uninstall(t.Context(), conn, one, true)
	if must(err); !removed || !pgtest.One[bool](t, db, "select to_regclass('public.totals') is not null and to_regnamespace('one') is null") {
		t.Error("the first took away what the second made, or is not gone")
	}
	db.Exec(t, "alter view totals rename to sums; insert into orders values (100, 'r1', 7)")
	refreshed(two, "sums")
	if n := pgtest.One[int](t, db, "select count(*)::int from large"); n != 5 {
		t.Errorf("%d large orders", n)
	}
	if did, err := commandtest.Apply(t.Context(), conn, two, commandtest.ApplyOptions{}); err != nil || did.Changed || len(did.Left) > 0 {
		t.Errorf("the second: %+v %v", did, err)
	}
}

// An extension may live in a schema of users, whose triggers, functions and tables there are none of its business.
func TestExtensionInSchemaOfUsers(t *testing.T) {
	e := installed.Over(t, strings.NewReplacer("schema: app", "schema: public", "renamed_from: letters, ", "", "    renamed_from: public.totals\n", "").Replace(takenNext), takenDDL)
	db := pgtest.DB(t)
	db.SuperExec(t, "alter schema public owner to "+pgtest.Owner)
	db.Exec(t, takenDDL+`
		create table parts (id int, region text) partition by list (region);
		create table parts_north partition of parts for values in ('north');
		create function audit() returns trigger language plpgsql as 'begin raise notice ''audited''; return null; end';
		create trigger audited after insert on orders for each statement execute function audit();
		create trigger quiet after delete on orders for each statement execute function audit();
		alter table orders disable trigger quiet;
		create table mine (id int)`)
	conn := db.Connect(t)
	if _, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	db.Exec(t, "insert into orders values (1, 'north', 9); select tick_once()")
	triggers := func() string {
		return pgtest.One[string](t, db, "select string_agg(format('%s %s', tgname, tgenabled), ', ' order by tgname) from pg_trigger t join pg_proc p on p.oid = t.tgfoid where p.proname = 'audit'")
	}
	if got := triggers(); got != "audited O, quiet D" {
		t.Errorf("triggers of users: %s", got)
	}
	if _, _, err := commandtest.Uninstall(t.Context(), conn, e, true); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	if got := triggers(); got != "audited O, quiet D" {
		t.Errorf("triggers of users after uninstalling: %s", got)
	}
	if got := pgtest.One[string](t, db, "select string_agg(relname, ' ' order by relname) from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S')"); got != "mine orders parts parts_north" {
		t.Errorf("relations after uninstalling: %s", got)
	}
}

// A dump may leave out comments, and the marks with them. Until the restored database has been ticked in, names are what there is to go by; then there are marks again.
func TestRestoredWithoutComments(t *testing.T) {
	e := installed.Over(t, strings.Replace(takenSpec, "      select region, sum(amount) as total from orders group by region\n", "      select region, sum(amount) as total from orders group by region\n    outbox: true\n", 1), takenDDL)
	db := pgtest.DB(t)
	db.Exec(t, takenDDL+"insert into orders values (1, 'north', 9)")
	conn := db.Connect(t)
	if _, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	marks := "select count(*)::int from pg_description where objsubid = 0 and description like '%(Sluice: sluice_taken in app)'"
	all := pgtest.One[int](t, db, marks)
	db.SuperExec(t, "delete from pg_description where objsubid = 0 and description like '%(Sluice: sluice_taken in app)'; update app_internal.pgt_version_history set row_xmin = '1'")
	db.Exec(t, "insert into orders values (2, 'north', 9)")
	db.Exec(t, "call app.tick()")
	if sum := pgtest.One[int](t, db, "select total::int from totals"); sum != 18 {
		t.Errorf("total %d", sum)
	}
	if n := pgtest.One[int](t, db, marks); n == 0 {
		t.Error("nothing is marked again")
	}
	did, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{})
	if err != nil || len(did.Left) > 0 || pgtest.One[int](t, db, marks) != all {
		t.Errorf("after apply %d of %d marks: %+v %s", pgtest.One[int](t, db, marks), all, did.Left, pgtest.ErrorText(err))
	}
	if _, removed, err := commandtest.Uninstall(context.WithoutCancel(t.Context()), conn, e, true); err != nil || !removed {
		t.Errorf("uninstall: %v %s", removed, pgtest.ErrorText(err))
	}
}
