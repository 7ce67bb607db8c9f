create table public.raw_orders (
    order_id    bigint primary key,
    customer_id bigint not null,
    amount      numeric not null,
    note        text
);
create table public.orders (
    order_id    bigint,
    customer_id bigint,
    amount      numeric
);
