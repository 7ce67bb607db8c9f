-- The tables $1.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.relname::text as name,
    c.relkind::text as kind,
    c.relpersistence = 'u' as unlogged,
    c.relispartition as partition,
    coalesce(nullif(c.reloftype, 0)::regtype::text, '') as of,
    coalesce(pg_get_partkeydef(c.oid), '') as key,
    coalesce(pg_get_expr(c.relpartbound, c.oid), '') as bound,
    array(
        select i.inhparent::bigint from pg_inherits i where i.inhrelid = c.oid order by i.inhseqno
    ) as parents,
    c.relrowsecurity as secured,
    c.relforcerowsecurity as forced,
    coalesce(s.srvname::text, '') as server,
    coalesce(f.ftoptions, '{}') as options
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_foreign_table f on f.ftrelid = c.oid
left join pg_foreign_server s on s.oid = f.ftserver
where c.oid = any ($1::bigint[]::oid[])
