package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestPythonPublishers(t *testing.T) {
	db := events(t)
	publishersKilled(t, db, python(), "publisher.py", db.DSN())
}

func TestNodePublishers(t *testing.T) {
	db := events(t)
	publishersKilled(t, db, "node", nodeScript(t, "publisher.mjs"), db.DSN())
}

func TestJavaPublishers(t *testing.T) {
	sql := installed.Load(t, filepath.Join("..", "..", "specs", "events")).Install(generator.Plain)
	db, address := javaDatabase(t, sql, shopTables)
	publishersKilled(t, db, append(java(t, "Publisher"), address)...)
}

// publishersKilled kills publishers with kill -9 while they place orders, and has them place all once more: each order but those that the table refuses
// is there, and published exactly once.
func publishersKilled(t *testing.T, db pgtest.Querier, publisher ...string) {
	t.Helper()
	orders, runs := pgtest.ShortOrLong(120, 1000), pgtest.ShortOrLong(1, 5)
	refusedOnce := ""
	for run := range runs {
		last := run == runs-1
		var running []*exec.Cmd
		var printed [2]strings.Builder
		for n := range printed {
			args := append(publisher[1:], fmt.Sprintf("p%d", n), fmt.Sprint(orders))
			c := exec.Command(publisher[0], args...)
			c.Stdout, c.Stderr = &printed[n], os.Stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Process.Kill(); c.Wait() })
			running = append(running, c)
		}
		if !last { // by the work that is done
			until(t, db, fmt.Sprintf("select count(*) >= %d from orders", orders*3/10*(run+1)))
		}
		for _, c := range running {
			if !last {
				c.Process.Kill()
			}
			if err := c.Wait(); last && err != nil {
				t.Errorf("a publisher failed: %v", err)
			}
		}
		refusedOnce = printed[0].String()
	}
	if got := strings.Count(refusedOnce, "refused"); got != orders/10 {
		t.Errorf("%d orders of a publisher were refused, not %d", got, orders/10)
	}
	if got := pgtest.One[int](t, db, "select count(*) from orders"); got != 2*orders*9/10 {
		t.Errorf("%d orders", got)
	}
	if got := pgtest.One[int](t, db, "select count(*) from events.outbox_shop_events"); got != 2*orders*9/10 {
		t.Errorf("%d events", got)
	}
	if got := pgtest.One[int](t, db, `
		select count(*)
		from orders o
		join events.outbox_shop_events e on e.aggregate_id = o.order_id and e.event_type = 'order.placed'
			and e.payload = jsonb_build_object('order_id', o.order_id, 'amount', o.amount::integer)`); got != 2*orders*9/10 {
		t.Errorf("%d orders have their event", got)
	}
}
