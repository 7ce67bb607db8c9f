package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// hostile makes a name of what ends quotes, means something to format(), or stands for a name itself.
func hostile(random *rand.Rand) string {
	parts := []string{
		"'", `"`, "''", `""`, "$$", "$function$", "$do$", "$sql$", "$script$", "$", `\`, `\'`, "%", "%s", "%I", "%1$s", "%3$L", "~inbox~", "~schema~", "1000000007",
		"'; drop table canary; --", `"; drop table canary; --`, "/*", "*/", "--", "\n", "\t", "\u0085", ";", "é", "🐘", "ß", "select", "pgt_", ".", " ", "a", "{{.Name}}", "$1", "E'", "U&'",
	}
	var name strings.Builder
	for range 1 + random.IntN(5) {
		name.WriteString(parts[random.IntN(len(parts))])
	}
	if random.IntN(10) == 0 {
		name.WriteString(strings.Repeat("é", random.IntN(30)))
	}
	return name.String()
}

// refusedInSpec reports whether a spec may not have an inbox of a name.
func refusedInSpec(t *testing.T, name string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(path, []byte(fromSQL+"inboxes: [{name: "+strconv.QuoteToASCII(name)+"}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	specs, errs := spec.Load(path)
	return !errs.Empty() || !plan.Check(specs[0]).Empty()
}

// TestHostileNamesFromSQL gives names to create_inbox that are refused as in a spec, by a stated error, or become those of an inbox that works and goes without a trace.
func TestHostileNamesFromSQL(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	fmt.Sscan(os.Getenv("SLUICE_TEST_SEED"), &seed)
	random := rand.New(rand.NewPCG(seed, 1))
	db := installed.DB(t, installed.Text(t, fromSQL))
	conn := db.Connect(t)
	run(t, conn, "create table canary ()")
	before := leftovers(t, conn)
	created, times, names := 0, pgtest.ShortOrLong(10, 1000), []string(nil)
	for n := 0; n < times || created < times/2; n++ { // about half of the names are refused
		if n%40 == 0 { // a session keeps the plans of functions that are gone, and looks through them whenever anything is dropped
			conn = db.Connect(t)
		}
		name := hostile(random)
		_, err := conn.Exec(t.Context(), "select pgtrickle.create_inbox($1)", name)
		if refused := refusedInSpec(t, name); refused != (err != nil) || err != nil && !strings.Contains(pgtest.ErrorText(err), "(22023)") {
			t.Fatalf("seed %d: inbox %q: %v; a spec refuses it: %t", seed, name, err, refused)
		}
		if err != nil {
			continue
		}
		created++
		names = append(names, name)
		useHostile(t, conn, seed, name, hostile(random))
		if created%2 == 0 {
			orderHostile(t, conn, seed, name, hostile(random), hostile(random))
		} else {
			prioritizeHostile(t, conn, seed, name, hostile(random), hostile(random))
		}
		if created%20 == 0 {
			run(t, conn, "call pgtrickle.tick()")
		}
		if _, err := conn.Exec(t.Context(), "select pgtrickle.drop_inbox($1, p_cascade => true)", name); err != nil {
			t.Fatalf("seed %d: inbox %q: %s", seed, name, pgtest.ErrorText(err))
		}
	}
	if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("seed %d: left behind %q", seed, after)
	}
	if failed := pgtest.Column[string](t, conn, "select last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		t.Errorf("seed %d: tasks failed: %q", seed, failed)
	}

	// The same names in a spec.
	slices.Sort(names)
	names = slices.Compact(names)
	names = names[:min(50, len(names))]
	text := "version: 1\nextension: {name: sluice_hostile, version: 1.0.0}\ninboxes:\n"
	for _, name := range names {
		text += "  - name: " + strconv.QuoteToASCII(name) + "\n"
	}
	other := pgtest.DB(t)
	conn = other.Connect(t)
	run(t, conn, "create table canary ()")
	before = leftovers(t, conn)
	extension := installed.Text(t, text)
	run(t, conn, extension.Install(generator.Plain))
	for _, name := range names {
		useHostile(t, conn, seed, name, hostile(random))
	}
	run(t, conn, "call pgtrickle.tick()")
	run(t, conn, extension.Uninstall())
	if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("seed %d: left behind %q", seed, after)
	}
}

