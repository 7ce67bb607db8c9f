-- What one would write without Sluice: the same columns, the unique key, and a partial index for those who work.
create schema plain;

create table plain.queue (
    event_id     text        primary key,
    event_type   text        not null,
    source       text,
    aggregate_id text,
    payload      jsonb       not null,
    received_at  timestamptz not null default now(),
    processed_at timestamptz,
    error        text,
    retry_count  integer     not null default 0,
    trace_id     text
) with (autovacuum_vacuum_cost_delay = 10); -- as the inbox, whose turns it would disturb otherwise
create index queue_pending on plain.queue (received_at) where processed_at is null;

-- For workers that lease: the claim is a column, as it outlives the transaction.
create table plain.leased (like plain.queue including all, leased_until timestamptz) with (autovacuum_vacuum_cost_delay = 10);

-- For inserts: the unique key and nothing else.
create table plain.bare (like plain.queue including defaults, primary key (event_id));
