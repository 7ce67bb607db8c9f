package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const ownSpec = `
version: 1
extension: {name: sluice_own_test, version: 1.2.3, schema: own}
schema: [schema.sql]
inboxes:
  - name: mine
    table: app.incoming
    columns: {id: msg_id, event_type: type, payload: body, received_at: got, processed_at: done, retry_count: tries, available_at: due}
    retry: {backoff: constant, initial: 10ms}
`

const ownDDL = `create schema app;
create table app.incoming (
    msg_id uuid primary key default gen_random_uuid(), type varchar(20) not null, body jsonb not null, got timestamptz not null default clock_timestamp(),
    done timestamptz, error text, tries integer not null default 0, due timestamptz, note text
);
create function app.touch() returns trigger language plpgsql as 'begin new.note := ''touched''; return new; end';
create trigger touch before update on app.incoming for each row execute function app.touch();
`

// ownTable is a table of the user's that an inbox is over.
type ownTable struct {
	name, spec, ddl string
	also            []string // what applications do with its partitions
	enable          string   // has the inbox made by a function instead of the spec
	materialized    bool     // its pending messages and dead letters are stream tables
}

var (
	twoSpec = strings.Replace(ownSpec, "id: msg_id", "id: [shard, msg_id]", 1)
	twoDDL  = strings.NewReplacer(
		"primary key default", "not null default", "note text", "note text, shard varchar(9) not null default '~/' || floor(random() * 3), primary key (msg_id, shard)",
	).Replace(ownDDL)
	hashedDDL = strings.Replace(ownDDL, "note text\n)", "note text\n) partition by hash (msg_id)", 1) + `
create table app.a partition of app.incoming for values with (modulus 3, remainder 0);
create table app.b partition of app.incoming for values with (modulus 3, remainder 1);
create table app.c partition of app.incoming for values with (modulus 3, remainder 2);
`
	createdSpec      = "version: 1\nextension: {name: sluice_own_test, version: 1.2.3, schema: own, imperative: true}\n"
	materializedSpec = ownSpec + "    materialize: true\n"
)

// ownTables are one with an id of a column, one with an id of two, such with partitions, one of which a function puts an inbox over, and such whose views are
// stream tables.
var ownTables = []ownTable{
	{name: "one", spec: ownSpec, ddl: ownDDL},
	{name: "two", spec: twoSpec, ddl: twoDDL},
	{name: "hashed", spec: ownSpec, ddl: hashedDDL},
	{name: "materialized", spec: materializedSpec, ddl: ownDDL, materialized: true},
	{name: "materialized two", spec: strings.Replace(materializedSpec, "id: msg_id", "id: [shard, msg_id]", 1), ddl: twoDDL, materialized: true},
	{name: "materialized hashed", spec: materializedSpec + "    priority: {map: {t1: 1, t2: 2}}\n", ddl: hashedDDL, materialized: true},
	{name: "listed", spec: twoSpec, ddl: listedDDL, also: onPartitions},
	{name: "listed by call", spec: createdSpec, ddl: strings.Replace(listedDDL, "body jsonb not null", "body jsonb, payload jsonb not null default '{}'", 1), also: onPartitions, enable: `select own.enable_inbox_tracking('mine', 'app.incoming',
		p_id_columns => array['shard', 'msg_id'], p_event_type_column => 'type', p_received_at_column => 'got', p_processed_at_column => 'done', p_retry_count_column => 'tries')`},
}

