//go:build citus

package citus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const seed = 11

// effects is the business table: distributed as the inbox is, so that the work on a message stays on its node.
const effects = `create table public.effects (event_id text not null, aggregate_id text not null, what text not null);
select create_distributed_table('public.effects', 'aggregate_id', colocate_with => 'shop.order_events');`

// TestExactlyOnce has workers on all nodes claim, work and mark in one transaction, fail, roll back and break off, while nodes are killed and come back or shards move:
// each message has its effect once, and is processed or a dead letter in the end.
func TestExactlyOnce(t *testing.T) {
	for what, fault := range map[string]func(testing.TB, *cluster, int) error{"killed nodes": killNode, "moved shards": moveShard} {
		t.Run(what, func(t *testing.T) { exactlyOnce(t, fault) })
	}
}

// killNode kills a worker node and starts it again.
func killNode(_ testing.TB, c *cluster, n int) error {
	if err := c.nodes[1+n%2].KillAll(); err != nil {
		return err
	}
	return c.nodes[1+n%2].Restart()
}

// moveShard moves a shard with all that is colocated with it from a worker to the other.
func moveShard(t testing.TB, c *cluster, n int) error {
	conn, err := pgx.Connect(t.Context(), c.nodes[0].DSN(c.name))
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), `select citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, o.nodename, o.nodeport, 'block_writes')
		from (select * from citus_shards where table_name = 'shop.order_events'::regclass order by shardid offset $1 limit 1) s
		join pg_dist_node o on o.isactive and o.shouldhaveshards and o.nodeport <> s.nodeport`, n)
	return err
}

func exactlyOnce(t *testing.T, fault func(testing.TB, *cluster, int) error) {
	const messages = 600
	c := newCluster(t, "shop")
	c.install(t, effects)
	first := c.connect(t, 0)
	mustExec(t, first, fmt.Sprintf("select count(shop.inbox_receive('order_events', 'm' || i, 't', '{}', p_aggregate_id => 'a' || i %% 40)) from generate_series(1, %d) i", messages))
	var left atomic.Int64
	left.Store(messages)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			worker := &worker{cluster: c, node: n % 3, random: rand.New(rand.NewPCG(seed, uint64(n))), left: &left}
			worker.run(ctx, t)
		})
	}
	all.Go(func() {
		for n := range 3 {
			time.Sleep(500 * time.Millisecond)
			if err := fault(t, c, n); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%d messages are left", left.Load())
	}
	check := c.connect(t, 0)
	for what, sql := range map[string]string{
		"messages without one effect or death": `select count(*) from shop.order_events i where (select count(*) from public.effects e
			where e.aggregate_id = i.aggregate_id and e.event_id = i.event_id) <> case when i.processed_at is null then 0 else 1 end`,
		"pending messages": "select count(*) from shop.order_events where processed_at is null and retry_count < 3",
		"lost messages":    fmt.Sprintf("select %d - count(*) from shop.order_events", messages),
	} {
		if got := pgtest.One[int](t, check, sql); got != 0 {
			t.Errorf("seed %d: %d %s", seed, got, what)
		}
	}
}

// worker processes messages, over a new connection when the old one is gone.
type worker struct {
	*cluster
	node   int
	random *rand.Rand
	left   *atomic.Int64
}

var errGaveUp = errors.New("the worker gave up")

func (w *worker) run(ctx context.Context, t *testing.T) {
	var conn *pgx.Conn
	for ctx.Err() == nil {
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = pgx.Connect(ctx, w.nodes[w.node].DSN(w.name)); err != nil {
				time.Sleep(50 * time.Millisecond)
				continue
			}
		}
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return w.once(ctx, tx) })
		var refused *pgconn.PgError
		switch {
		case err == nil || errors.Is(err, errGaveUp) || !errors.As(err, &refused):
		case slices.Contains([]string{"57P01", "57P03", "08006", "57P02", "25P02", "40P01", "XX000", "08000", "57014", "P0002"}, refused.Code): // a node is gone, or its connections are; P0002: a shard has just moved
			time.Sleep(20 * time.Millisecond)
		default:
			t.Errorf("seed %d: %s", seed, pgtest.ErrorText(err))
			return
		}
		if err == nil && w.empty(ctx, conn) {
			conn.Close(ctx)
			return
		}
	}
}

// once is one transaction: some messages fail, some workers give up after their work.
func (w *worker) once(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "select event_id, aggregate_id from shop.inbox_claim('order_events', 3)")
	if err != nil {
		return err
	}
	claimed, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ ID, Aggregate string }])
	if err != nil {
		return err
	}
	for _, m := range claimed {
		if w.random.IntN(12) == 0 {
			if _, err := tx.Exec(ctx, "select shop.inbox_mark_failed('order_events', $1, 'no luck', $2)", m.ID, m.Aggregate); err != nil {
				return err
			}
			continue
		}
		if _, err := tx.Exec(ctx, "insert into public.effects values ($1, $2, 'done')", m.ID, m.Aggregate); err != nil {
			return err
		}
		marked := false
		if err := tx.QueryRow(ctx, "select shop.inbox_mark_processed('order_events', $1, $2)", m.ID, m.Aggregate).Scan(&marked); err != nil {
			return err
		}
		if !marked {
			return errGaveUp // another has processed it, as the lock of the claim was lost with a node
		}
	}
	if w.random.IntN(8) == 0 {
		return errGaveUp
	}
	return nil
}

