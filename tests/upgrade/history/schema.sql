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
create table public.incoming (
    msg_id text primary key,
    type varchar(20) not null,
    body jsonb not null,
    got timestamptz not null default clock_timestamp(),
    done timestamptz,
    error text,
    tries integer not null default 0,
    due timestamptz,
    no integer,
    part smallint not null default 0,
    unique (part, msg_id)
);
insert into public.incoming (msg_id, type, body) select 'old' || n, 'old', '{}' from generate_series(1, 20) n;
insert into public.customers select n, 'customer ' || n from generate_series(1, 10) n;
insert into public.orders select n, n % 10 + 1, n, case n % 3 when 0 then 'new' else 'paid' end from generate_series(1, 300) n;
