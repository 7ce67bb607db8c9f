-- The extensions $1.
select
    x.oid::bigint as oid,
    x.extname::text as name,
    n.nspname::text as schema,
    exists (
        select from pg_depend d
        where d.classid = 'pg_namespace'::regclass and d.objid = n.oid and d.refclassid = 'pg_extension'::regclass
          and d.refobjid = x.oid and d.deptype = 'e'
    ) as makesschema
from pg_extension x
join pg_namespace n on n.oid = x.extnamespace
where x.oid = any ($1::bigint[]::oid[])
