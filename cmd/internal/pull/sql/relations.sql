-- Relations by name: $1 are schemas, $2 names.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.relname::text as name,
    c.relkind::text as kind,
    c.oid < 16384 as system,
    has_schema_privilege(n.oid, 'usage') as reachable,
    has_any_column_privilege(c.oid, 'select') as readable
from unnest($1::text[], $2::text[]) as wanted (schema, name)
join pg_namespace n on n.nspname = wanted.schema
join pg_class c on c.relnamespace = n.oid and c.relname = wanted.name
where c.relkind in ('r', 'p', 'f', 'v', 'm', 'S')
