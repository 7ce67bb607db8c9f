-- The sequences $1, those of identity columns among them.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.relname::text as name,
    format_type(s.seqtypid, null) as type,
    s.seqstart as start,
    s.seqincrement as increment,
    s.seqmin as min,
    s.seqmax as max,
    s.seqcache as cache,
    s.seqcycle as cycle,
    coalesce(d.refobjid, 0)::bigint as owner,
    coalesce(a.attname::text, '') as ownercolumn
from pg_sequence s
join pg_class c on c.oid = s.seqrelid
join pg_namespace n on n.oid = c.relnamespace
left join pg_depend d
    on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = d.classid and d.refobjsubid > 0 and d.deptype in ('a', 'i')
left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
where c.oid = any ($1::bigint[]::oid[])
