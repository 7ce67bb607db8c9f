-- Inheritance: of several parents, merged columns, constraints and defaults of one's own, and tables put below others later.
-- dumps differ: which columns a table has of its own is not kept
create table persons (id serial primary key, name text not null default 'nobody', constraint named check (name <> ''));
create table taxed (id integer not null, rate numeric);
create table employees (salary numeric) inherits (persons, taxed);
create table bosses (name text default 'boss', bonus numeric, unique (id)) inherits (employees);
create table later (bonus numeric, name text not null, id integer not null, extra text, constraint named check (name <> ''));
alter table later inherit persons;
alter table persons add column born date;
alter table only persons alter column born set default '2000-01-01';
