-- The casts $1.
select
    c.oid::bigint as oid,
    format_type(c.castsource, null) as source,
    format_type(c.casttarget, null) as target,
    coalesce(nullif(c.castfunc, 0)::regprocedure::text, '') as function,
    c.castmethod::text as method,
    c.castcontext::text as context
from pg_cast c
where c.oid = any ($1::bigint[]::oid[])
