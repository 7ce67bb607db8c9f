package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"
)

// settings are what the figures depend on.
func (b *bench) settings(ctx context.Context) ([]setting, error) {
	all := []setting{
		{"cores", fmt.Sprintf("%d, shared with the client", runtime.NumCPU())},
		{"load average before", loadAverage()},
		{"turns", fmt.Sprintf("%d of %g s for each side", b.cfg.Rounds, b.cfg.Seconds)},
		{"payload", fmt.Sprintf("%d bytes", b.cfg.Payload)},
		{"event types", fmt.Sprintf("%d, mixed within a statement", b.cfg.Types)},
		{"locale", cmp.Or(b.cfg.Locale, "C.UTF-8")},
		{"sales", fmt.Sprintf("%d; products %d, customers %d; synchronous_commit off for views", b.cfg.Sales, products, customers)},
		{"batch size, synchronous_commit", "as each row says"},
	}
	err := connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		for _, name := range strings.Fields("server_version shared_buffers fsync full_page_writes wal_sync_method max_wal_size autovacuum") {
			var value string
			if err := conn.QueryRow(ctx, "select current_setting($1)", name).Scan(&value); err != nil {
				return err
			}
			all = append(all, setting{name, value})
		}
		return nil
	})
	return all, err
}
