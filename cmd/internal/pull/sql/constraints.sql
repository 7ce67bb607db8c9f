-- The constraints $1 of tables and domains.
select
    c.oid::bigint as oid,
    c.conrelid::bigint as relation,
    c.contypid::bigint as domain,
    format('%I.%I', n.nspname, coalesce(r.relname, t.typname)) as owner,
    c.conname::text as name,
    c.contype::text as kind,
    pg_get_constraintdef(c.oid) as definition,
    c.convalidated or coalesce(to_jsonb(c) ->> 'conenforced', 'true') = 'false' as valid
from pg_constraint c
left join pg_class r on r.oid = c.conrelid
left join pg_type t on t.oid = c.contypid
join pg_namespace n on n.oid = coalesce(r.relnamespace, t.typnamespace)
where c.oid = any ($1::bigint[]::oid[])
order by position(c.contype::text in 'puxc'), c.conname collate "C"
