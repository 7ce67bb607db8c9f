-- The operator families $1.
select o.oid::bigint as oid, n.nspname::text as schema, o.opfname::text as name, m.amname::text as method
from pg_opfamily o
join pg_namespace n on n.oid = o.opfnamespace
join pg_am m on m.oid = o.opfmethod
where o.oid = any ($1::bigint[]::oid[])
