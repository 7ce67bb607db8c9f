-- The schemas $1.
select n.oid::bigint as oid, n.nspname::text as name
from pg_namespace n
where n.oid = any ($1::bigint[]::oid[])
