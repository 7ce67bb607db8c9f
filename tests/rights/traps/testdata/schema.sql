create table customers (id bigint primary key, region text not null);
create table orders (id bigint primary key, customer_id bigint not null references customers, amount numeric(12,2) not null, placed_at timestamptz not null default now());
