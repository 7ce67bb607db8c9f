-- The text search dictionaries $1.
select
    d.oid::bigint as oid,
    n.nspname::text as schema,
    d.dictname::text as name,
    format('%I.%I', tn.nspname, t.tmplname) as template,
    coalesce(d.dictinitoption, '') as options
from pg_ts_dict d
join pg_namespace n on n.oid = d.dictnamespace
join pg_ts_template t on t.oid = d.dicttemplate
join pg_namespace tn on tn.oid = t.tmplnamespace
where d.oid = any ($1::bigint[]::oid[])