var (
	listedDDL = strings.Replace(twoDDL, "shard)\n)", "shard)\n) partition by list (shard)", 1) + `
create table app.a partition of app.incoming for values in ('~/0');
create table app.b partition of app.incoming for values in ('~/1', '~/2') partition by hash (msg_id);
create table app.b1 partition of app.b for values with (modulus 2, remainder 0);
create table app.b2 partition of app.b for values with (modulus 2, remainder 1);
create table app.extra (like app.incoming including all);
`
	onPartitions = []string{
		"insert into app.a (shard, type, body) select '~/0', 't5', '{}' from generate_series(1, 3)",
		"insert into app.b (shard, type, body) select '~/2', 't5', '{}' from generate_series(1, 3)",
		"update app.b1 set done = now() where msg_id in (select msg_id from app.b1 where done is null limit 2 for update skip locked)",
		"update app.b2 set tries = tries + 1 where msg_id in (select msg_id from app.b2 where done is null limit 2 for update skip locked)",
		"delete from app.a where msg_id in (select msg_id from app.a where done is null limit 1 for update skip locked)",
		"update app.incoming set shard = '~/1' where shard = '~/0' and msg_id in (select msg_id from app.a limit 1 for update skip locked)",
		"insert into app.extra (shard, type, body) select 'extra', 't6', '{}' from generate_series(1, 4)",
		"alter table app.incoming attach partition app.extra for values in ('extra')",
		"alter table app.incoming detach partition app.extra",
		"truncate app.extra",
		"create table app.brief partition of app.incoming for values in ('brief')",
		"insert into app.incoming (shard, type, body) select 'brief', 't7', '{}' from generate_series(1, 4)",
		"drop table app.brief",
	}
)

// ownStates are what must be the same before a dump and after its restore.
var ownStates = []string{
	"select i::text from app.incoming i",
	"select p::text from own.mine_pending p",
	"select d::text from own.mine_dlq d",
	"select concat_ws(' ', event_type, pending, processed, dead_letter) from own.mine_stats",
	"select event_id from own.inbox_pending('mine', 1000)",
	"select concat_ws(' ', tgname, tgenabled) from pg_trigger where tgrelid = 'app.incoming'::regclass",
	"select pg_get_indexdef(indexrelid) from pg_index where indrelid = 'app.incoming'::regclass",
}

// TestOwnTableDumped takes an inbox over a table of the user's into another cluster, in both flavours. What is dropped then leaves the table as it was.
func TestOwnTableDumped(t *testing.T) {
	pgtest.Parallel(t)
	if missing := pgtest.Server(t).Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	flavours := []generator.Flavour{generator.Plain, generator.AsExtension}
	for n, own := range ownTables {
		if pgtest.Chosen(n, 4) {
			t.Run(own.name, func(t *testing.T) { own.dumped(t, pgtest.ShortOrLong(flavours[n/4%2:n/4%2+1], flavours)) })
		}
	}
}

func (own ownTable) dumped(t *testing.T, flavours []generator.Flavour) {
	extension := installed.Over(t, own.spec, own.ddl)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, extension)
	from, to := installed.Start(t, install), installed.Start(t, install)
	for _, flavour := range flavours {
		t.Run(string(flavour), func(t *testing.T) {
			name := "own_" + string(flavour)
			source := create(t, from, name)
			run(t, source, own.ddl)
			before := leftovers(t, source)
			for _, sql := range []string{
				"insert into app.incoming (type, body, done, tries) select 't' || i % 3, '{}', case i % 4 when 0 then now() end, i % 5 from generate_series(1, 60) i",
				scriptOf(extension, flavour), own.enable, "call own.tick()",
				"select own.inbox_mark_processed('mine', event_id) from own.inbox_claim('mine', 3)",
				"update app.incoming set type = 't9' where tries = 2",
			} {
				run(t, source, sql)
			}
			own.refresh(t, source)
			states := func(dsn string) (all []string) {
				conn := pgtest.Connect(t, dsn)
				for _, sql := range ownStates {
					all = append(all, strings.Join(pgtest.Column[string](t, conn, "select x from ("+sql+") q (x) order by x collate \"C\""), "\n"))
				}
				return all
			}
			owner := "user=" + pgtest.Owner
			want := states(from.DSN(name, owner))
			create(t, to, name)
			format := "custom"
			if strings.Contains(own.ddl, "partition by") {
				format = inSections
			}
			restore(t, from, to, name, format)
			target := pgtest.Connect(t, to.DSN(name, owner))
			run(t, target, "insert into app.incoming (type, body) values ('new', '{}')") // before anything has looked
			run(t, target, "call own.tick()")
			run(t, target, "delete from app.incoming where type = 'new'")
			own.refresh(t, target)
			for n, got := range states(to.DSN(name, owner)) {
				if got != want[n] {
					t.Errorf("%s\nbefore:\n%.1000s\nafter:\n%.1000s", ownStates[n], want[n], got)
				}
			}
			if flavour == generator.Plain {
				run(t, target, extension.Uninstall())
			} else {
				run(t, target, "drop extension sluice_own_test cascade")
			}
			if left := leftovers(t, target); strings.Join(left, "\n") != strings.Join(before, "\n") {
				t.Errorf("left behind: %q, and before it was %q", left, before)
			}
		})
	}
}

