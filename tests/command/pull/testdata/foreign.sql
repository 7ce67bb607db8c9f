-- Foreign tables, without what leads to other hosts.
-- dumps differ: the options of servers are not written
create extension postgres_fdw;
create server "Far" type 'pg' version '9.6' foreign data wrapper postgres_fdw options (host 'secret.example.com', dbname 'd');
create user mapping for public server "Far" options (user 'u', password 'secret');
create foreign table far_away (id integer options (column_name 'ID') not null, t text collate "C" default 'x', constraint positive check (id > 0))
    server "Far" options (schema_name 'it''s', table_name 'T');
create table parts (id integer, t text) partition by list (id);
create foreign table part_1 partition of parts for values in (1) server "Far";
create foreign data wrapper nobody;
create server dummy foreign data wrapper nobody;
create foreign table handless (a integer) server dummy options (x 'y');
