create table items (id int primary key, v int);
create table i6 (
    event_id text primary key, event_type text not null, source text, aggregate_id text, payload jsonb not null,
    received_at timestamptz not null default clock_timestamp(), processed_at timestamptz, error text, retry_count integer not null default 0, trace_id text,
    available_at timestamptz
);
