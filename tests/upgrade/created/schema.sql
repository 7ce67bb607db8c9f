create table parcels (
    no bigint primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default clock_timestamp(), processed_at timestamptz,
    error text, retry_count integer not null default 0
);
create table stays (like parcels including all) partition by hash (no);
create table stays_0 partition of stays for values with (modulus 2, remainder 0);
create table stays_1 partition of stays for values with (modulus 2, remainder 1);
create table lists (id bigint primary key, kind text not null);