// orderHostile orders the messages of an inbox by a column of a hostile name, which is refused by a stated error or works.
func orderHostile(t *testing.T, conn *pgx.Conn, seed uint64, name, column, value string) {
	t.Helper()
	must := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("seed %d: inbox %q, column %q, value %q: %s\nin: %s", seed, name, column, value, pgtest.ErrorText(err), sql)
		}
	}
	for len(column) > 63 {
		column = column[:len(column)-utf8.RuneLen([]rune(column)[utf8.RuneCountInString(column)-1])]
	}
	must("alter table pgtrickle." + quoted(name) + " add column " + quoted(column) + " bigint")
	_, err := conn.Exec(t.Context(), "select pgtrickle.enable_inbox_ordering($1, p_sequence_column => $2)", name, column)
	if refused := badName.MatchString(column); refused != (err != nil) || err != nil && !strings.Contains(pgtest.ErrorText(err), "(22023)") {
		t.Fatalf("seed %d: inbox %q ordered by %q: %v, and it should be refused: %t", seed, name, column, err, refused)
	} else if refused {
		must("select pgtrickle.enable_inbox_ordering($1)", name)
	}
	sequence := map[bool]string{true: "2026-01-01", false: "1"}[err != nil]
	must("select pgtrickle.inbox_receive($1, 'first', 't', '{}', p_aggregate_id => $2, p_sequence => $3)", name, value, sequence)
	must("select pgtrickle.inbox_receive_many($1, jsonb_build_array(jsonb_build_object('event_id', $2::text || 'x', 'event_type', 't', 'payload', 1, 'aggregate_id', $2::text, 'sequence', $3::text)))",
		name, value, strings.Replace(sequence, "1", "2", 1))
	must("select pgtrickle.inbox_mark_processed($1, event_id), pgtrickle.inbox_mark_failed($1, $2::text || 'x', $2) from pgtrickle.inbox_claim($1, 10) where event_id = 'first'", name, value)
	must("select (select count(*) from pgtrickle.inbox_ordering_gaps($1)), pgtrickle.inbox_pending($1), pgtrickle.replay_inbox_messages($1, array[$2::text || 'x'])", name, value)
	if len(value)%2 == 0 {
		must("select pgtrickle.disable_inbox_ordering($1)", name)
	}
}

// prioritizeHostile gives an inbox priority by hostile values, then tiers of hostile names, which are refused by a stated error or work.
func prioritizeHostile(t *testing.T, conn *pgx.Conn, seed uint64, name, value, tier string) {
	t.Helper()
	must := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("seed %d: inbox %q, value %q, tier %q: %s\nin: %s", seed, name, value, tier, pgtest.ErrorText(err), sql)
		}
	}
	use := func() {
		t.Helper()
		must("insert into pgtrickle."+quoted(name)+" (event_id, event_type, payload) values ('urgent', $1, '{}') on conflict (event_id) do update set processed_at = null", value)
		must("select pgtrickle.inbox_pending($1), pgtrickle.inbox_mark_failed($1, 'urgent', $2)", name, value)
		must("select pgtrickle.inbox_mark_processed($1, array_agg(event_id)) from pgtrickle.inbox_claim($1, 10)", name)
		must("select pgtrickle.replay_inbox_messages($1, array['urgent'], p_include_processed => true)", name)
	}
	_, err := conn.Exec(t.Context(), "select pgtrickle.enable_inbox_priority($1, 'event_type', jsonb_build_object($2::text, 1))", name, value)
	if refused := badTag.MatchString(value); refused != (err != nil) || err != nil && !strings.Contains(pgtest.ErrorText(err), "(22023)") {
		t.Fatalf("seed %d: inbox %q by value %q: %v, and it should be refused: %t", seed, name, value, err, refused)
	} else if !refused {
		use()
		must("select pgtrickle.disable_inbox_priority($1)", name)
	}
	must("alter table pgtrickle." + quoted(name) + " add column urgency integer")
	_, err = conn.Exec(t.Context(), "select pgtrickle.enable_inbox_priority($1, 'urgency', null, jsonb_build_array(jsonb_build_object('name', $2::text, 'min', 1, 'max', 3)))", name, tier)
	refused := badName.MatchString(tier) || len(tier) > 63 || strings.Trim(tier, " ") == ""
	if refused != (err != nil) || err != nil && !strings.Contains(pgtest.ErrorText(err), "(22023)") {
		t.Fatalf("seed %d: inbox %q with tier %q: %v, and it should be refused: %t", seed, name, tier, err, refused)
	} else if !refused {
		use()
	}
}

