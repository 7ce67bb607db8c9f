-- Casts and operators that may go with types; of operators those that queries name: $1 are their schemas, $2 their names.
with companions (classid, objid, lefttype, righttype, function) as (
    select 'pg_cast'::regclass, c.oid, c.castsource, c.casttarget, c.castfunc
    from pg_cast c
    where c.oid >= 16384
      and not exists ( -- made together with a range type
          select from pg_depend d where d.classid = 'pg_cast'::regclass and d.objid = c.oid and d.deptype = 'i'
      )
    union all
    select 'pg_operator'::regclass, o.oid, o.oprleft, o.oprright, 0
    from unnest($1::text[], $2::text[]) as wanted (schema, name)
    join pg_namespace n on n.nspname = wanted.schema
    join pg_operator o on o.oprnamespace = n.oid and o.oprname = wanted.name
    where o.oid >= 16384 and o.oprcode <> 0
)
select
    c.classid::text as class,
    c.objid::bigint as oid,
    c.lefttype::bigint as lefttype,
    c.righttype::bigint as righttype,
    c.function::bigint as function,
    coalesce(d.refobjid, 0)::bigint as extension
from companions c
left join pg_depend d on d.classid = c.classid and d.objid = c.objid and d.deptype = 'e'
order by 1, 2
