-- Defaults and checks that need the table or domain that they belong to.
create table nodes (id integer primary key, name text, n integer);
create function next_id(n nodes) returns integer language sql immutable as 'select 1';
create function is_valid(n nodes) returns boolean language sql immutable as 'select true';
create function how_many() returns integer language sql stable begin atomic; select count(*)::integer from nodes; end;
alter table nodes alter column id set default next_id(null);
alter table nodes add constraint is_valid check (is_valid(row(id, name, 1)::nodes));
alter table nodes alter column n set default how_many();
create domain even as integer;
create function is_even(e even) returns boolean language sql immutable as 'select e % 2 = 0';
alter domain even add constraint evenly check (is_even(value));
alter domain even add constraint small check (value < 100) not valid;
create table uses_even (e even, f nodes[]);
create view of_rows as select is_valid(row(n.id, n.name, n.n)::nodes) as v, n from nodes n;
create table rows_of_view (v of_rows);
