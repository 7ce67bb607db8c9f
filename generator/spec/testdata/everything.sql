create table orders (order_id bigint primary key, customer_id bigint, day date, amount numeric);
