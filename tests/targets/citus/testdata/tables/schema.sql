create table orders (id bigint, customer_id bigint not null, amount numeric, status text, region text, primary key (customer_id, id));
select create_distributed_table('orders', 'customer_id');
create table customers (id bigint primary key, name text not null, region text, born date);
select create_distributed_table('customers', 'id', colocate_with => 'orders');
create table regions (region text primary key, name text, rate numeric);
select create_reference_table('regions');
create table notes (id bigint, customer_id bigint not null references customers on delete cascade, primary key (customer_id, id));
select create_distributed_table('notes', 'customer_id', colocate_with => 'customers');
