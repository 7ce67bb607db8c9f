-- What the catalog should hold of a database, in the form in which TestDumps prints it:
--   psql -XAtq -f live.sql DATABASE > NAME.live
-- Mostly NAME.sql is what pg_dump -s wrote, and DATABASE what it restores to: where a column was added to a parent late, a dump has another order.
set search_path = '';

create temp view user_relation as
select c.*, format('%I.%I', n.nspname, c.relname) as name
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname !~ '^(pg_|information_schema)' and c.relkind in ('r', 'p', 'f', 'v', 'm');

select
    'relation', name,
    case relkind when 'r' then 'table' when 'p' then 'partitioned table' when 'f' then 'foreign table' when 'v' then 'view' else 'materialized view' end,
    relispartition, relrowsecurity,
    (select pg_catalog.string_agg(p.name, ',' order by i.inhseqno)
     from pg_catalog.pg_inherits i join pg_temp.user_relation p on p.oid = i.inhparent where i.inhrelid = r.oid)
from pg_temp.user_relation r
order by 2;

select
    'column', r.name, pg_catalog.row_number() over (partition by r.oid order by a.attnum), a.attname,
    pg_catalog.format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> 0 and c.collname <> 'default' then format('%I.%I', n.nspname, c.collname) end,
    a.attnotnull and not exists (
        select from pg_catalog.pg_constraint k
        where k.conrelid = r.oid and k.contype = 'n' and k.conkey = array[a.attnum] and (not k.convalidated or k.connoinherit)
    ),
    a.attidentity <> '', a.attgenerated <> '', a.attgenerated = 'v'
from pg_temp.user_relation r
join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_collation c on c.oid = a.attcollation
left join pg_catalog.pg_namespace n on n.oid = c.collnamespace
where r.relkind in ('r', 'p', 'f')
order by 2, 3;

with keys as (
    select
        r.name, i.indisprimary,
        (select pg_catalog.string_agg(a.attname, ',' order by k.n)
         from pg_catalog.unnest(i.indkey::int2[]) with ordinality k (attnum, n)
         join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum = k.attnum
         where k.n <= i.indnkeyatts) as columns,
        exists (
            select
            from pg_catalog.generate_series(0, i.indnkeyatts - 1) k (n)
            left join pg_catalog.pg_opclass o on o.oid = i.indclass[k.n]
            left join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum = i.indkey[k.n]
            where i.indkey[k.n] = 0 or a.attcollation <> i.indcollation[k.n] or not o.opcdefault
        ) as apart
    from pg_catalog.pg_index i
    join pg_temp.user_relation r on r.oid = i.indrelid and r.relkind in ('r', 'p', 'f')
    where i.indisunique and i.indpred is null and i.indimmediate
)
select 'key', name, indisprimary, columns
from keys
where not apart
order by 2, 3 desc, 4;

select
    'function', format('%I.%I', n.nspname, p.proname),
    (select pg_catalog.string_agg(pg_catalog.format_type(t, null), ', ' order by i)
     from pg_catalog.unnest(p.proargtypes::oid[]) with ordinality a (t, i)),
    case p.prokind when 'f' then 'function' when 'p' then 'procedure' when 'a' then 'aggregate' else 'window function' end,
    case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
    p.proretset, p.provariadic <> 0, p.pronargdefaults
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname !~ '^(pg_|information_schema)'
  and not exists (select from pg_catalog.pg_depend d where d.objid = p.oid and d.deptype in ('e', 'i'))
order by 2, 3 nulls first;

select 'collation', format('%I.%I', n.nspname, c.collname), c.collisdeterministic
from pg_catalog.pg_collation c
join pg_catalog.pg_namespace n on n.oid = c.collnamespace
where n.nspname !~ '^(pg_|information_schema)'
order by 2;