// refresh brings stream tables up to date.
func (own ownTable) refresh(t *testing.T, db *pgx.Conn) {
	if own.materialized {
		run(t, db, "select own.refresh_stream_table('own.mine_pending'), own.refresh_stream_table('own.mine_dlq')")
	}
}

// TestOwnTableUnderLoad has applications that know nothing of Sluice insert, change and delete messages while workers process them and ticks run:
// the counts are exact, nothing is processed twice, and nothing stays.
func TestOwnTableUnderLoad(t *testing.T) {
	for _, own := range ownTables {
		t.Run(own.name, func(t *testing.T) { own.underLoad(t) })
	}
}

func (own ownTable) underLoad(t *testing.T) {
	db := pgtest.DB(t)
	db.Exec(t, own.ddl+"create table app.done (id text)")
	db.Exec(t, installed.Over(t, own.spec, own.ddl).Install(generator.Plain))
	db.Exec(t, own.enable)
	times := pgtest.ShortOrLong(60, 600)
	var working, ticking sync.WaitGroup
	session := func(group *sync.WaitGroup, goesOn func(n int) bool, work func(exec func(sql string, args ...any), random *rand.Rand)) {
		conn := db.Connect(t)
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
			for n := 0; goesOn(n); n++ {
				work(func(sql string, args ...any) {
					if _, err := conn.Exec(t.Context(), sql, args...); err != nil && !strings.Contains(err.Error(), "deadlock") && !strings.Contains(err.Error(), "moved to another partition") {
						t.Errorf("%v\nin: %s", err, sql)
					}
				}, random)
			}
		})
	}
	often := func(n int) bool { return n < times }
	for range 3 {
		session(&working, often, func(exec func(string, ...any), random *rand.Rand) {
			switch random.IntN(8) {
			case 0:
				exec("update app.incoming set type = 't' || $1::int where msg_id = (select msg_id from app.incoming where done is null order by random() limit 1 for update skip locked)", random.IntN(4))
			case 1:
				exec("delete from app.incoming where msg_id = (select msg_id from app.incoming where done is null order by random() limit 1 for update skip locked)")
			case 2: // late ones, and such as are processed or failed
				exec("insert into app.incoming (type, body, got, tries, done) values ('t1', '{}', now() - interval '1 h', $1, null), ('t2', '{}', now(), 0, now())", random.IntN(5))
			case 3:
				exec("begin")
				exec("insert into app.incoming (type, body) values ('t0', '{}')")
				exec("select pg_sleep(0.05)")
				exec(fmt.Sprint([]string{"commit", "rollback"}[random.IntN(2)]))
			default:
				exec("insert into app.incoming (type, body) select 't' || i % 4, '{}' from generate_series(1, 5) i")
			}
		})
		counter := db.Connect(t)
		goesOn := func(n int) bool {
			return often(n) || n < 20*times && !t.Failed() && pgtest.One[int](t, counter, "select count(*) from app.done") < 50
		}
		session(&working, goesOn, func(exec func(string, ...any), random *rand.Rand) {
			exec(`with claimed as materialized (select event_id from own.inbox_claim('mine', 5)),
				marked as (select c.event_id, own.inbox_mark_processed('mine', c.event_id) as first from claimed c)
				insert into app.done select event_id from marked where first`)
			exec("select own.inbox_mark_failed('mine', event_id, 'no') from own.inbox_claim('mine', 1)")
		})
	}
	if len(own.also) > 0 {
		session(&working, func(n int) bool { return n < times/4 }, func(_ func(string, ...any), random *rand.Rand) {
			// What is attached or dropped already is an error.
			db.Exec(t, fmt.Sprintf("do $do$ begin %s; exception when others then null; end $do$", own.also[random.IntN(len(own.also))]))
		})
	}
	var worked atomic.Bool
	session(&ticking, func(int) bool { return !worked.Load() }, func(exec func(string, ...any), _ *rand.Rand) {
		exec("call own.tick()")
		time.Sleep(20 * time.Millisecond)
	})
	working.Wait()
	worked.Store(true)
	ticking.Wait()
	conn := db.Connect(t)
	counts := func(sql string) string { return strings.Join(pgtest.Column[string](t, conn, sql), "\n") }
	for range 4 {
		run(t, conn, "call own.tick()")
	}
	derived := counts("select concat_ws(' ', event_type, pending, processed, dead_letter) from own.mine_stats order by 1")
	held := counts(`select concat_ws(' ', type, count(*) filter (where done is null and tries < 3), count(done), count(*) filter (where done is null and tries >= 3))
		from app.incoming group by type order by 1`)
	if derived != held {
		t.Errorf("the statistics say\n%s\nand the table\n%s", derived, held)
	}
	if twice := counts("select id from app.done group by id having count(*) > 1"); twice != "" {
		t.Errorf("processed twice: %s", twice)
	}
	run(t, conn, "select pg_sleep(0.05)")
	if own.materialized {
		own.refresh(t, conn)
		for view, cond := range map[string]string{"mine_pending": "tries < 3", "mine_dlq": "tries >= 3"} {
			derived, held := counts("select p.msg_id::text from own."+view+" p order by 1"), counts("select msg_id::text from app.incoming where done is null and "+cond+" order by 1")
			if derived != held {
				t.Errorf("%s has\n%s\nand the table\n%s", view, derived, held)
			}
		}
	}
	for range 3 {
		run(t, conn, "select own.inbox_mark_processed('mine', event_id) from own.inbox_claim('mine', 100000)")
	}
	if left := counts("select msg_id::text from app.incoming where done is null and tries < 3"); left != "" {
		t.Errorf("nobody can claim: %s", left)
	}
	if done := pgtest.One[int](t, conn, "select count(*) from app.done"); done < 50 {
		t.Errorf("only %d messages were processed", done)
	}
}

