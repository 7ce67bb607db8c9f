-- What builtin.txt holds: a line for each thing that can be said of a name. Run it on every major version and unite the lines:
--   for major in 14 15 16 17 18; do psql -XAtq -F "$(printf '\t')" -f builtin.sql ...; done | LC_ALL=C sort -u
\set volatility '(array[''immutable'', ''stable'', ''volatile''])[position(p.provolatile::text in ''isv'')]'
set search_path = pg_catalog;

-- Functions that a query can call: kind, volatility, whether they return sets, types of the arguments, how many may be left out, of which type any number
-- of them follow, the result, and the names of the arguments where a call may give them.
select
    'function',
    p.proname,
    case p.prokind when 'a' then case a.aggkind when 'n' then 'aggregate' when 'o' then 'ordered' else 'hypothetical' end when 'w' then 'window' else 'plain' end,
    :volatility,
    case when p.proretset then 'set' end,
    (select string_agg(t::regtype::text, ',' order by n) from unnest(p.proargtypes) with ordinality as u (t, n)),
    p.pronargdefaults,
    nullif(p.provariadic, 0)::regtype,
    p.prorettype::regtype,
    case when p.proargnames is not null then (
        select string_agg(p.proargnames[i], ',' order by i)
        from generate_subscripts(p.proargnames, 1) i
        where p.proargmodes is null or p.proargmodes[i] in ('i', 'b', 'v')
    ) end
from pg_proc p
left join pg_aggregate a on a.aggfnoid = p.oid
where p.pronamespace = 'pg_catalog'::regnamespace
  and p.prokind <> 'p'
  and not exists (
      select from pg_type t
      where t.oid = any (p.proargtypes || p.prorettype)
        and (t.typname in ('cstring', 'internal') or t.typname ~ '(trigger|_handler)$')
  );

-- The columns of functions that have some, with their types, and the results of others that are known only from their arguments.
select
    'columns',
    p.proname,
    (select string_agg(p.proargnames[i], ',' order by i) from generate_subscripts(p.proargmodes, 1) i where p.proargmodes[i] in ('o', 't', 'b')),
    (select string_agg(p.proallargtypes[i]::regtype::text, ',' order by i) from generate_subscripts(p.proargmodes, 1) i where p.proargmodes[i] in ('o', 't', 'b'))
from pg_proc p
where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind <> 'p' and p.proargmodes && '{o,t,b}'::"char"[]
union
select 'returns', p.proname, p.prorettype::regtype::text, null
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

-- Types but arrays and rows of catalogs: kind, category, whether it is the preferred one of that, the type of elements of those that are like arrays,
-- of a range its subtype, of a multirange its range, and how values are compared.
select
    'type',
    t.oid::regtype,
    t.typname,
    t.typtype,
    t.typcategory,
    case when t.typispreferred then 'preferred' end,
    nullif(t.typelem, 0)::regtype,
    coalesce(r.rngsubtype, m.rngtypid)::regtype,
    (
        select string_agg(distinct a.amname, ',' order by a.amname)
        from pg_opclass c
        join pg_am a on a.oid = c.opcmethod
        where c.opcdefault
          and a.amname in ('btree', 'hash')
          and (c.opcintype = t.oid or c.opcintype in (select casttarget from pg_cast where castsource = t.oid and castfunc = 0 and castcontext = 'i'))
    )
from pg_type t
left join pg_range r on r.rngtypid = t.oid
left join pg_range m on m.rngmultitypid = t.oid
where t.typnamespace = 'pg_catalog'::regnamespace
  and t.typtype <> 'c'
  and not exists (select from pg_type e where e.typarray = t.oid);

-- Operators.
select
    'operator',
    o.oprname,
    case when o.oprleft = 0 then '' else o.oprleft::regtype::text end,
    o.oprright::regtype,
    :volatility,
    o.oprresult::regtype
from pg_operator o
join pg_proc p on p.oid = o.oprcode
where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprright <> 0
order by 1, 2, 3, 4;

-- Casts; where they are made: i without being asked for, a in an assignment, e where they are written; how: f by a function, i through text, b not at all.
select 'cast', c.castsource::regtype, c.casttarget::regtype, c.castcontext, c.castmethod, case when c.castfunc = 0 then 'immutable' else :volatility end
from pg_cast c
left join pg_proc p on p.oid = c.castfunc
where c.oid < 16384;

-- Casts through the text of a value that are not immutable.
select 'through', 'text'::regtype, t.oid::regtype, :volatility
from pg_type t
join pg_proc p on p.oid = t.typinput
where p.provolatile <> 'i' and t.typtype in ('b', 'r', 'm') and t.typelem = 0 and t.typnamespace = 'pg_catalog'::regnamespace
union
select 'through', t.oid::regtype, 'text'::regtype, :volatility
from pg_type t
join pg_proc p on p.oid = t.typoutput
where p.provolatile <> 'i' and t.typtype in ('b', 'r', 'm') and t.typelem = 0 and t.typnamespace = 'pg_catalog'::regnamespace
order by 1, 2, 3;
