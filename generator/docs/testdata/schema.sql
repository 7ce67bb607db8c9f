create table customers (id bigint primary key, region text not null, name text);
create table orders (id bigint primary key, customer_id bigint not null references customers, status text not null, amount numeric(12,2) not null, placed_at timestamptz);
create view big as select * from orders where amount > 100;
create table incoming (
    msg_id uuid primary key, event_type varchar(40) not null, payload jsonb not null, came_at timestamptz not null, processed_at timestamptz, error text,
    retry_count integer not null, due timestamptz, other text
);
