-- What each login of $1 may do with each relation, function and schema, whatever it has it by. Privileges of PostgreSQL 17 on tables are in $2.
with
logins as (select l.login, l.no from unnest($1::text[]) with ordinality l (login, no)),
schemas as (select n.oid, n.nspname from pg_namespace n where n.nspname in ('pgtrickle', 'pgtrickle_internal', 'public')),
relations as (
    select c.oid, c.relkind, format('%s.%s', s.nspname, c.relname) as name
    from pg_class c
    join schemas s on s.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
),
granted as (
    select 1 as kind, r.name, l.login, p.privilege, p.no, a.attname::text as of_column, a.attnum::integer as column_no
    from relations r
    join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped and r.relkind <> 'S'
    cross join logins l
    cross join unnest('{select,insert,update,references}'::text[]) with ordinality p (privilege, no)
    where has_column_privilege(l.login, r.oid, a.attnum, p.privilege)
    union all
    select 1, r.name, l.login, p.privilege, 10 + p.no, null, 0
    from relations r
    cross join logins l
    cross join unnest(array['delete', 'truncate', 'trigger'] || $2::text[]) with ordinality p (privilege, no)
    where r.relkind <> 'S' and has_table_privilege(l.login, r.oid, p.privilege)
    union all
    select 2, r.name, l.login, p.privilege, p.no, null, 0
    from relations r
    cross join logins l
    cross join unnest('{select,update,usage}'::text[]) with ordinality p (privilege, no)
    where r.relkind = 'S' and has_sequence_privilege(l.login, r.oid, p.privilege)
    union all
    -- A function with its caller's rights gives none.
    select 3, format('%s.%s()', s.nspname, f.proname), l.login, 'execute', 1, null, 0
    from pg_proc f
    join schemas s on s.oid = f.pronamespace
    cross join logins l
    where f.prosecdef and has_function_privilege(l.login, f.oid, 'execute')
    union all
    select 4, s.nspname, l.login, p.privilege, p.no, null, 0
    from schemas s
    cross join logins l
    cross join unnest('{usage,create}'::text[]) with ordinality p (privilege, no)
    where s.nspname <> 'public' and has_schema_privilege(l.login, s.oid, p.privilege)
)
select g.kind, g.name, g.login, g.privilege, coalesce(g.of_column, ''), coalesce(g.of_column is not null and count(g.of_column) over w < (
           select count(*) from pg_attribute a where a.attrelid = format('%I.%I', split_part(g.name, '.', 1), split_part(g.name, '.', 2))::regclass and a.attnum > 0 and not a.attisdropped
       ), false) as is_part
from granted g
window w as (partition by g.kind, g.name, g.login, g.privilege)
order by g.kind, g.name, g.login, g.no, g.column_no
