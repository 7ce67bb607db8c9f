//go:build citus

package citus

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

var onServer = regexp.MustCompile(`on server (\S+)`)

// TestOneNode has Citus say where it sends each statement: a transaction that claims, works on a colocated table, publishes and marks goes to one node, and is committed
// there in one phase.
func TestOneNode(t *testing.T) {
	c := newCluster(t, "shop")
	c.install(t, effects)
	config, err := pgx.ParseConfig(c.nodes[0].DSN(c.name))
	if err != nil {
		t.Fatal(err)
	}
	var commands, servers []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		commands = append(commands, n.Message)
		if found := onServer.FindStringSubmatch(n.Detail); found != nil && !slices.Contains(servers, found[1]) {
			servers = append(servers, found[1])
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	mustExec(t, conn, "select shop.inbox_receive('order_events', 'm' || i, 't', '{}', p_aggregate_id => 'a1') from generate_series(1, 3) i")
	mustExec(t, conn, "select count(*) from shop_internal.pgt_shards") // plans and connections are there
	mustExec(t, conn, "set citus.log_remote_commands = on")
	for _, sql := range []string{
		"begin",
		// The shard is known here; other claims look into empty shards first.
		"select count(*) from shop_internal.order_events_claim_at('a1', 3)",
		"insert into public.effects values ('m1', 'a1', 'done')",
		"select shop.outbox_publish('events', 'done', '{}', 'a1')",
		"select shop.inbox_mark_processed('order_events', 'm1', 'a1')",
		"select shop.inbox_mark_processed('order_events', array['m2', 'm3'], array['a1', 'a1'])",
		"commit",
	} {
		mustExec(t, conn, sql)
	}
	if len(servers) != 1 || len(commands) < 6 {
		t.Errorf("%d commands went to %v", len(commands), servers)
	}
	for _, command := range commands {
		if regexp.MustCompile("PREPARE TRANSACTION").MatchString(command) {
			t.Errorf("a transaction of one node is committed in two phases: %s", command)
		}
	}
}

// TestNewShards gives a tenant a shard of its own, of which no message is lost sight of: the next tick finds it.
func TestNewShards(t *testing.T) {
	c := newCluster(t, "shop")
	conn := c.connect(t, 0)
	mustExec(t, conn, "select shop.inbox_receive('order_events', 'm' || i, 't', '{}', p_aggregate_id => 'a' || i) from generate_series(1, 50) i")
	mustExec(t, conn, "select isolate_tenant_to_new_shard('shop.order_events', 'a7', 'CASCADE', 'block_writes')")
	mustExec(t, conn, "call shop.tick()")
	shards := pgtest.One[int](t, conn, "select count(*) from pg_dist_shard where logicalrelid = 'shop.order_events'::regclass")
	if keys := pgtest.One[int](t, conn, "select count(*) from shop_internal.pgt_shards"); keys != shards || shards != 10 {
		t.Errorf("%d of %d shards have a key", keys, shards)
	}
	var claimed []string
	for {
		ids := pgtest.Column[string](t, conn, "select event_id from shop.inbox_claim('order_events', 100)")
		if len(ids) == 0 {
			break
		}
		mustExec(t, conn, "select shop.inbox_mark_processed('order_events', $1::text[])", ids)
		claimed = append(claimed, ids...)
	}
	slices.Sort(claimed)
	if claimed = slices.Compact(claimed); len(claimed) != 50 {
		t.Errorf("%d of 50 messages are claimed", len(claimed))
	}
}

// TestWorkersShare holds that the workers of any number have all messages, each of them once.
func TestWorkersShare(t *testing.T) {
	c := newCluster(t, "shop")
	conn := c.connect(t, 1)
	mustExec(t, conn, "select shop.inbox_receive('order_events', 'm' || i, 't', '{}') from generate_series(1, 200) i")
	for _, workers := range []int{1, 2, 3, 8, 11} {
		seen := map[string]int{}
		mustExec(t, conn, "begin")
		for worker := range workers {
			for {
				ids := pgtest.Column[string](t, conn, fmt.Sprintf("select event_id from shop.inbox_claim('order_events', 200, %d, %d)", worker, workers))
				if len(ids) == 0 {
					break
				}
				mustExec(t, conn, "select shop.inbox_mark_processed('order_events', $1::text[], $1::text[])", ids)
				for _, id := range ids {
					seen[id]++
				}
			}
		}
		mustExec(t, conn, "rollback")
		if len(seen) != 200 {
			t.Errorf("%d of 200 messages are of one of %d workers", len(seen), workers)
		}
		for id, times := range seen {
			if times > 1 {
				t.Errorf("message %s was claimed %d times by %d workers", id, times, workers)
			}
		}
	}
}

// TestDownRemovesAll holds that a script removes what the other one makes, but for schemas and roles.
func TestDownRemovesAll(t *testing.T) {
	for _, name := range []string{"shop", "odd"} {
		c := newCluster(t, name)
		c.install(t, installed.Migration(t, filepath.Join("testdata", name, "spec.yaml"), "down"))
		for node := range c.nodes {
			left := pgtest.Column[string](t, c.connect(t, node), `select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
				where n.nspname ~ 'shop|app|Odd|virtual' union all select p.proname::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
				where n.nspname ~ 'shop|app|Odd|virtual'`)
			if len(left) > 0 {
				t.Errorf("%s leaves %v on node %d", name, left, node)
			}
		}
	}
}
