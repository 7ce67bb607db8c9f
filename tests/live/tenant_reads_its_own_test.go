package live

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestTenantReadsItsOwn has a tenant claim, mark, list and count a few messages among fifty thousand older ones of another, whatever statistics say: it
// reads about as many rows as it has.
func TestTenantReadsItsOwn(t *testing.T) {
	makeRoles := pgtest.MakeRoles("tenants_consumer")
	run(t, pgtest.Connect(t, pgtest.Server(t).DSN("postgres")), makeRoles)
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: own, version: 1.0.0}
roles: {consumer: tenants_consumer}
inboxes:
  - {name: shared, tenant: tenant_id}
`))
	db.Exec(t, "insert into pgtrickle.shared (tenant_id, message_id, event_type, payload) select 'other', i, 't', '{}' from generate_series(1, 50000) i")
	db.Exec(t, "insert into pgtrickle.shared (tenant_id, message_id, event_type, payload, retry_count) select 'mine', i, 't', '{}', i % 20 / 17 * 3 from generate_series(1, 100) i")
	conn := pgtest.Connect(t, db.SuperDSN())
	run(t, conn, "set role tenants_consumer; set pg_trickle.tenant = 'mine'")
	for _, statistics := range []string{"select", "analyze pgtrickle.shared", "call pgtrickle.tick()"} {
		db.Exec(t, statistics)
		for _, sql := range []string{
			"select count(*) from pgtrickle.inbox_claim('shared', 10)",
			"select count(pgtrickle.inbox_mark_processed('shared', event_id)) from pgtrickle.inbox_claim('shared', 10)",
			"select pgtrickle.inbox_mark_processed('shared', array(select 'mine/' || i from generate_series(1, 10) i))",
			"select count(*) from pgtrickle.inbox_pending('shared', 10)",
			"select count(*) from pgtrickle.shared_pending",
			"select event_id from pgtrickle.shared_pending order by received_at, event_id limit 5",
			"select count(*) from pgtrickle.shared_dlq",
			"select pgtrickle.replay_inbox_messages('shared', array['mine/17', 'other/1'])",
		} {
			const rows = "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where relid = 'pgtrickle.shared'::regclass"
			run(t, conn, "begin") // in a transaction the server does not hand over what it has counted
			before := pgtest.One[int](t, conn, rows)
			run(t, conn, sql)
			if read := pgtest.One[int](t, conn, rows) - before; read <= 0 || read > 500 {
				t.Errorf("%s, after %s: reads %d rows", sql, statistics, read)
			}
			run(t, conn, "rollback")
		}
	}
}