// empty reports whether nothing is pending, after it has made due what failures have delayed.
func (w *worker) empty(ctx context.Context, conn *pgx.Conn) bool {
	if w.random.IntN(10) > 0 {
		return false
	}
	var pending int64
	_, err := conn.Exec(ctx, "update shop.order_events set available_at = now() where processed_at is null and retry_count < 3 and available_at > now()")
	if err == nil {
		err = conn.QueryRow(ctx, "select count(*) from shop.order_events where processed_at is null and retry_count < 3").Scan(&pending)
	}
	w.left.Store(pending)
	return err == nil && pending == 0
}

// TestEachEventOnce has publishers and consumers on all nodes while a group is created: each event that commits after that is acknowledged by it once, each event at
// all by the group that begins with the first.
func TestEachEventOnce(t *testing.T) {
	const publishers, events = 4, 60
	c := newCluster(t, "shop")
	c.install(t, "create table public.acked (group_name text not null, id bigint not null); select create_distributed_table('public.acked', 'group_name'); select shop.create_consumer_group('early', 'events', 'earliest');")
	ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
	defer stop()
	var publishing, consuming sync.WaitGroup
	for n := range publishers {
		conn := c.connect(t, n%3)
		publishing.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			for range events {
				err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, "select shop.outbox_publish('events', 't', '{}', $1)", fmt.Sprint("a", random.IntN(30)))
					time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
					if err == nil && random.IntN(10) == 0 {
						return errGaveUp
					}
					return err
				})
				if err != nil && !errors.Is(err, errGaveUp) {
					t.Errorf("seed %d: %s", seed, pgtest.ErrorText(err))
				}
			}
		})
	}
	time.Sleep(300 * time.Millisecond)
	creating := c.connect(t, 0)
	var before []int64
	if err := pgx.BeginFunc(ctx, creating, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select shop.create_consumer_group('late', 'events')"); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, "select id from shop.outbox_events")
		if err == nil {
			before, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		}
		return err
	}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	var published atomic.Bool
	for n := range 6 {
		conn := c.connect(t, n%3)
		group := []string{"early", "late"}[n%2]
		consuming.Go(func() {
			consume(ctx, t, conn, group, fmt.Sprint("c", n), rand.New(rand.NewPCG(seed, uint64(100+n))), &published)
		})
	}
	publishing.Wait()
	published.Store(true)
	consuming.Wait()
	if ctx.Err() != nil {
		t.Fatal("the consumers did not come to an end")
	}
	check := c.connect(t, 0)
	want := pgtest.Column[int64](t, check, "select id from shop.outbox_events order by id")
	if got := pgtest.Column[int64](t, check, "select id from public.acked where group_name = 'early' order by id"); !slices.Equal(got, want) {
		t.Errorf("seed %d: group early acknowledged %d of %d events", seed, len(got), len(want))
	}
	want = slices.DeleteFunc(want, func(id int64) bool { return slices.Contains(before, id) })
	if got := pgtest.Column[int64](t, check, "select id from public.acked where group_name = 'late' order by id"); !slices.Equal(got, want) {
		t.Errorf("seed %d: group late acknowledged %d of %d events; %d were there before it", seed, len(got), len(want), len(before))
	}
	if len(before) == 0 || len(want) == 0 {
		t.Errorf("%d events before the group and %d after it prove nothing", len(before), len(want))
	}
}

// consume polls and acknowledges, in one transaction with the work, gives back or forgets what it has, until nothing is left.
func consume(ctx context.Context, t *testing.T, conn *pgx.Conn, group, consumer string, random *rand.Rand, published *atomic.Bool) {
	for ctx.Err() == nil {
		last := published.Load()
		var most *int // bytes of text, which is less than an event has
		if random.IntN(3) == 0 {
			most = new(int)
			*most = 1
		}
		rows, _ := conn.Query(ctx, "select id, aggregate_id, lease_id from shop.poll_outbox($1, $2, 5, 1, p_max_bytes => $3)", group, consumer, most)
		leased, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
			ID        int64
			Aggregate string
			Lease     int64
		}])
		if err != nil {
			t.Errorf("seed %d: %s", seed, pgtest.ErrorText(err))
			return
		}
		if most != nil && len(leased) > 1 {
			t.Errorf("seed %d: %d events that have more text than p_max_bytes", seed, len(leased))
		}
		if len(leased) == 0 {
			var open int
			if err := conn.QueryRow(ctx, "select lag_rows from shop.consumer_lag($1)", group).Scan(&open); err == nil && open == 0 && last {
				return
			}
			continue
		}
		var ids []int64
		var aggregates []string
		for _, e := range leased {
			ids, aggregates = append(ids, e.ID), append(aggregates, e.Aggregate)
		}
		switch random.IntN(8) {
		case 0: // dies: the lease ends by itself
			continue
		case 1:
			_, err = conn.Exec(ctx, "select shop.release_rows($1, $2, $3)", group, consumer, ids)
		default:
			err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "insert into public.acked select $1, unnest($2::bigint[])", group, ids); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "select shop.ack_rows($1, $2, $3, $4, $5)", group, consumer, ids, leased[0].Lease, aggregates)
				return err
			})
		}
		if err != nil && !strings.Contains(err.Error(), "lease lost") {
			t.Errorf("seed %d: %s", seed, pgtest.ErrorText(err))
			return
		}
	}
}

func mustExec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s\n%s", pgtest.ErrorText(err), sql)
	}
}
