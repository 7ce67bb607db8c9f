-- The foreign-data wrappers $1.
select
    w.oid::bigint as oid,
    w.fdwname::text as name,
    coalesce(nullif(w.fdwhandler, 0)::regproc::text, '') as handler,
    coalesce(nullif(w.fdwvalidator, 0)::regproc::text, '') as validator
from pg_foreign_data_wrapper w
where w.oid = any ($1::bigint[]::oid[])
