-- What builtin.txt holds: a line for each thing that can be said of a name. Run it on every major version and unite the lines:
--   for major in 14 15 16 17 18; do psql -XAtq -F "$(printf '\t')" -f builtin.sql ...; done | LC_ALL=C sort -u
\set volatility '(array[''immutable'', ''stable'', ''volatile''])[position(p.provolatile::text in ''isv'')]'
set search_path = pg_catalog;

-- Functions that a query can call. One whose overloads differ has several lines.
with callable as (
    select p.*
    from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.prokind <> 'p'
      and not exists (
          select from pg_type t
          where t.oid = any (p.proargtypes || p.prorettype)
            and (t.typname in ('cstring', 'internal') or t.typname ~ '(trigger|_handler)$')
      )
)
select 'function', p.proname, :volatility from callable p
union
select 'function', p.proname, 'set' from callable p where p.proretset
union
select 'function', p.proname, case p.prokind when 'a' then 'aggregate' else 'window' end from callable p where p.prokind in ('a', 'w')
order by 1, 2, 3;

-- The columns of functions that have some, and the results of others that are known only from their arguments.
select
    'columns',
    p.proname,
    (select string_agg(p.proargnames[i], ',' order by i) from generate_subscripts(p.proargmodes, 1) i where p.proargmodes[i] in ('o', 't', 'b'))
from pg_proc p
where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind <> 'p' and p.proargmodes && '{o,t,b}'::"char"[]
union
select 'returns', p.proname, p.prorettype::regtype::text
from pg_proc p
join pg_type t on t.oid = p.prorettype
where p.pronamespace = 'pg_catalog'::regnamespace
  and p.prokind <> 'p'
  and t.typtype = 'p'
  and t.typname ~ '^(any|record)'
  and (p.proargmodes is null or not p.proargmodes && '{o,t,b}'::"char"[])
order by 1, 2, 3;

-- Catalogs and views of them.
select 'relation', c.relnamespace::regnamespace, c.relname, (select string_agg(a.attname, ',' order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0)
from pg_class c
where c.relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and c.relkind in ('r', 'v')
order by 2, 3;

-- Types but arrays and rows of catalogs.
select 'type', t.typname
from pg_type t
where t.typnamespace = 'pg_catalog'::regnamespace
  and t.typtype <> 'c'
  and not exists (select from pg_type e where e.typarray = t.oid)
order by 1, 2;

-- Operators that are not immutable.
select
    'operator',
    o.oprname,
    case when o.oprleft = 0 then '' else o.oprleft::regtype::text end,
    o.oprright::regtype,
    :volatility
from pg_operator o
join pg_proc p on p.oid = o.oprcode
where o.oprnamespace = 'pg_catalog'::regnamespace
  and p.provolatile <> 'i'
order by 1, 2, 3, 4;

-- Casts that are not immutable, by function or through the text of the value.
select 'cast', c.castsource::regtype, c.casttarget::regtype, :volatility
from pg_cast c
join pg_proc p on p.oid = c.castfunc
where p.provolatile <> 'i'
union
select 'cast', 'text'::regtype, t.oid::regtype, :volatility
from pg_type t
join pg_proc p on p.oid = t.typinput
where p.provolatile <> 'i' and t.typtype in ('b', 'r', 'm') and t.typelem = 0 and t.typnamespace = 'pg_catalog'::regnamespace
union
select 'cast', t.oid::regtype, 'text'::regtype, :volatility
from pg_type t
join pg_proc p on p.oid = t.typoutput
where p.provolatile <> 'i' and t.typtype in ('b', 'r', 'm') and t.typelem = 0 and t.typnamespace = 'pg_catalog'::regnamespace
order by 1, 2, 3;
