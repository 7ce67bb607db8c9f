-- The collations $1. Columns that came or were renamed after version 14 are read by name.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.collname::text as name,
    case c.collprovider when 'i' then 'icu' when 'b' then 'builtin' else 'libc' end as provider,
    coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale', '') as locale,
    coalesce(c.collcollate::text, '') as collate,
    coalesce(c.collctype::text, '') as ctype,
    c.collisdeterministic as deterministic,
    coalesce(to_jsonb(c) ->> 'collicurules', '') as rules
from pg_collation c
join pg_namespace n on n.oid = c.collnamespace
where c.oid = any ($1::bigint[]::oid[])
