// Package commands runs the command line against a live server: what a user types to install, remove and drive an extension.
package commands

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestCommands(t *testing.T) {
	livetest.Run(t, ".", livetest.Options{Main: commandtest.Main, Commands: map[string]livetest.Command{"status": problems}})
}

// problems shows what sluice status finds wrong, whether the runtime is not as it was written, and which inboxes and outboxes it has read: the rest hangs on
// the moment.
func problems(env *livetest.Env, _ *datadriven.TestData) string {
	status, err := commandtest.ReadStatus(env.T.Context(), env.Session("", "").Conn, "pgtrickle")
	if err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	if text := status.Extension.RuntimeText; text != "original" {
		fmt.Fprintf(&out, "runtime: text %s\n", text)
	}
	for _, i := range status.Inboxes {
		fmt.Fprintf(&out, "inbox %s: %d pending", i.Name, i.Pending)
		if i.Quarantined != nil {
			fmt.Fprintf(&out, ", %d documents quarantined", *i.Quarantined)
		}
		out.WriteString("\n")
	}
	for _, o := range status.Outboxes {
		fmt.Fprintf(&out, "outbox %s\n", o.Name)
	}
	for _, p := range status.Problems {
		fmt.Fprintf(&out, "%s\nhint: %s\n", p.Message, p.Hint)
	}
	return out.String()
}

// sluice runs a command on the shop's spec and returns its output.
func sluice(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	if status := commandtest.Main(append(args, "-f", installed.Shop()), strings.NewReader(""), &out, &talk); status != 0 {
		t.Fatalf("sluice %s: exit status %d\n%s", strings.Join(args, " "), status, talk.String())
	}
	return out.String(), talk.String()
}

// The script that a dry run prints, run by psql, installs what apply would.
func TestDryRunIsTheWhole(t *testing.T) {
	db := pgtest.DB(t)
	script, _ := sluice(t, "apply", "--dry-run", "--dsn", db.DSN())
	if n := pgtest.One[int](t, db, "select count(*) from pg_namespace where nspname = 'pgtrickle'"); n != 0 {
		t.Fatal("a dry run changed the database")
	}
	psql := db.Server.Command("psql", "-X", "-q", "-U", pgtest.Owner, "-d", db.Name, "-f", "-")
	psql.Stdin = strings.NewReader(script)
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	if _, said := sluice(t, "apply", "--dsn", db.DSN()); !strings.Contains(said, "nothing to do") {
		t.Fatalf("apply after the script says: %s", said)
	}
}

// Two schedulers share the work of one database, survive the loss of their connections, and end on a signal.
func TestRun(t *testing.T) {
	db := installed.ShopDB(t)
	ended := make(chan error)
	for range 2 {
		go func() { ended <- schedule(t, db) }()
	}
	db.Exec(t, "insert into pgtrickle.payments (event_id, event_type, payload) values ('a', 't', '{}')")
	folded := func() bool {
		return pgtest.One[int64](t, db, "select coalesce(sum(received), 0)::bigint from pgtrickle_internal.pgt_inbox_deltas where inbox_name = 'payments' and at is null") == pgtest.One[int64](t, db, "select count(*) from pgtrickle.payments")
	}
	until(t, folded)
	db.SuperExec(t, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'scheduler'")
	db.Exec(t, "insert into pgtrickle.payments (event_id, event_type, payload) values ('b', 't', '{}')")
	until(t, folded)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	pgtest.Until(t, "it happens", done)
}
