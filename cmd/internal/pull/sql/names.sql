-- All tables and views that are not the server's own. What an extension or Sluice itself made is marked.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.relname::text as name,
    c.relkind::text as kind,
    exists (
        select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
    ) or n.nspname <> 'public' and exists (
        select from pg_class k where k.relnamespace = n.oid and k.relname = 'pgt_extension' and k.relkind = 'r'
    ) as made
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'f', 'v', 'm')
  and c.oid >= 16384
  and c.relpersistence <> 't'
  and n.nspname !~ '^pg_(toast|temp_|toast_temp_)'
order by n.nspname collate "C", c.relname collate "C"
