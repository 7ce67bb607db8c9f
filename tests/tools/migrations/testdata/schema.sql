create table orders (
    id       bigint primary key,
    customer text   not null,
    amount   bigint not null
);
