package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

const statusSpec = `
version: 1
extension: {name: watched, version: 1.2.3, schema: looked_at}
roles: {monitor: status_monitor}
schema: [schema.sql]
inboxes:
  - {name: work}
outboxes:
  - {name: feed}
  - {name: keyed, ordering_key: aggregate_id}
consumer_groups:
  - {name: mailer, outbox: feed, auto_offset_reset: earliest}
  - {name: nobody, outbox: keyed, auto_offset_reset: earliest}
stream_tables:
  - name: public.shares
    query: |
      select id, 100 / amount as share from orders
  - name: public.ranked
    query: |
      select id, rank() over (order by amount) as place from orders
    refresh_mode: full
    schedule: 0 3 * * *
`

// TestStatus shows a database with some problems to a role that only monitors it.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	ddl := "create table orders (id int primary key, amount int not null);"
	write(t, dir, "schema.sql", ddl)
	write(t, dir, "spec.yaml", statusSpec)
	db := pgtest.DB(t)
	db.SuperExec(t, "create role status_monitor login")
	db.Exec(t, ddl)
	db.Exec(t, installed.Load(t, filepath.Join(dir, "spec.yaml")).Install("plain"))
	monitor := db.Server.DSN(db.Name, "user=status_monitor")

	text := status(t, "--schema", "looked_at", "--dsn", monitor)
	if !strings.Contains(text, "background work has never run") || !strings.Contains(text, "select looked_at.refresh_stream_table('public.shares');") {
		t.Errorf("before the first tick:\n%s", text)
	}
	db.Exec(t, "call looked_at_internal.pgt_fill()")
	db.Exec(t, "insert into orders values (1, 0); insert into looked_at.work (event_id, event_type, payload, retry_count) select i, 't', '{}', 3 from generate_series(1, 12) i")
	for range 3 {
		db.Exec(t, "update looked_at_internal.pgt_stream_table_state set checked_at = '-infinity' where stream_table = 'public.shares'")
		db.Exec(t, "call looked_at.tick()")
	}
	db.Exec(t, "select looked_at.pause_inbox('work'); insert into orders values (2, 2)")
	db.Exec(t, "select looked_at.outbox_publish(o, 't', '{}', 'k' || i) from generate_series(1, 9) i, unnest(array['feed', 'keyed']) o")
	db.Exec(t, "select from looked_at.poll_outbox('mailer', 'a', 4)")
	db.Exec(t, "select looked_at.reject_rows('mailer', 'a', array[2], 'bad'), looked_at.pause_group('mailer')")
	// What is old enough has the same age whenever one looks.
	db.Exec(t, `update looked_at_internal.pgt_stream_table_state set last_refresh_at = now() - interval '3 days';
		update looked_at.outbox_feed set created_at = now() - interval '3 days';
		update looked_at.outbox_keyed set created_at = now() - interval '3 days';
		update looked_at_internal.pgt_tasks set runs = 7, last_run_at = case when task ~ 'prun' then '-infinity' else now() - interval '4 days' end`)

	text = status(t, "-f", filepath.Join(dir, "spec.yaml"), "--dsn", monitor)
	compare(t, "status.txt", installedAt.ReplaceAllString(text, "THEN"))

	var read commandtest.Status
	if err := json.Unmarshal([]byte(status(t, "--json", "--schema", "looked_at", "--dsn", monitor)), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.StreamTables) != 2 || *read.StreamTables[1].Waiting != 2 || read.StreamTables[1].Status != "suspended" || read.Inboxes[0].DeadLetters != 12 || len(read.Problems) != 7 || len(read.Outboxes) != 2 || read.Groups[0].Lag != 8 || read.Groups[0].Leased != 3 || read.Groups[0].DeadLetters != 1 {
		t.Errorf("as JSON: %+v", read)
	}
}

// lookedAt is a database in which statusSpec is installed.
func lookedAt(t *testing.T) *pgtest.Database {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "schema.sql", "create table orders (id int primary key, amount int not null);")
	write(t, dir, "spec.yaml", statusSpec)
	db := pgtest.DB(t)
	db.SuperExec(t, "do $$ begin if to_regrole('status_monitor') is null then create role status_monitor login; end if; end $$")
	db.Exec(t, "create table orders (id int primary key, amount int not null)")
	db.Exec(t, installed.Load(t, filepath.Join(dir, "spec.yaml")).Install("plain"))
	return db
}

