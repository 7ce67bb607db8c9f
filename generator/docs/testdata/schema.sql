create table customers (id bigint primary key, region text not null, name text);
create table orders (id bigint primary key, customer_id bigint not null references customers, status text not null, amount numeric(12,2) not null, placed_at timestamptz);
create view big as select * from orders where amount > 100;
