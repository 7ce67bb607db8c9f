package main

// side is one of the two that are compared. Both run the same Go code; only the SQL differs.
type side struct {
	table string
	ticks bool   // a scheduler works for it
	claim string // $1: at most how many
	mark  string // $1: the ids

	leases bool // claim and mark are transactions of their own; mark has $2, the lease, and returns how many
}

// columns are those that a worker reads: the ones of inbox_claim that the table has.
const columns = "event_id, event_type, source, aggregate_id, payload, received_at, retry_count, trace_id"

func markIn(table string) string {
	return "update " + table + " set processed_at = now() where event_id = any($1)"
}

// ours is the inbox, by its SQL interface.
var ours = side{
	table: "pgtrickle.payments",
	ticks: true,
	claim: "select * from pgtrickle.inbox_claim('payments', $1)",
	mark:  markIn("pgtrickle.payments"),
}

// queue is the usual table with a partial index and SKIP LOCKED.
var queue = side{
	table: "plain.queue",
	claim: "select " + columns + " from plain.queue where processed_at is null order by received_at limit $1 for update skip locked",
	mark:  markIn("plain.queue"),
}

// bare is a table with nothing but the unique key: what dedup costs at least.
var bare = side{table: "plain.bare"}
