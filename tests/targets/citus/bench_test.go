//go:build citus

package citus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// BenchmarkProcess claims one message, inserts a row that is colocated with it and marks the message, in one transaction, by 8 sessions: on the coordinator or on the
// workers, of which there are 1, 2 or 4, all on this machine. It ends when all of b.N messages are processed.
func BenchmarkProcess(b *testing.B) {
	for _, workers := range []int{1, 2, 4} {
		for _, at := range []string{"coordinator", "workers"} {
			b.Run(fmt.Sprintf("workers=%d/sessions=%s", workers, at), func(b *testing.B) {
				c := clusterOf(b, "shop", workers)
				c.install(b, effects)
				node := func(n int) int {
					if at == "coordinator" {
						return 0
					}
					return 1 + n%workers
				}
				b.ResetTimer()
				b.StopTimer()
				mustExec(b, c.connect(b, 0), fmt.Sprintf(`insert into shop.order_events (event_id, event_type, aggregate_id, payload)
					select 'm' || i, 't', 'a' || i %% 1000, '{}' from generate_series(1, %d) i`, b.N))
				coordinator, others := cpu(b, c.nodes[0]), 0.0
				for _, s := range c.nodes[1:] {
					others -= cpu(b, s)
				}
				b.StartTimer()
				process(b, c, node)
				b.StopTimer()
				for _, s := range c.nodes[1:] {
					others += cpu(b, s)
				}
				b.ReportMetric((cpu(b, c.nodes[0])-coordinator)*1e6/float64(b.N), "coordinator-cpu-µs/op")
				b.ReportMetric(others*1e6/float64(b.N), "workers-cpu-µs/op")
			})
		}
	}
}

// BenchmarkNothing claims where nothing is pending, which looks into each shard.
func BenchmarkNothing(b *testing.B) {
	c := newCluster(b, "shop")
	conn := c.connect(b, 0)
	for b.Loop() {
		pgtest.Column[string](b, conn, "select event_id from shop.inbox_claim('order_events')")
	}
}

func process(b *testing.B, c *cluster, node func(int) int) {
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	for n := range 8 {
		conn := c.connect(b, node(n))
		all.Go(func() {
			for left.Load() > 0 {
				err := pgx.BeginFunc(b.Context(), conn, func(tx pgx.Tx) error {
					var id, aggregate string
					err := tx.QueryRow(b.Context(), "select event_id, aggregate_id from shop.inbox_claim('order_events')").Scan(&id, &aggregate)
					if err == pgx.ErrNoRows {
						return nil
					}
					if err == nil {
						_, err = tx.Exec(b.Context(), "insert into public.effects values ($1, $2, 'done')", id, aggregate)
					}
					if err == nil {
						_, err = tx.Exec(b.Context(), "select shop.inbox_mark_processed('order_events', $1, $2)", id, aggregate)
					}
					if err == nil {
						left.Add(-1)
					}
					return err
				})
				if err != nil {
					b.Error(pgtest.ErrorText(err))
					return
				}
			}
		})
	}
	all.Wait()
}

// cpu is the processor time in seconds that a server has used, with the sessions that are over.
func cpu(b *testing.B, s *commandtest.Server) float64 {
	b.Helper()
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	ticks := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it is over
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:])) // from the state on
		own := strings.HasPrefix(path, fmt.Sprintf("/proc/%d/", s.PID()))
		if parent, _ := strconv.Atoi(fields[1]); !own && parent != s.PID() {
			continue
		}
		for _, field := range fields[11:map[bool]int{true: 15, false: 13}[own]] { // user and system time, and of the server also that of its children
			n, _ := strconv.Atoi(field)
			ticks += n
		}
	}
	return float64(ticks) / 100
}