// TestStatusOfGaps names the session that has published and stays, to the owner and to a role that only monitors.
func TestStatusOfGaps(t *testing.T) {
	db := lookedAt(t)
	stays, forgotten := db.Connect(t), db.Connect(t)
	for conn, sql := range map[*pgx.Conn]string{
		stays:     "begin; select looked_at.outbox_publish('feed', 't', '{}')",
		forgotten: "begin; select looked_at.outbox_publish('keyed', 't', '{}', 'a'); prepare transaction 'forgotten''s'",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	defer db.Exec(t, "rollback prepared 'forgotten''s'")
	db.Exec(t, "select looked_at.outbox_publish(o, 't', '{}', 'b') from unnest(array['feed', 'keyed']) o")
	db.Exec(t, "select from looked_at.poll_outbox('mailer', 'a'); select from looked_at.poll_outbox('nobody', 'a')")
	monitor := db.Server.DSN(db.Name, "user=status_monitor")
	for _, dsn := range []string{db.DSN(), monitor} {
		text := status(t, "--schema", "looked_at", "--dsn", dsn)
		for _, want := range []string{fmt.Sprintf("the transaction of pid %d", stays.PgConn().PID()), "prepared transaction 'forgotten''s'"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in:\n%s", want, text)
			}
		}
	}
	var read commandtest.Status
	if err := json.Unmarshal([]byte(status(t, "--json", "--schema", "looked_at", "--dsn", monitor)), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Gaps) != 2 || read.Gaps[0].FirstID != 1 || *read.Gaps[0].PID != int32(stays.PgConn().PID()) || *read.Gaps[1].GID != "forgotten's" || *read.Gaps[1].AgeSec < 0 {
		t.Errorf("as JSON: %+v", read.Gaps)
	}
}

// TestStatusOfHeldGroups has a consumer that polls and does not commit.
func TestStatusOfHeldGroups(t *testing.T) {
	db := lookedAt(t)
	hangs := db.Connect(t)
	if _, err := hangs.Exec(t.Context(), "begin; select from looked_at.poll_outbox('mailer', 'hangs')"); err != nil {
		t.Fatal(err)
	}
	args := []string{"--schema", "looked_at", "--dsn", db.DSN()}
	if text := status(t, args...); strings.Contains(text, "is held") {
		t.Errorf("at once:\n%s", text)
	}
	db.Exec(t, "update looked_at.pgt_settings set value = '1' where name = 'poll_wait_ms'")
	text := status(t, args...)
	want := regexp.MustCompile(fmt.Sprintf(`(?m)^consumer group mailer is held by another poll: pid %[1]d, for .*; polls of others fail\n  hint: .*select pg_terminate_backend\(%[1]d\);$`, hangs.PgConn().PID()))
	if !want.MatchString(text) {
		t.Errorf("%s is not in:\n%s", want, text)
	}
}

// TestStatusOfIgnoredSettings has settings where they are not read, one where it is, and one that no setting can have.
func TestStatusOfIgnoredSettings(t *testing.T) {
	db := lookedAt(t)
	name := pgx.Identifier{db.Name}.Sanitize()
	for _, set := range []string{
		"outbox_retention_hours = '720'", "outbox_drain_batch_size = '77'", "outbox_drain_interval_seconds = 'never'", "consumer_dead_threshold_hours = '24'", "unknown = '1'",
	} {
		db.SuperExec(t, "alter database "+name+" set pg_trickle."+set)
	}
	text := status(t, "--schema", "looked_at", "--dsn", db.DSN())
	for want, times := range map[string]int{
		"setting pg_trickle.outbox_retention_hours = 720 of database " + db.Name + ", this session is not in force, 24 is\n":          1,
		"setting pg_trickle.outbox_drain_interval_seconds = never of database " + db.Name + ", this session is not in force, 60 is\n": 1,
		"is not in force": 2,
	} {
		if strings.Count(text, want) != times {
			t.Errorf("%q is not in it %d times:\n%s", want, times, text)
		}
	}
}

// A source that cannot be followed never suspends what reads it, so nothing says that it will; the second error of a query does.
func TestStatusOfSources(t *testing.T) {
	dir := t.TempDir()
	ddl := "create table orders (id int primary key, amount int not null);"
	write(t, dir, "schema.sql", ddl)
	write(t, dir, "spec.yaml", statusSpec)
	db := pgtest.DB(t)
	db.SuperExec(t, "do $$ begin if to_regrole('status_monitor') is null then create role status_monitor login; end if; end $$")
	db.Exec(t, ddl)
	db.Exec(t, installed.Load(t, filepath.Join(dir, "spec.yaml")).Install("plain"))
	db.Exec(t, "call looked_at_internal.pgt_fill()")
	tick := func() {
		t.Helper()
		db.Exec(t, "update looked_at_internal.pgt_stream_table_state set checked_at = '-infinity' where stream_table = 'public.shares'")
		db.Exec(t, "call looked_at.tick()")
	}
	says := func(want string, suspends bool) {
		t.Helper()
		text := status(t, "--schema", "looked_at", "--dsn", db.DSN())
		if !strings.Contains(text, want) || strings.Contains(text, "the third error in a row suspends it") != suspends {
			t.Errorf("expected %q; suspends: %v\n%s", want, suspends, text)
		}
	}
	db.Exec(t, "alter table orders rename column amount to price")
	for range 4 {
		tick()
	}
	says("stream table public.shares is failing: source public.orders has no column amount", false)
	db.Exec(t, "alter table orders rename column price to amount")
	tick()
	db.Exec(t, "insert into orders values (1, 0)")
	tick()
	tick()
	says("stream table public.shares is failing: division by zero", true)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk bytes.Buffer
	if status := commandtest.Main(append([]string{"status"}, args...), strings.NewReader(""), &out, &talk); status != 0 {
		t.Fatalf("exit status %d\n%s", status, talk.String())
	}
	return out.String()
}

var installedAt = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// compare compares a text with a file of testdata, which -update writes.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if golden.Update() {
		write(t, "testdata", name, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareText(t, path, got, string(want))
}
