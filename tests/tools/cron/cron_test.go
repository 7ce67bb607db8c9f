// Package cron proves the generated pg_cron jobs on a server that has pg_cron: the owner schedules one, nobody else calls tick(). Debian's pg_cron
// knows whole minutes only; .ci/pg-cron builds one that knows seconds.
package cron

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestJobsTick proves each job that the server's pg_cron can run.
func TestJobsTick(t *testing.T) {
	if !pgtest.HasCron(t) {
		t.Fatal("the server has no pg_cron; install postgresql-15-cron")
	}
	version := strings.TrimSpace(psql(t, pgtest.DB(t), "postgres", "select extversion from pg_extension where extname = 'pg_cron'", "-At"))
	t.Logf("pg_cron %s", version)
	t.Run("minutes", func(t *testing.T) { jobTicks(t, "pg_cron_1.4.sql") }) // the first run begins with the next whole minute
	if !strings.HasPrefix(version, "1.4") {
		t.Run("seconds", func(t *testing.T) { jobTicks(t, "pg_cron_1.5.sql") })
	}
}

func jobTicks(t *testing.T, job string) {
	shop := installed.Load(t, installed.Shop())
	db := installed.DB(t, shop)
	files, err := shop.Files(nil)
	if err != nil {
		t.Fatal(err)
	}
	psql(t, db, "postgres", files["shop/jobs/grant.sql"], "-v", "owner="+pgtest.Owner)
	psql(t, db, pgtest.Owner, files["shop/jobs/"+job], "-v", "database="+db.Name)
	defer psql(t, db, pgtest.Owner, files["shop/jobs/remove.sql"])

	db.Exec(t, `insert into pgtrickle.payments (event_id, event_type, payload, retry_count) values ('poison', 't', '{}', 3)`)
	db.Exec(t, `insert into pgtrickle.payments (event_id, event_type, payload, received_at, processed_at)
		values ('old', 't', '{}', now() - interval '8 days', now() - interval '7 days')`)
	pgtest.Until(t, "two ticks", func() bool {
		return pgtest.One[bool](t, db, `
			select (select alerted from pgtrickle_internal.pgt_inbox_dead where inbox_name = 'payments')
			   and not exists (select from pgtrickle.payments where event_id = 'old')
			   and (select sum(received) from pgtrickle_internal.pgt_inbox_deltas where inbox_name = 'payments' and at is null and not is_expired) = 1
			   and (select runs from pgtrickle_internal.pgt_tasks where task = 'inbox payments: counts') >= 2`)
	})
}

// psql runs a script in the database that pg_cron lives in, as the job's documentation says.
func psql(t *testing.T, db *pgtest.Database, user, script string, args ...string) string {
	t.Helper()
	command := db.Server.Command("psql", append([]string{"-X", "-v", "ON_ERROR_STOP=1", "-U", user, "-d", pgtest.CronDatabase, "-f", "-"}, args...)...)
	command.Stdin = strings.NewReader(script)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return string(out)
}
