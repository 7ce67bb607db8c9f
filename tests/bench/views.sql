-- What the views read: sales as facts; products (1k) and customers (100k) as dimensions.
create table product (id integer primary key, name text not null, category integer not null);
create table customer (id integer primary key, name text not null, city integer not null);
create table sale (
    id bigint primary key,
    product_id integer not null,
    customer_id integer not null,
    bucket integer not null,
    amount integer not null
);
create index sale_product_id on sale (product_id);
create index sale_customer_id on sale (customer_id);
create index sale_bucket on sale (bucket);
