package upgrade

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestLocksMeetNoDeadlock: sessions that read things that an upgrade renames, in other orders and slower than the server looks for deadlocks, all
// go on, and so does the upgrade when they have ended.
func TestLocksMeetNoDeadlock(t *testing.T) {
	versions := generated(t, "renames/*.yaml", 5)
	db := at(t, versions[0])
	reads := [][2]string{ // what is locked last, and what is before
		{"pgtrickle.letters_dlq", "pgtrickle.outbox_shop_events"}, {"pgtrickle.outbox_order_totals", "pgtrickle.payments"},
	}
	read := func(reader *pgtest.Session, from string) {
		if said := reader.Run(t.Context(), "select from "+from+" limit 1"); strings.Contains(said, "ERROR") {
			t.Errorf("reading %s: %s", from, said)
		}
	}
	var readers []*pgtest.Session
	for _, pair := range reads {
		reader := pgtest.OpenSession(t, db.DSN(), "reader")
		reader.Run(t.Context(), "begin")
		read(reader, pair[0])
		readers = append(readers, reader)
	}

	progress := &commandtest.Progress{DSN: db.DSN(), Log: func(format string, args ...any) {
		if strings.Contains(format, "trying again") {
			t.Errorf(format, args...)
		}
	}}
	options := commandtest.ApplyOptions{Released: manifests(versions), LockTimeout: time.Minute, Retry: 2 * time.Minute, Progress: progress}
	var upgrading sync.WaitGroup
	upgrading.Go(func() { apply(t, db, versions[1], options) })
	watch := db.Connect(t)
	const waits = "select exists (select from pg_stat_activity where application_name <> 'reader' and wait_event_type = 'Lock' and datname = current_database())"
	for deadline := time.Now().Add(time.Minute); !pgtest.One[bool](t, watch, waits); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the upgrade does not wait for readers")
		}
	}
	time.Sleep(1500 * time.Millisecond) // longer than deadlock_timeout: the session that closes a cycle from now on is ended
	for n, pair := range reads {
		read(readers[n], pair[1])
	}
	for _, reader := range readers {
		reader.Run(t.Context(), "commit")
	}
	upgrading.Wait()
}