// A partition that comes, whose messages are marked, and that goes between two ticks leaves no counts behind: no trigger fires then, and at each tick the
// partitions are the same as before.
func TestBriefPartitions(t *testing.T) {
	for _, own := range ownTables {
		if !strings.HasPrefix(own.name, "listed") {
			continue
		}
		t.Run(own.name, func(t *testing.T) {
			db := pgtest.DB(t)
			db.Exec(t, own.ddl)
			db.Exec(t, installed.Over(t, own.spec, own.ddl).Install(generator.Plain))
			db.Exec(t, own.enable)
			conn := db.Connect(t)
			counts := func() string {
				return strings.Join(pgtest.Column[string](t, conn, "select concat_ws(' ', event_type, pending, processed, dead_letter) from own.mine_stats order by 1"), "\n")
			}
			run(t, conn, "insert into app.incoming (type, body) values ('t0', '{}')")
			run(t, conn, "insert into app.extra (shard, type, body) select 'extra', 't6', '{}' from generate_series(1, 4)")
			run(t, conn, "call own.tick()")
			run(t, conn, "call own.tick()")
			before := counts()
			run(t, conn, "alter table app.incoming attach partition app.extra for values in ('extra')")
			run(t, conn, "update app.incoming set done = now() where type = 't6' and msg_id in (select msg_id from app.extra limit 3)")
			run(t, conn, "alter table app.incoming detach partition app.extra")
			run(t, conn, "call own.tick()")
			run(t, conn, "call own.tick()")
			if after := counts(); after != before || before == "" {
				t.Errorf("the counts were\n%s\nand are\n%s", before, after)
			}
		})
	}
}

