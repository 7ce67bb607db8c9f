package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	spec_ "github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// naming is a choice of names for everything that a spec names.
type naming struct {
	what, extension, schema, inbox, inboxSchema, role string
}

func bytes63(of string) string {
	return strings.Repeat(of, 63/len(of)) + strings.Repeat("x", 63%len(of))
}

var namings = []naming{
	{"mixed case", "Shop", "PgTrickle", "OrderEvents", "Inboxes", "Worker"},
	{"quotes", "shop", `it's "so"`, `o'"r"`, `s""'p`, `w'"k`},
	{"reserved words", "user", "table", "select", "order", "group"},
	{"spaces", "shop", "my schema", "my inbox ", " other.schema", "a role"},
	{"63 bytes", bytes63("e"), bytes63("s"), bytes63("i"), bytes63("t"), bytes63("r")},
	{"63 bytes of two each", "shop", bytes63("é"), bytes63("ü"), bytes63("ß"), bytes63("ñ")},
	{"63 bytes of four each", "shop", bytes63("😀"), bytes63("🚀"), bytes63("🌍"), bytes63("🐘")},
	{"backslashes, dollars, percents", "shop", `a%sb\c`, `$function`, `$$ %I`, `%s\n`},
	{"words of plpgsql", "shop", "new_rows", "i", "n", "public_"},
	{"names of our own", "shop", "pgt_settings", "pgtrickle", "inbox_claim", "pgt"},
	{"public", "shop", "public", "inbox_", "public", "pgt_2"},
	{"template marks and comments", "shop", "{{.Name}}", "--x", "/* y", "*/"},
}

// life is all that happens to messages. S stands for the schema as SQL, N for the inbox's name as a literal, T for its table.
const life = `
select S.inbox_receive(N, 'a', 't', '{}'), S.inbox_receive(N, 'b', 't', '{}'), S.inbox_receive(N, 'c', 't', '{}');
insert into T (event_id, event_type, payload) values ('c', 't', '{}'), ('d', 'u', '{}') on conflict (event_id) do nothing;
select S.inbox_receive_wire(N, 'none'), S.inbox_retry_quarantined(N);
call S.tick();
select S.inbox_mark_processed(N, event_id) from S.inbox_claim(N, 1);
select S.inbox_mark_failed(N, 'b', 'x') from generate_series(1, 3);
select S.inbox_mark_failed(N, 'c', 'x');
call S.tick();
call S.tick();
select S.pause_inbox(N), S.resume_inbox(N);
select S.replay_inbox_messages(N, array['c']);
update T set processed_at = now() where event_id = 'd';
delete from T where event_id = 'd';
select S.inbox_health(N), S.inbox_status(N), S.inbox_is_my_partition(N, 'x', 0, 1);
select S.tick_once();
select S.after_restore();
call S.run('0', '1 s');`

func TestNames(t *testing.T) {
	for _, n := range namings {
		t.Run(n.what, func(t *testing.T) {
			extension := installed.Text(t, n.spec())
			db := pgtest.DB(t)
			before := leftovers(t, pgtest.Connect(t, db.SuperDSN()))
			db.SuperExec(t, "create role "+quoted(n.role)+"; grant "+quoted(n.role)+" to "+pgtest.Owner)
			defer db.SuperExec(t, "drop owned by "+quoted(n.role)+"; drop role "+quoted(n.role))
			conn := db.Connect(t)
			run(t, conn, extension.Install(generator.Plain))
			n.live(t, conn)
			n.role_(t, conn)
			n.tenant(t, conn)
			pgtest.CheckPlpgsql(t, db, quoted(n.schema))
			run(t, conn, extension.Uninstall())
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}
		})
	}
}

// spec quotes names as YAML does; the second inbox has the longest derived names beside the first's.
func (n naming) spec() string {
	return fmt.Sprintf(`
version: 1
extension: {name: %s, version: 1.0.0, schema: %s}
roles: {consumer: %s}
inboxes:
  - {name: %s, schema: %s, retry: {}, wire_format: cloudevents, priority: {map: {%[4]s: 1}}}
  - {name: second, priority: {column: %[4]s, tiers: [{name: %[4]s, min: 1, max: 2}]}}
  - {name: third, schema: %[5]s, tenant: %[4]s, dedup_window: 30d}
`, n.extension, yaml(n.schema), yaml(n.role), yaml(n.inbox), yaml(n.inboxSchema))
}

