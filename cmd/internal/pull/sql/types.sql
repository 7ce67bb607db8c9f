-- The types $1.
select
    t.oid::bigint as oid,
    n.nspname::text as schema,
    t.typname::text as name,
    t.typtype::text as kind,
    exists (select from pg_type e where e.typarray = t.oid) as isarray,
    t.typrelid::bigint as relation,
    coalesce(c.relkind::text, '') as relationkind,
    array(
        select e.enumlabel::text from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder
    ) as labels,
    coalesce(format_type(nullif(t.typbasetype, 0), t.typtypmod), '') as base,
    coalesce(case when t.typtype = 'd' then nullif(t.typcollation, b.typcollation) end::regcollation::text, '') as collation,
    coalesce(pg_get_expr(t.typdefaultbin, 0), '') as default,
    t.typnotnull as notnull,
    coalesce(k.conname::text, '') as notnullas
from pg_type t
join pg_namespace n on n.oid = t.typnamespace
left join pg_class c on c.oid = t.typrelid
left join pg_type b on b.oid = t.typbasetype
left join pg_constraint k on k.contypid = t.oid and k.contype = 'n'
where t.oid = any ($1::bigint[]::oid[])
