-- Sample tables that messages in the inboxes are about. Replace them with the DDL of your own.

create table orders (
    order_id    text primary key,
    customer_id text not null,
    status      text not null default 'new',
    amount      numeric(12, 2) not null
);

create table captured_payments (
    payment_id text primary key,
    order_id   text not null references orders,
    amount     numeric(12, 2) not null
);
