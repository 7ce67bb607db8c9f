create table public.orders (
    id bigint primary key,
    customer_id bigint not null,
    amount numeric not null,
    status text not null default 'new'
);
create table public.customers (
    id bigint primary key,
    name text not null
);
insert into public.customers select n, 'customer ' || n from generate_series(1, 10) n;
insert into public.orders select n, n % 10 + 1, n, case n % 3 when 0 then 'new' else 'paid' end from generate_series(1, 300) n;
