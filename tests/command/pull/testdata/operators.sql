-- Operators, operator classes, casts and collations of the user's.
create schema ops;
create type ops.version as (major integer, minor integer);
create function ops.cmp(a ops.version, b ops.version) returns integer language sql immutable as 'select btint4cmp(a.major, b.major)';
create function ops.lt(a ops.version, b ops.version) returns boolean language sql immutable as 'select a.major < b.major';
create function ops.le(a ops.version, b ops.version) returns boolean language sql immutable as 'select a.major <= b.major';
create function ops.eq(a ops.version, b ops.version) returns boolean language sql immutable as 'select a.major = b.major';
create function ops.ge(a ops.version, b ops.version) returns boolean language sql immutable as 'select a.major >= b.major';
create function ops.gt(a ops.version, b ops.version) returns boolean language sql immutable as 'select a.major > b.major';
create operator ops.<<< (function = ops.lt, leftarg = ops.version, rightarg = ops.version, commutator = operator(ops.>>>), negator = operator(ops.>=>), restrict = scalarltsel, join = scalarltjoinsel);
create operator ops.<=< (function = ops.le, leftarg = ops.version, rightarg = ops.version);
create operator ops.=== (function = ops.eq, leftarg = ops.version, rightarg = ops.version, commutator = operator(ops.===), merges, hashes);
create operator ops.>=> (function = ops.ge, leftarg = ops.version, rightarg = ops.version, negator = operator(ops.<<<));
create operator ops.>>> (function = ops.gt, leftarg = ops.version, rightarg = ops.version, commutator = operator(ops.<<<));
create operator class ops.version_ops default for type ops.version using btree as
    operator 1 ops.<<<, operator 2 ops.<=<, operator 3 ops.===, operator 4 ops.>=>, operator 5 ops.>>>, function 1 ops.cmp(ops.version, ops.version);
create operator family ops.unneeded using hash;
create function ops.negative(integer) returns integer language sql immutable as 'select -$1';
create operator ops.!- (function = ops.negative, rightarg = integer);
create function ops.text_of(v ops.version) returns text language sql immutable as $$select v.major || '.' || v.minor$$;
create cast (ops.version as text) with function ops.text_of(ops.version) as assignment;
create type ops.state as enum ('on', 'off');
create cast (ops.state as text) with inout as implicit;
create cast (text as ops.state) with inout;
create function ops.yes(b boolean) returns bigint language sql immutable as 'select b::integer::bigint';
create cast (boolean as bigint) with function ops.yes(boolean);
create table ops.releases (v ops.version primary key, s ops.state, old integer, unique (s, v));
create unique index on ops.releases (v ops.version_ops desc);
create view ops.latest as
    select r.v, r.v::text as spelled, operator(ops.!-) r.old as minus, (r.old > 3)::bigint as many
    from ops.releases r join ops.releases o on r.v operator(ops.>>>) o.v where r.s = 'on' || '' group by r.v, r.old order by r.v using operator(ops.<<<);
create function ops.distance(a ops.version, b ops.version) returns double precision language sql immutable as 'select 1.0::float8';
create type ops.versions as range (subtype = ops.version, subtype_opclass = ops.version_ops, subtype_diff = ops.distance);
create table ops.spans (span ops.versions);
create collation ops.german from "C";
create table ops.words (w text collate ops.german, x text collate "POSIX", unique (w, x));
