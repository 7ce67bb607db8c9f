package main

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The sides whose workers lease messages: the claim commits, and so does the mark, if the lease still holds. The plain table has a column for the end of
// the lease, as one would do it by hand.
var (
	ourLease = side{
		table: ours.table, ticks: true, leases: true,
		claim: "select * from pgtrickle.inbox_claim_lease('payments', $1)",
		mark:  "select pgtrickle.inbox_mark_processed('payments', $1::text[], $2)",
	}
	plainLease = side{
		table: "plain.leased", leases: true,
		claim: "update plain.leased set leased_until = now() + interval '30 s' where event_id in (select event_id from plain.leased " +
			"where processed_at is null and (leased_until is null or leased_until < now()) order by received_at limit $1 for update skip locked) " +
			"returning " + columns + ", 0::bigint",
		mark: "with marked as (update plain.leased set processed_at = now() where event_id = any($1) and leased_until >= now() + make_interval(secs => $2) returning 1) " +
			"select count(*) from marked",
	}
)

func leaseCases() []benchCase {
	var all []benchCase
	for _, batch := range []int{100, 1} {
		for _, workers := range []int{1, 10} {
			for _, baseline := range []side{queue, plainLease} {
				name := fmt.Sprintf("%s, batch %d, synchronous_commit off, against leases by hand", plural(workers, "worker"), batch)
				if !baseline.leases {
					name = fmt.Sprintf("%s, batch %d, synchronous_commit off, against row locks", plural(workers, "worker"), batch)
				}
				all = append(all, benchCase{leaseSection, name, func(ctx context.Context, b *bench) ([]row, error) {
					result := row{Case: name, Unit: "messages/s"}
					if workers == 10 && batch == 100 && !baseline.leases {
						result.goal(atLeast(2.5))
					}
					return b.claim(ctx, result, []side{ourLease, baseline}, workers, batch, "off")
				}})
			}
		}
	}
	return all
}

// leaseAndMark is what a worker does around its work. The last column of a claim is the lease.
func leaseAndMark(ctx context.Context, conn *pgx.Conn, x side, batch int) (int, error) {
	var ids []string
	var lease uint64
	rows, err := conn.Query(ctx, x.claim, batch)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		values := rows.RawValues()
		ids = append(ids, string(values[0]))
		lease = binary.BigEndian.Uint64(values[len(values)-1])
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return 0, err
	}
	marked := 0
	if err := conn.QueryRow(ctx, x.mark, ids, int64(lease)).Scan(&marked); err != nil {
		return 0, err
	}
	if marked != len(ids) {
		return 0, fmt.Errorf("%s: leased %d messages, marked %d", x.table, len(ids), marked)
	}
	return marked, nil
}
