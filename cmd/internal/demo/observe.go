package demo

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Observation is what the database holds when all is done.
type Observation struct {
	Effects  map[string][]string // by event: the workers whose effects are in the ledger
	Dead     map[string]bool     // events among the dead letters
	Stats    map[string]Counts   // by event type, as the extension counts
	Recount  map[string]Counts   // by event type, as its tables hold them
	Types    map[string]Outcome  // by event type
	Failures int                 // attempts that were marked as failed
	Orders   int                 // in the shop's table
	Captured int64               // cents, in the shop's table
	Ticks    int                 // of the scheduler
	Errors   []string            // of background tasks
	Tables   map[string]Compared // by stream table

	Published  map[string]int      // by event: its rows in the outbox
	Deliveries map[string][]string // by event: the consumers that it was delivered to
	Delivered  Outcome             // of the outbox
}

// Compared is a stream table beside its recomputed query.
type Compared struct{ Rows, Wrong int }

// Outcome is how messages fared.
type Outcome struct {
	Processed   int      `json:"processed"`
	Retried     int      `json:"retried"` // processed after a failure
	DeadLetters int      `json:"dead_letters"`
	P50         *float64 `json:"p50_ms"` // from received to processed, of those neither delayed, retried nor committed late
	P99         *float64 `json:"p99_ms"`
}

// allTypes is the key of the outcome over all event types.
const allTypes = ""

// messagesSQL is the rows of both inboxes; only one of them knows delays.
const messagesSQL = `(
    select 'order_events' as inbox, m.event_id, m.event_type, m.received_at, m.processed_at, m.retry_count, m.available_at
    from pgtrickle.order_events m
    union all
    select 'payments', m.event_id, m.event_type, m.received_at, m.processed_at, m.retry_count, null
    from pgtrickle.payments m
) m
join pgtrickle.pgt_inbox_config c on c.inbox_name = m.inbox`

// outcomeSQL takes the ids in transactions that were held open: these are received when they begin, and seen when they end.
const outcomeSQL = `
select coalesce(m.event_type, ''),
       count(*) filter (where m.processed_at is not null),
       count(*) filter (where m.processed_at is not null and m.retry_count > 0),
       count(*) filter (where m.processed_at is null and m.retry_count >= c.max_retries),
       percentile_cont(0.5) within group (order by l.ms) filter (where l.ms is not null),
       percentile_cont(0.99) within group (order by l.ms) filter (where l.ms is not null)
from ` + messagesSQL + `
left join (select distinct h.event_id from unnest($1::text[]) h (event_id)) late on late.event_id = m.event_id
cross join lateral (
    select case when m.retry_count = 0 and m.available_at is null and late.event_id is null
                then extract(epoch from m.processed_at - m.received_at)::float8 * 1000 end as ms
) l
group by grouping sets ((m.event_type), ())`

const recountSQL = `
select m.event_type,
       count(*) filter (where m.processed_at is null and m.retry_count < c.max_retries),
       count(*) filter (where m.processed_at is not null),
       count(*) filter (where m.processed_at is null and m.retry_count >= c.max_retries)
from ` + messagesSQL + `
group by m.event_type`

const statsSQL = `
select s.event_type, s.pending, s.processed, s.dead_letter from pgtrickle.order_events_stats s
union all
select s.event_type, s.pending, s.processed, s.dead_letter from pgtrickle.payments_stats s`

const totalsSQL = `
select (select sum(m.retry_count) from ` + messagesSQL + `),
       (select count(*) from orders),
       (select coalesce(sum(p.amount) * 100, 0)::bigint from captured_payments p),
       (select min(t.runs) from pgtrickle_internal.pgt_tasks t where t.task like '%: counts')`

// deliveredSQL measures from the beginning of the transaction that published, which is when an event says it was created.
const deliveredSQL = `
select count(distinct d.outbox_id),
       count(distinct d.outbox_id) filter (where d.attempts > 1),
       (select count(*) from events.pgt_consumer_dead_letters),
       percentile_cont(0.5) within group (order by l.ms) filter (where d.attempts = 1),
       percentile_cont(0.99) within group (order by l.ms) filter (where d.attempts = 1)
from deliveries d
join events.outbox_shop_events e on e.id = d.outbox_id
cross join lateral (select extract(epoch from d.delivered_at - e.created_at)::float8 * 1000 as ms) l`

// observe reads the end of a run; late are ids whose latency says nothing.
func observe(ctx context.Context, conn *pgx.Conn, late []string) (Observation, error) {
	o := Observation{
		Effects: map[string][]string{}, Dead: map[string]bool{}, Stats: map[string]Counts{}, Recount: map[string]Counts{}, Types: map[string]Outcome{},
		Published: map[string]int{}, Deliveries: map[string][]string{},
	}
	r := reader{ctx: ctx, conn: conn}

	var id, kind, text string
	var workers []string
	var counts Counts
	var outcome Outcome
	r.each(`select event_id, array_agg(worker) from ledger group by event_id`,
		func() { o.Effects[id], workers = workers, nil }, &id, &workers)
	r.each(`select event_id from pgtrickle.order_events_dlq union all select event_id from pgtrickle.payments_dlq`,
		func() { o.Dead[id] = true }, &id)
	r.each(statsSQL, func() { o.Stats[kind] = counts }, &kind, &counts.Pending, &counts.Processed, &counts.DeadLetter)
	r.each(recountSQL, func() { o.Recount[kind] = counts }, &kind, &counts.Pending, &counts.Processed, &counts.DeadLetter)
	r.args = []any{late}
	r.each(outcomeSQL, func() { o.Types[kind] = outcome },
		&kind, &outcome.Processed, &outcome.Retried, &outcome.DeadLetters, &outcome.P50, &outcome.P99)
	var count int
	r.each(`select payload ->> 'event_id', count(*) from events.outbox_shop_events group by 1`, func() { o.Published[id] = count }, &id, &count)
	r.each(`select event_id, array_agg(consumer) from deliveries group by event_id`, func() { o.Deliveries[id], workers = workers, nil }, &id, &workers)
	d := &o.Delivered
	r.each(deliveredSQL, func() {}, &d.Processed, &d.Retried, &d.DeadLetters, &d.P50, &d.P99)
	r.each(`
		select task || ': ' || last_error
		from (table pgtrickle_internal.pgt_tasks union all table events_internal.pgt_tasks) t
		where last_error is not null`,
		func() { o.Errors = append(o.Errors, text) }, &text)
	r.each(totalsSQL, func() {}, &o.Failures, &o.Orders, &o.Captured, &o.Ticks)
	if r.err == nil {
		o.Tables, r.err = compareTables(ctx, conn)
	}
	return o, r.err
}

// reader runs queries up to the first error.
type reader struct {
	ctx  context.Context
	conn *pgx.Conn
	args []any // of the next query
	err  error
}

// each scans every row into the variables and calls use.
func (r *reader) each(query string, use func(), into ...any) {
	if r.err != nil {
		return
	}
	rows, err := r.conn.Query(r.ctx, query, r.args...)
	r.args = nil
	if err != nil {
		r.err = err
		return
	}
	_, r.err = pgx.ForEachRow(rows, into, func() error { use(); return nil })
}
