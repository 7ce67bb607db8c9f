//go:build citus

package citus

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestOwner has a role that is no superuser run the migration. Without its schemas, that says so before anything is changed; with them the role owns what works on all
// nodes, and removes it.
func TestOwner(t *testing.T) {
	c := newCluster(t, "")
	super(t, c.nodes[0], c.name, "create role installer login; grant create on database "+c.name+" to installer")
	t.Cleanup(func() { super(t, c.nodes[0], c.name, "drop owned by installer; drop role installer") })
	as := func(node int) *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), c.nodes[node].DSN(c.name, "user=installer"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(t.Context()) })
		return conn
	}
	conn := as(0)
	install := func(sql string) error {
		for _, statement := range pgtest.Split("begin;" + sql + "commit;") {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				mustExec(t, conn, "rollback")
				return fmt.Errorf("%s\n%.2000s", pgtest.ErrorText(err), statement)
			}
		}
		return nil
	}
	up, down := migration(t, "shop"), installed.Migration(t, "testdata/shop/spec.yaml", "down")
	for _, before := range []string{"", "create schema shop;"} { // of the same transaction
		const want = "ERROR (3F000): schemas of extension shop are missing\nDETAIL: Role installer is no superuser, and this transaction cannot make them visible to all nodes.\n" +
			"HINT: Run and commit on the coordinator, before this script: create schema shop; create schema app; create schema shop_internal;"
		if err := install(before + up); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("without schemas: %v", err)
		}
	}
	for node := range c.nodes {
		if left := pgtest.Column[string](t, as(node), "select nspname from pg_namespace where nspname in ('shop', 'shop_internal', 'app')"); len(left) > 0 {
			t.Errorf("node %d has schemas %v", node, left)
		}
	}
	for _, schema := range []string{"shop", "shop_internal", "app"} {
		mustExec(t, conn, "create schema "+schema)
	}
	for range 2 {
		if err := install(up); err != nil {
			t.Fatal(err)
		}
		for node := range c.nodes {
			user := as(node)
			for _, sql := range []string{
				"select shop.inbox_receive('order_events', 'e%[1]d', 't', '{}'), shop.inbox_receive('notes', 'n%[1]d', 't', '{}')",
				"begin", "select shop.inbox_mark_processed('order_events', event_id, aggregate_id), shop.outbox_publish('events', 't', '{}', aggregate_id) from shop.inbox_claim('order_events', 10)", "commit",
			} {
				mustExec(t, user, strings.ReplaceAll(sql, "%[1]d", fmt.Sprint(node)))
			}
			if got := pgtest.One[int](t, user, "select count(*) from shop.poll_outbox('mailer', 'c', 10)"); got != 1 {
				t.Errorf("node %d: %d events", node, got)
			}
		}
		if got := pgtest.One[int](t, conn, "select count(distinct sequence_no >> 48) from shop.notes"); got != 3 {
			t.Errorf("ranges of %d nodes", got)
		}
		mustExec(t, conn, "call shop.tick()")
		if err := install(down); err != nil {
			t.Fatal(err)
		}
	}
}
