-- The indexes $1 that are no constraints.
select
    i.indexrelid::bigint as oid,
    i.indrelid::bigint as relation,
    n.nspname::text as schema,
    c.relname::text as name,
    pg_get_indexdef(i.indexrelid) as definition
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_namespace n on n.oid = c.relnamespace
where i.indexrelid = any ($1::bigint[]::oid[])
