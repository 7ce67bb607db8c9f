-- A check that has to wait, on tables that are below one another.
-- dumps differ: which columns a table has of its own is not kept
create table nodes (id integer primary key, name text);
create function is_valid(n nodes) returns boolean language sql immutable as 'select true';
alter table nodes add constraint is_valid check (is_valid(row(id, name)::nodes));
create table below (extra text) inherits (nodes);
create table beside (id integer not null, name text) partition by list (id);
create table beside_1 partition of beside for values in (1);
create function also_valid(b beside) returns boolean language sql immutable as 'select true';
alter table beside add constraint also_valid check (also_valid(row(id, name)::beside));
