-- What queries name besides tables and operators: $1 is what each name is for, $2 its schema, $3 the name. What belongs to an extension
-- stands for it.
with wanted as (
    select u.kind, n.oid as schema, u.name
    from unnest($1::text[], $2::text[], $3::text[]) as u (kind, schema, name)
    join pg_namespace n on n.nspname = u.schema
),
used (classid, objid) as (
    select 'pg_proc'::regclass, p.oid
    from wanted w join pg_proc p on p.pronamespace = w.schema and p.proname = w.name
    where w.kind = 'function' and p.prokind <> 'p'
    union
    select 'pg_type'::regclass, t.oid
    from wanted w join pg_type t on t.typnamespace = w.schema and t.typname = w.name
    where w.kind = 'type'
    union
    select 'pg_collation'::regclass, c.oid
    from wanted w join pg_collation c on c.collnamespace = w.schema and c.collname = w.name
    where w.kind = 'collation'
)
select distinct
    coalesce(d.refclassid, u.classid)::regclass::text as class,
    coalesce(d.refobjid, u.objid)::bigint as oid
from used u
left join pg_depend d on d.classid = u.classid and d.objid = u.objid and d.deptype = 'e'
where u.objid >= 16384
order by 1, 2
