-- The columns of the tables and composite types $1. The names of NOT NULL constraints are known from version 18 on.
select
    a.attrelid::bigint as relation,
    a.attname::text as name,
    format_type(a.atttypid, a.atttypmod) as type,
    coalesce(nullif(a.attcollation, t.typcollation)::regcollation::text, '') as collation,
    a.attnotnull as notnull,
    coalesce(k.conname::text, '') as notnullas,
    coalesce(k.connoinherit, false) as noinherit,
    coalesce(k.convalidated, true) as valid,
    a.attidentity::text as identity,
    a.attgenerated::text as generated,
    coalesce(d.oid, 0)::bigint as defaultoid,
    coalesce(pg_get_expr(d.adbin, d.adrelid), '') as default,
    coalesce(a.attfdwoptions, '{}') as options
from pg_attribute a
join pg_type t on t.oid = a.atttypid
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'n' and k.conkey = array[a.attnum]
where a.attrelid = any ($1::bigint[]::oid[]) and a.attnum > 0 and not a.attisdropped
order by a.attrelid, a.attnum