// TestOwnPriorityChanges: after an upgrade that changes what decides about the priority of messages in a table of the user's, or with which levels, the
// backlog holds all that is pending, each message at its level.
func TestOwnPriorityChanges(t *testing.T) {
	versions := []struct{ priority, level string }{
		{"", ""},
		{"priority: {map: {refund: 1}}", "case event_type when 'refund' then 1 else 999 end"},
		{"priority: {map: {refund: 3, other: 2}}", "case event_type when 'refund' then 3 when 'other' then 2 else 999 end"},
		{"priority: {map: {'1': 5}, column: level}", "case level when 1 then 5 else 999 end"},
		{"priority: {column: level, tiers: default}", "case when level in (1, 2) then 1 when level between 3 and 6 then 3 when level between 7 and 9 then 7 else 1000 end"},
		{"priority: {column: level, tiers: [{name: all, min: 0, max: 9}]}", "case when level between 0 and 9 then 0 else 1000 end"},
		{"ordering: {aggregate: event_type, sequence: level}", ""},
		{"max_retries: 1, priority: {column: level, tiers: default}", "case when level in (1, 2) then 1 when level between 3 and 6 then 3 when level between 7 and 9 then 7 else 1000 end"},
	}
	const ddl = `create schema app;
create table app.jobs (
    event_id bigint primary key, event_type text not null, payload jsonb not null default '{}', received_at timestamptz not null default clock_timestamp(),
    processed_at timestamptz, error text, retry_count integer not null default 0, level integer
);
`
	db := pgtest.DB(t)
	db.Exec(t, ddl+`insert into app.jobs (event_id, event_type, level, processed_at, retry_count)
	select i, (array['refund', 'other', 'x'])[i % 3 + 1], nullif(i % 13, 12), case i % 5 when 0 then now() end, i % 4 from generate_series(1, 300) i`)
	var released []upgrade.Manifest
	for n, version := range versions {
		e := installed.OverReleased(t, fmt.Sprintf("version: 1\nextension: {name: shop, version: 1.%d.0}\nschema: [schema.sql]\ninboxes:\n  - {name: jobs, table: app.jobs, %s}\n", n, version.priority), ddl, released...)
		released = append(released, e.Manifest())
		if n == 0 {
			db.Exec(t, e.Install(generator.Plain))
		} else if _, err := commandtest.Apply(t.Context(), db.Connect(t), e, commandtest.ApplyOptions{Released: released, Loss: true}); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		if version.level == "" {
			continue
		}
		most := 3
		if strings.Contains(version.priority, "max_retries") {
			most = 1
		}
		differ := pgtest.Column[string](t, db, fmt.Sprintf(`select concat_ws(' ', i.event_id, i.level, b.event_id, b.level)
			from (select event_id::text, %s as level from app.jobs where processed_at is null and retry_count < %d) i
			full join pgtrickle_internal.jobs_by_priority b on b.event_id = i.event_id and b.level = i.level
			where i.event_id is null or b.event_id is null`, version.level, most))
		if len(differ) > 0 {
			t.Errorf("%s: %d differ: %v", version.priority, len(differ), differ[:min(len(differ), 5)])
		}
		db.Exec(t, "call pgtrickle.tick()")
		db.Exec(t, "select pgtrickle.inbox_mark_processed('jobs', event_id) from pgtrickle.inbox_claim('jobs', 3)")
	}
}
