-- The foreign servers $1. Their options lead to other hosts and stay behind.
select
    s.oid::bigint as oid,
    s.srvname::text as name,
    coalesce(s.srvtype, '') as type,
    coalesce(s.srvversion, '') as version,
    w.fdwname::text as wrapper
from pg_foreign_server s
join pg_foreign_data_wrapper w on w.oid = s.srvfdw
where s.oid = any ($1::bigint[]::oid[])
