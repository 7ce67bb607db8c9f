-- The ledger of the demo: one row for each effect of a message, written with it in one transaction.
--
-- It has no key, on purpose: an effect that happens twice must show, not be refused.
create table ledger (
    event_id   text           not null,
    event_type text           not null,
    order_id   text           not null,
    amount     numeric(12, 2) not null check (amount > 0),
    worker     text           not null,
    booked_at  timestamptz    not null default clock_timestamp()
);

-- What consumers of the outbox were handed; without a key for the same reason.
create table deliveries (
    event_id     text        not null,
    outbox_id    bigint      not null,
    attempts     integer     not null,
    consumer     text        not null,
    delivered_at timestamptz not null default clock_timestamp()
);

-- As many as the events speak of.
insert into customers (name, email)
select 'Customer ' || n, 'customer' || n || '@example.com'
from generate_series(1, 250) n;
