package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// pulling is a database, a directory with a spec, which ends as given, and the command, which fails the test where it fails.
func pulling(t *testing.T, spec string) (db *pgtest.Database, specs string, sluice func(args ...string) string) {
	t.Helper()
	db = pgtest.DB(t)
	dir := t.TempDir()
	specs = filepath.Join(dir, "specs")
	if err := os.Mkdir(specs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(specs, "shop.yaml"), []byte("version: 1\nextension: {name: shop, version: 1.0.0, "+spec+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return db, specs, func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if !slices.Contains(args, "--schema") {
			args = append(args, "-f", specs, "-o", filepath.Join(dir, "out"))
		}
		if !slices.Contains(args, "--dsn") {
			args = append(args, "--dsn", db.DSN())
		}
		if status := commandtest.Main(args, strings.NewReader(""), &stdout, &stderr); status != 0 {
			t.Fatalf("sluice %q: exit status %d\n%s%s", args, status, &stdout, &stderr)
		}
		return stdout.String()
	}
}

// TestPulledSpecTakesOver creates inboxes by SQL, pulls them into the spec, generates and applies it: the inboxes are the spec's, with their messages, and nothing
// differs from what the spec makes.
func TestPulledSpecTakesOver(t *testing.T) {
	db, specs, sluice := pulling(t, "imperative: true}\nartifacts: [migrations]\ninboxes: [{name: payments}]")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	sluice("apply")
	tracked := []string{"mail", "a.b", "O'x", `a"b`, `"q"`, "a: b", "%s", " b ", "é🐘"}
	names := []string{
		"yes", "null", "1", "15e3", "~", "- a", "a: b", "#x", " a ", "'", `"`, `\`, "%s", "{a}", "[b", "@c", "&d", "*e", "|", ">", "é🐘", strings.Repeat("é", 31), "select", "2001-01-01",
		"0x1F", "true", "!!str", "? x", "%1$L", "~inbox~", "`", "a\u00a0b", "<<",
	}
	if !pgtest.Long() {
		tracked, names = tracked[:5], slices.DeleteFunc(names, func(name string) bool { return !pgtest.Chosen(slices.Index(names, name), 4) })
	}
	for n, name := range names {
		_, err := db.Connect(t).Exec(t.Context(), "select pgtrickle.create_inbox($1, p_max_retries => $2, p_with_stats => $3)", name, 1+n%4, n%2 == 0)
		must(err)
		for _, sql := range []string{
			"select pgtrickle.inbox_receive($1, i, 't' || i % 2, '{}') from generate_series(1, 5) i", "select pgtrickle.inbox_mark_processed($1, '1'), pgtrickle.inbox_mark_failed($1, '2', 'x')",
		} {
			_, err := db.Connect(t).Exec(t.Context(), sql, name)
			must(err)
		}
	}
	for n, name := range tracked {
		ids, one := []string(nil), "1"
		if n%4 == 3 { // of two columns
			ids, one = []string{"the " + name, "/"}, "1/p~1"
		}
		parted := ""
		if n%3 == 1 { // a third
			parted = fmt.Sprintf(" partition by hash (%s); create table %s partition of %s for values with (modulus 1, remainder 0)", pgx.Identifier{"the " + name}.Sanitize(), pgx.Identifier{"part " + name}.Sanitize(), pgx.Identifier{name}.Sanitize())
		}
		_, err := db.Connect(t).Exec(t.Context(), fmt.Sprintf(`create table %[1]s (%[2]s bigint, "/" text default 'p/', primary key (%[2]s%[4]s), event_type varchar(9) not null, payload jsonb not null,
			received_at timestamptz not null default now(), processed_at timestamptz, error text, retry_count int not null default 0%[3]s)%[5]s;
			insert into %[1]s (%[2]s, event_type, payload) select i, 't', '{}' from generate_series(1, 5) i`,
			pgx.Identifier{name}.Sanitize(), pgx.Identifier{"the " + name}.Sanitize(), []string{"", ", available_at timestamptz"}[n%2],
			[]string{"", "", "", `, "/"`}[n%4], parted))
		must(err)
		_, err = db.Connect(t).Exec(t.Context(), "select pgtrickle.enable_inbox_tracking('over ' || replace($1, '.', ''), quote_ident('public') || '.' || quote_ident($1), case when $3::text[] is null then 'the ' || $1 else 'event_id' end, p_max_retries => $2, p_id_columns => $3)", name, 2+n, ids)
		must(err)
		_, err = db.Connect(t).Exec(t.Context(), "select pgtrickle.inbox_mark_processed('over ' || replace($1, '.', ''), $2), pgtrickle.inbox_mark_failed('over ' || replace($1, '.', ''), '2' || substr($2, 2), 'x')", name, one)
		must(err)
	}
	for n, name := range append(slices.Clone(names), tracked...) { // a third by time, a third by a number that is added, and a third by priority
		inbox, table := name, "pgtrickle."+pgx.Identifier{name}.Sanitize()
		if n >= len(names) {
			inbox, table = "over "+strings.ReplaceAll(name, ".", ""), "public."+pgx.Identifier{name}.Sanitize()
		}
		sequence := []string{"", "received_at", "no: '\"1"}[n%3]
		if sequence == "" {
			column, levels := "event_type", fmt.Sprintf(`jsonb_build_object('t0', 2, 't', 1, %s, 3)`, "$$"+strings.ReplaceAll(name, "$", "")+"$$")
			if n%6 == 3 {
				column, levels = "urgency: '\"", fmt.Sprintf(`null, jsonb_build_array(jsonb_build_object('name', %s, 'min', 0, 'max', 1, 'schedule', '2m'))`, "$$"+strings.ReplaceAll(name, "$", "")+" $$")
				db.Exec(t, fmt.Sprintf("alter table %[1]s add column %[2]s integer; update %[1]s set %[2]s = retry_count", table, pgx.Identifier{column}.Sanitize()))
			}
			_, err := db.Connect(t).Exec(t.Context(), "select pgtrickle.enable_inbox_priority($1, $2, "+levels+")", inbox, column)
			must(err)
			continue
		} else if n%3 == 2 {
			db.Exec(t, fmt.Sprintf("alter table %[1]s add column %[2]s bigint; update %[1]s set %[2]s = retry_count + 3 where processed_at is null; update %[1]s set %[2]s = 1 where processed_at is not null",
				table, pgx.Identifier{sequence}.Sanitize()))
		}
		_, err := db.Connect(t).Exec(t.Context(), "select pgtrickle.enable_inbox_ordering($1, 'event_type', $2)", inbox, sequence)
		must(err)
	}
	tables := func() string {
		return strings.Join(pgtest.Column[string](t, db, "select pg_get_triggerdef(t.oid) || t.tgenabled::text from pg_trigger t where not t.tgisinternal and t.tgrelid::regclass::text !~ '^pgtrickle' "+
			"union all select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace order by 1"), "\n")
	}
	states := func() string {
		return strings.Join(pgtest.Column[string](t, db, `select concat_ws(' ', inbox_name, inbox_table, max_retries, retention_hours, pending_count, dlq_count, processed_count)
			from pgtrickle.inbox_status()
			union all select o::text from pgtrickle.pgt_inbox_ordering_config o
			union all select p::text from pgtrickle.pgt_inbox_priority_config p
			union all select s::text from pgtrickle_internal.pgt_inbox_sequences s
			union all select concat_ws(' ', o.inbox_name, g.aggregate_id, g.missing_from, g.missing_to)
			from pgtrickle.pgt_inbox_ordering_config o cross join lateral pgtrickle.inbox_ordering_gaps(o.inbox_name) g
			union all select concat_ws(' ', c.inbox_name, p.event_id, p.sequence, p.priority) from pgtrickle.pgt_inbox_config c cross join lateral pgtrickle.inbox_pending(c.inbox_name) p order by 1`), "\n")
	}
	db.Exec(t, "call pgtrickle.tick()")
	sluice("diff")
	before, onTables := states(), tables()
	must(os.WriteFile(filepath.Join(specs, "created.yaml"), []byte(sluice("spec", "pull")), 0o644))
	sluice("generate", "--dsn", db.DSN())
	sluice("apply")
	if after := states(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if after := tables(); after != onTables {
		t.Errorf("on tables before:\n%s\nafter:\n%s", onTables, after)
	}
	if left := pgtest.One[int](t, db, "select count(*) from pgtrickle.pgt_inbox_config where is_imperative"); left != 0 {
		t.Errorf("%d inboxes are not the spec's", left)
	}
	sluice("diff") // exits 1 if anything differs
	for _, name := range names {
		if n := pgtest.One[int](t, db, fmt.Sprintf("select count(*) from pgtrickle.inbox_claim($s$%s$s$, 10)", name)); n < []int{3, 1, 0}[slices.Index(names, name)%3] {
			t.Errorf("inbox %q: %d claimed", name, n)
		}
	}
	if text := sluice("spec", "pull", "--schema", "pgtrickle"); !strings.HasSuffix(text, "inboxes: []\n") {
		t.Errorf("pulled again: %s", text)
	}
}