func yaml(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func quoted(names ...string) string { return pgx.Identifier(names).Sanitize() }

func literal(text string) string {
	return " E'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(text) + "'"
}

func (n naming) replacer() *strings.Replacer {
	return strings.NewReplacer("S_internal.", quoted(generator.InternalSchema(n.schema))+".", "S.", quoted(n.schema)+".", "(N", "("+literal(n.inbox), " T ", " "+quoted(n.inboxSchema, n.inbox)+" ")
}

// live lets messages live, and looks at what is left of them.
func (n naming) live(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range pgtest.Split(n.replacer().Replace(life)) {
		run(t, conn, sql)
	}
	n.left(t, conn)
}

// left looks at what is left of messages.
func (n naming) left(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	ask := n.replacer().Replace("select string_agg(event_id, ' ') from S.inbox_pending(N) union all select pending_count || ' ' || dlq_count || ' ' || processed_count from S.inbox_status() where dlq_count > 0 order by 1")
	if got, want := fmt.Sprint(pgtest.Column[string](t, conn, ask)), "[1 1 1 c]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if failed := pgtest.Column[string](t, conn, n.replacer().Replace("select last_error from S_internal.pgt_tasks where last_error is not null")); len(failed) > 0 {
		t.Errorf("tasks failed: %q", failed)
	}
	claim := n.replacer().Replace("select event_id from S.inbox_claim(N, 10)")
	if got := fmt.Sprint(pgtest.Column[string](t, conn, claim)); got != "[c]" {
		t.Errorf("claimed %s", got)
	}
}

// role_ claims as the consumer.
func (n naming) role_(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	run(t, conn, "set role "+quoted(n.role))
	run(t, conn, n.replacer().Replace("select S.inbox_mark_failed(N, event_id, 'x') from S.inbox_claim(N, 1)"))
	run(t, conn, "reset role")
}

// tenant lets a message of a tenant live.
func (n naming) tenant(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"set pg_trickle.tenant = 'it''s'", "select S.inbox_receive('third', 'a', 't', '{}')", "set role " + quoted(n.role),
		"select S.inbox_mark_failed('third', event_id, 'x'), S.replay_inbox_messages('third', array[event_id]) from S.inbox_claim('third', 1)",
		"select S.inbox_mark_processed('third', 'it''s/a')", "reset role",
	} {
		run(t, conn, n.replacer().Replace(sql))
	}
}

// TestTwoExtensions has two extensions in one database, of the same spec but for name and schema; neither touches the other.
func TestTwoExtensions(t *testing.T) {
	db := pgtest.DB(t)
	var extensions [2]*generator.Extension
	for i, schema := range []string{"one", "two"} {
		extensions[i] = installed.Text(t, fmt.Sprintf("version: 1\nextension: {name: %[1]s, version: 1.0.0, schema: %[1]s}\ninboxes: [{name: work}, {name: other, schema: shared}]\n", "x"+schema))
	}
	other := strings.NewReplacer("shared", "shared_two")
	db.Exec(t, extensions[0].Install(generator.Plain))
	db.Exec(t, other.Replace(extensions[1].Install(generator.Plain)))
	db.Exec(t, "insert into xone.work (event_id, event_type, payload, retry_count) values ('a', 't', '{}', 0), ('b', 't', '{}', 3)")
	for range 3 {
		db.Exec(t, "call xone.tick()")
		db.Exec(t, "call xtwo.tick()")
	}
	db.Exec(t, "select xtwo.pause_inbox('work'); select xone.inbox_receive('work', 'c', 't', '{}'); select xtwo.inbox_receive('work', 'a', 't', '{}')")
	for schema, want := range map[string]string{"xone": "[[2 1 2]]", "xtwo": "[[1 0 0]]"} {
		got := fmt.Sprint(pgtest.Rows(t, db, fmt.Sprintf("select pending_count, dlq_count, (select count(*) from %[1]s.inbox_claim('work', 9)) from %[1]s.inbox_status() where inbox_name = 'work'", schema)))
		if got != want {
			t.Errorf("%s: pending, dead and claimable are %s, want %s", schema, got, want)
		}
	}
	if got := pgtest.One[int](t, db, `select count(*) from pg_depend d
join pg_class a on a.oid = d.objid and d.classid = 'pg_class'::regclass
join pg_class b on b.oid = d.refobjid and d.refclassid = 'pg_class'::regclass
where a.relnamespace::regnamespace::text ~ 'xone|shared$' and b.relnamespace::regnamespace::text ~ 'xtwo|shared_two'`); got != 0 {
		t.Errorf("%d dependencies between them", got)
	}
	db.Exec(t, other.Replace(extensions[1].Uninstall()))
	if got := pgtest.One[int](t, db, "select count(*) from xone.inbox_claim('work', 9)"); got != 2 {
		t.Errorf("after the other is gone, %d claimable", got)
	}
	db.Exec(t, extensions[0].Uninstall())
	if left := leftovers(t, db); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestSchemaThatIsThereStays installs into schemas that others made, and leaves them behind.
func TestSchemaThatIsThereStays(t *testing.T) {
	db := pgtest.DB(t)
	extension := installed.Text(t, "version: 1\nextension: {name: guest, version: 1.0.0, schema: mine}\ninboxes: [{name: work, schema: also_mine}]\n")
	db.Exec(t, "create schema mine; create table mine.kept (n int); create schema also_mine")
	before := leftovers(t, db)
	db.Exec(t, extension.Install(generator.Plain))
	db.Exec(t, "insert into also_mine.work (event_id, event_type, payload) values ('a', 't', '{}'); select mine.tick_once()")
	db.Exec(t, "create function mine.own() returns int language sql return 1; drop function mine.own()")
	db.Exec(t, extension.Uninstall())
	if after := leftovers(t, db); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("before %q\nafter  %q", before, after)
	}
}

