-- The functions, procedures and window functions $1. Those in SQL may name what they need in their body alone.
select
    p.oid::bigint as oid,
    n.nspname::text as schema,
    p.proname::text as name,
    pg_get_function_identity_arguments(p.oid) as args,
    p.prokind = 'a' as isaggregate,
    case when p.prokind = 'a' then '' else pg_get_functiondef(p.oid) end as definition
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where p.oid = any ($1::bigint[]::oid[])