// badTag finds what ends a quote of generated code.
var badTag = regexp.MustCompile(`\$(function|procedure|do|sql)\$`)

// badName finds what no name of a table or column may hold that generated code has.
var badName = regexp.MustCompile(`[\x01-\x1f\x7f-\x{9f}]|\$(function|procedure|do|sql)\$`)

// TestHostileTables gives tables and columns of hostile names to enable_inbox_tracking: it refuses them by a stated error, or the inbox works, and leaves the
// table as it was.
func TestHostileTables(t *testing.T) {
	pgtest.Parallel(t)
	seed := uint64(time.Now().UnixNano())
	fmt.Sscan(os.Getenv("SLUICE_TEST_SEED"), &seed)
	random := rand.New(rand.NewPCG(seed, 2))
	db := installed.DB(t, installed.Text(t, fromSQL))
	conn := db.Connect(t)
	run(t, conn, "create table canary ()")
	times := pgtest.ShortOrLong(6, 500)
	bad := badName
	// cut is a name as PostgreSQL takes it. Two of three tables have none that is refused.
	cut := func(name string, n int) string {
		for n%3 > 0 && bad.MatchString(name) {
			name = bad.ReplaceAllString(name, "")
		}
		for len(name) > 63 {
			name = name[:len(name)-utf8.RuneLen([]rune(name)[utf8.RuneCountInString(name)-1])]
		}
		return name
	}
	const second = `~/'"%s` // column of ids that have two
	tracked := 0
	for n := 0; n < 2*times && tracked < times; n++ {
		if n%40 == 0 {
			conn = db.Connect(t)
		}
		schema, table, columns := fmt.Sprint("s", n), cut("t"+hostile(random), n), make([]any, 6)
		if random.IntN(2) == 0 {
			schema = cut(schema+hostile(random), n)
		}
		refused := bad.MatchString(schema + "\x00" + table)
		for i := range columns {
			name := cut(fmt.Sprint(i, hostile(random)), n)
			columns[i], refused = name, refused || bad.MatchString(name)
		}
		name := func(i int) string { return quoted(columns[i].(string)) }
		id, ids, key := columns[0], []string(nil), name(0)
		if n%4 == 3 { // of two columns
			id, ids, key = "event_id", []string{columns[0].(string), second}, name(0)+", "+quoted(second)
		}
		run(t, conn, fmt.Sprintf("create schema %[1]s; create table %[2]s (%[3]s %[9]s not null, %[4]s varchar not null, payload jsonb not null, %[5]s timestamptz, %[6]s integer not null, %[7]s text, "+
			"%[8]s timestamptz not null%[10]s, %[11]s smallint not null default 7, primary key (%[12]s))", quoted(schema), quoted(schema, table), name(0), name(1), name(2), name(3), name(4), name(5),
			[]string{"text", "varchar(90)", "uuid", "bigint", `text collate "C"`}[n%5], []string{"", ", available_at timestamptz, source text, aggregate_id integer"}[n%2], quoted(second), key))
		before := leftovers(t, conn)
		_, err := conn.Exec(t.Context(), "select pgtrickle.enable_inbox_tracking('tracked', $1, $2, p_event_type_column => $3, p_processed_at_column => $4, p_retry_count_column => $5, p_error_column => $6, p_received_at_column => $7, p_id_columns => $8)",
			slices.Concat([]any{quoted(schema, table), id}, columns[1:], []any{ids})...)
		if refused != (err != nil) || err != nil && !strings.Contains(pgtest.ErrorText(err), "(22023)") {
			t.Fatalf("seed %d: table %q, columns %q: %v, and it should be refused: %t", seed, schema+"."+table, columns, err, refused)
		}
		if err == nil {
			tracked++
			value := []string{hostile(random), cut(hostile(random), n), "00000000-0000-0000-0000-000000000001", "-7", hostile(random)}[n%5]
			if ids != nil {
				value = strings.NewReplacer("~", "~0", "/", "~1").Replace(value) + "/7"
			}
			for _, sql := range []string{
				"select pgtrickle.inbox_receive('tracked', $1, 't', to_jsonb($2::text))", "select pgtrickle.inbox_receive_many('tracked', jsonb_build_array(jsonb_build_object('event_id', $1::text, 'event_type', $2::text, 'payload', 1)))",
				"select pgtrickle.inbox_mark_failed('tracked', $1, $2)", "select pgtrickle.inbox_mark_processed('tracked', $1), pgtrickle.inbox_health('tracked') from (values ($2)) v",
				"select pgtrickle.replay_inbox_messages('tracked', array[$1::text], p_include_processed => true), (select count(*) from pgtrickle.inbox_claim('tracked')) from (values ($2)) v",
			} {
				if _, err := conn.Exec(t.Context(), sql, value, hostile(random)); err != nil {
					t.Fatalf("seed %d: table %q, columns %q, value %q: %s\nin: %s", seed, schema+"."+table, columns, value, pgtest.ErrorText(err), sql)
				}
			}
			run(t, conn, "call pgtrickle.tick()")
			state := pgtest.Rows(t, conn, "select s.pending_count, s.processed_count, (select count(*) from pgtrickle.tracked_pending), (select count(*) from pgtrickle.tracked_dlq) from pgtrickle.inbox_status() s")
			if fmt.Sprint(state) != "[[1 0 1 0]]" {
				t.Fatalf("seed %d: table %q: %v", seed, schema+"."+table, state)
			}
			for _, sql := range []string{
				"select pgtrickle.enable_inbox_ordering('tracked', $1, $2)", "select pgtrickle.inbox_mark_processed('tracked', event_id) from pgtrickle.inbox_claim('tracked', 10), (values ($1, $2)) v",
				"select pgtrickle.replay_inbox_messages('tracked', array_agg(i.event_id), p_include_processed => true) from pgtrickle_internal.tracked_rows i, (values ($1, $2)) v",
				"select pgtrickle.inbox_pending('tracked'), (select count(*) from pgtrickle.next_tracked) from (values ($1, $2)) v",
			} {
				if _, err := conn.Exec(t.Context(), sql, columns[1], columns[5]); err != nil {
					t.Fatalf("seed %d: table %q, columns %q: %s\nin: %s", seed, schema+"."+table, columns, pgtest.ErrorText(err), sql)
				}
			}
			if n%2 == 0 {
				run(t, conn, "select pgtrickle.disable_inbox_ordering('tracked')")
			}
			run(t, conn, "select pgtrickle.drop_inbox('tracked', p_cascade => true)")
		}
		if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Fatalf("seed %d: left behind %q", seed, after)
		}
		run(t, conn, "drop schema "+quoted(schema)+" cascade")
	}
	if failed := pgtest.Column[string](t, conn, "select last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		t.Errorf("seed %d: tasks failed: %q", seed, failed)
	}
	if tracked < times/2 {
		t.Errorf("seed %d: %d tables had an inbox", seed, tracked)
	}
}

// useHostile sends a message whose id, type and payload are a value, and marks it.
func useHostile(t *testing.T, conn *pgx.Conn, seed uint64, name, value string) {
	t.Helper()
	for _, sql := range []string{
		"select pgtrickle.inbox_receive($1, $2, $2, to_jsonb($2::text))", "select pgtrickle.inbox_mark_failed($1, $2, $2)",
		"select pgtrickle.inbox_mark_processed($1, $2), pgtrickle.inbox_health($1), (select count(*) from pgtrickle.inbox_claim($1)) from (values ($2)) v",
	} {
		if _, err := conn.Exec(t.Context(), sql, name, value); err != nil {
			t.Fatalf("seed %d: inbox %q, value %q: %s", seed, name, value, pgtest.ErrorText(err))
		}
	}
}