// TestThroughPgbouncer lets a message live through a pooler in transaction mode, with several clients at once.
func TestThroughPgbouncer(t *testing.T) {
	n := naming{schema: "pgtrickle", inbox: "work", inboxSchema: "pgtrickle"}
	db := pgtest.DB(t)
	dsn := pgtest.Pgbouncer(t, db)
	extension := installed.Text(t, "version: 1\nextension: {name: pooled, version: 1.0.0}\ninboxes: [{name: work, retry: {}, wire_format: cloudevents}, {name: second}]\n")
	first, second := pgtest.Connect(t, dsn), pgtest.Connect(t, dsn)
	run(t, first, extension.Install(generator.Plain))
	n.live(t, second)
	run(t, first, "begin")
	if got := fmt.Sprint(pgtest.Column[string](t, first, "select event_id from pgtrickle.inbox_claim('work', 10)")); got != "[c]" {
		t.Errorf("first claims %s", got)
	}
	if got := fmt.Sprint(pgtest.Column[string](t, second, "select event_id from pgtrickle.inbox_claim('work', 10)")); got != "[]" {
		t.Errorf("second claims %s", got)
	}
	run(t, second, "call pgtrickle.run('300 ms', '50 ms')")
	run(t, first, "select pgtrickle.inbox_mark_processed('work', 'c'); commit")
	if got := pgtest.One[int](t, second, "select sum(processed)::int from pgtrickle.work_stats"); got != 2 {
		t.Errorf("%d processed", got)
	}
	run(t, first, extension.Uninstall())
}

// TestNamesThatEndQuotes refuses what would end the quotes that generated code stands in.
func TestNamesThatEndQuotes(t *testing.T) {
	for field, spec := range map[string]string{
		"schema":   "extension: {name: a, version: 1.0.0, schema: x$do$}\ninboxes: [{name: a}]",
		"inbox":    "extension: {name: a, version: 1.0.0}\ninboxes: [{name: a$function$}]",
		"inbox 2":  "extension: {name: a, version: 1.0.0}\ninboxes: [{name: a$sql$}]",
		"event_id": "extension: {name: a, version: 1.0.0}\ninboxes: [{name: a, event_id: payload->>'$function$'}]",
		"role":     "extension: {name: a, version: 1.0.0}\nroles: {monitor: $procedure$}\ninboxes: [{name: a}]",
	} {
		path := filepath.Join(t.TempDir(), "spec.yaml")
		if err := os.WriteFile(path, []byte("version: 1\n"+spec+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		specs, errs := spec_.Load(path)
		if !errs.Empty() {
			t.Fatal(errs)
		}
		if _, errs := generator.Generate(specs[0]); errs.Empty() {
			t.Errorf("%s: accepted", field)
		}
	}
}
