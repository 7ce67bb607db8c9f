create table customers (id int primary key, region int, name text not null);
create table products (id int primary key, kind text not null, price numeric(10, 2) not null);
create table orders (id int primary key, customer int not null, product int not null, amount int not null, note text);
create table lines (order_id int not null references orders on delete cascade, no int not null, quantity int, primary key (order_id, no));
create table events (kind text, n int);
