-- The range types $1.
select
    r.rngtypid::bigint as oid,
    format_type(r.rngsubtype, null) as subtype,
    case when o.opcdefault then '' else format('%I.%I', n.nspname, o.opcname) end as opclass,
    coalesce(nullif(r.rngcollation, s.typcollation)::regcollation::text, '') as collation,
    coalesce(nullif(r.rngcanonical::oid, 0)::regproc::text, '') as canonical,
    coalesce(nullif(r.rngsubdiff::oid, 0)::regproc::text, '') as subdiff,
    r.rngmultitypid::regtype::text as multirange
from pg_range r
join pg_type s on s.oid = r.rngsubtype
join pg_opclass o on o.oid = r.rngsubopc
join pg_namespace n on n.oid = o.opcnamespace
where r.rngtypid = any ($1::bigint[]::oid[])
