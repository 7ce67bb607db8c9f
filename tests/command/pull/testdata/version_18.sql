-- at least 18
create table t (
    id integer primary key,
    a integer constraint named not null,
    b integer not null no inherit,
    c integer,
    v integer generated always as (a * 2) virtual,
    s integer generated always as (a * 3) stored,
    constraint never check (a < 0) not enforced
);
alter table t add constraint c_there not null c not valid;
create table below (d integer constraint d_there not null) inherits (t);
create domain d as integer constraint d_set not null constraint d_small check (value < 10);
create domain e as integer not null;
create table bookings (room int4range, during daterange, constraint booked primary key (room, during without overlaps));
create table guests (room int4range, during daterange, constraint stays foreign key (room, period during) references bookings (room, period during));
create table unchecked (id integer references t not enforced, e e);
create table parted (k integer constraint k_there not null, w integer) partition by list (k);
create table parted_1 (w integer, k integer constraint own_k not null);
alter table parted attach partition parted_1 for values in (1);
