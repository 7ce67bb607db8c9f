-- The views and materialized views $1.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.relname::text as name,
    c.relkind = 'm' as materialized,
    coalesce(pg_get_viewdef(c.oid), '') as query,
    case when c.relkind = 'v' then coalesce(c.reloptions, '{}') else '{}' end as options
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.oid = any ($1::bigint[]::oid[])
