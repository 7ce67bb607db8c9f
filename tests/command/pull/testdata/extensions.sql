-- What belongs to extensions comes by CREATE EXTENSION: types, operators, functions, dictionaries, tables that they made, and other extensions.
create schema ext;
create schema unneeded;
create extension citext with schema ext;
create extension hstore with schema ext;
create extension btree_gist with schema ext;
create extension pg_trgm;
create extension cube with schema ext;
create extension earthdistance with schema ext;
create extension unaccent with schema unneeded;
create extension pg_stat_statements with schema ext;
create table ext.own (
    e ext.citext primary key, h ext.hstore, room integer, during tsrange, c ext.cube[], near double precision default ext.earth(),
    exclude using gist (room with =, during with &&)
);
create view alike as select a.e, b.e as other from ext.own a join ext.own b on a.e::text % b.e::text where a.h operator(ext.@>) b.h;
create view statements as select query, calls from ext.pg_stat_statements;
