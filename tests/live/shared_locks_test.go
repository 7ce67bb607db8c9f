package live

import (
	"fmt"
	"os"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestSharedLocksThatEnded has a dozen sessions lock messages in key share, as foreign keys do, each message by other ones. That
// leaves thousands of multixacts from a dozen transactions, so the numbers in the rows lie far above the transaction counter,
// and nobody holds them any more: all messages are claimable, fresh ones and failed ones.
func TestSharedLocksThatEnded(t *testing.T) {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Version: os.Getenv("SLUICE_TEST_PG")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	conn := pgtest.Connect(t, server.DSN("postgres"))
	const sessions, messages = 12, 1 << 12
	run(t, conn, installed.Load(t, installed.Shop()).Install(generator.Plain))
	run(t, conn, fmt.Sprintf("insert into pgtrickle.payments (event_id, event_type, payload) select i, 't', '{}' from generate_series(0, %d) i", messages-1))
	run(t, conn, "select pgtrickle.inbox_mark_failed('payments', event_id, 'x') from pgtrickle.payments where event_id::int % 3 = 0")
	run(t, conn, "update pgtrickle.payments set available_at = null where retry_count > 0") // due again
	lock := func() {
		t.Helper()
		for n := range sessions {
			locker := pgtest.Connect(t, server.DSN("postgres"))
			defer run(t, locker, "rollback")
			run(t, locker, "begin")
			run(t, locker, fmt.Sprintf("select from pgtrickle.payments where event_id::int >> %d & 1 = 1 for key share", n))
		}
	}
	expect := func(what string) {
		t.Helper()
		if got := pgtest.One[int](t, conn, "select count(*) from pgtrickle.inbox_claim('payments', 100000)"); got != messages {
			t.Errorf("%s: %d of %d messages are claimable", what, got, messages)
		}
	}

	lock()
	if pgtest.One[int](t, conn, "select count(*) from pgtrickle.payments where xmax::text::bigint > pg_snapshot_xmax(pg_current_snapshot())::text::bigint") == 0 {
		t.Fatal("no multixact is above the transaction counter, so this proves nothing")
	}
	expect("at first")
	lock()
	for range 3 {
		run(t, conn, "call pgtrickle.tick()")
	}
	expect("after ticks")
}
