-- What each of the relations $1 is.
select
    c.oid::bigint as oid,
    c.relkind::text as kind,
    exists (
        select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i' and c.relkind = 'S'
    ) as identity,
    exists (select from pg_constraint k where k.conindid = c.oid and k.contype in ('p', 'u', 'x')) as constrains
from pg_class c
where c.oid = any ($1::bigint[]::oid[])
