-- The shop's own tables, which its workers change while they process messages.

create table customers (
    customer_id bigint generated always as identity primary key,
    name        text not null,
    email       text not null unique
);

create table orders (
    order_id    text primary key,
    customer_id bigint not null references customers,
    status      text not null default 'new',
    amount      numeric(12, 2) not null,
    placed_at   timestamptz not null default now()
);

create table captured_payments (
    payment_id  text primary key,
    order_id    text not null references orders,
    amount      numeric(12, 2) not null,
    captured_at timestamptz not null default now()
);
