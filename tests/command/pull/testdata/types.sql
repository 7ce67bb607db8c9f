-- Types that need each other in other orders than by name.
create schema zoo;
create domain zoo.positive as numeric(10, 2) not null check (value > 0) check (value < 1000000);
create domain zoo.a_small as zoo.positive default 1 constraint a_not_huge check (value < 100);
create type zoo.colour as enum ('red', 'green');
alter type zoo.colour add value 'blue' before 'green';
create type zoo.point as (x double precision, y double precision, colour zoo.colour);
create type zoo.a_path as (name text collate "C", points zoo.point[]);
create type zoo.floatrange as range (subtype = double precision, subtype_diff = float8mi);
create type zoo.textrange as range (subtype = text, collation = "C", multirange_type_name = zoo.many_texts);
create collation zoo.binary (locale = 'C');
create type zoo.collrange as range (subtype = text, collation = zoo.binary);
create domain zoo.ranges as zoo.floatrange[] check (array_length(value, 1) < 5);
create table zoo.everything (
    a smallint, b integer[][], c numeric(12, 0), d char(3), e varchar, f varchar(7)[], g bit(4), h bit varying, i timestamp(0), j timestamptz,
    k time(3) with time zone, l interval year to month, m interval(2), n "char", o name, p uuid, q jsonb, r xml, s money, t int4range, u datemultirange,
    v zoo.a_small, w zoo.colour[], x zoo.a_path, y zoo.floatmultirange, z zoo.many_texts, aa zoo.collrange, bb zoo.ranges, cc regclass, dd oid, ee tsvector,
    ff text collate "C", gg text collate zoo.binary, hh zoo.positive[], ii bpchar, jj timestamptz default '2024-03-01 12:00:00+05',
    kk date default 'infinity', ll float8 default 0.1, mm real default 'NaN', nn bytea default '\x00ff', oo zoo.colour default 'blue'
);
create table zoo.typed of zoo.point (x with options not null default 1, primary key (x));
create table zoo.plainly of zoo.point;
create table zoo.nothing ();
