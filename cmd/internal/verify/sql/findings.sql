-- What plpgsql_check finds in every plpgsql routine of a schema: functions and procedures once, trigger functions once for each table that
-- their triggers are on, with all transition tables that these give them. A trigger function without a trigger cannot be checked, which is a finding.
with routine as materialized (
    select p.oid, p.prorettype = 'trigger'::regtype as is_trigger
      from pg_proc p
      join pg_language l on l.oid = p.prolang
     where l.lanname = 'plpgsql'
       and p.pronamespace = any (array(select n.oid from pg_namespace n where n.nspname = any ($1::text[])))
), target as materialized ( -- only plpgsql may reach plpgsql_check_function_tb
    select r.oid, coalesce(t.tgrelid, 0)::regclass as rel, max(t.tgoldtable::text)::name as tgoldtable, max(t.tgnewtable::text)::name as tgnewtable
      from routine r
      left join pg_trigger t on r.is_trigger and t.tgfoid = r.oid and not t.tgisinternal
     where not r.is_trigger or t.oid is not null
     group by r.oid, t.tgrelid
)
select t.oid::regprocedure::text,
       case when t.rel::oid = 0 then '' else t.rel::text end,
       coalesce(c.lineno, 0), c.level, c.sqlstate, c.message,
       coalesce(c.detail, ''), coalesce(c.hint, ''), coalesce(c.query, '')
  from target t
 cross join lateral plpgsql_check.plpgsql_check_function_tb(
       funcoid => t.oid::regprocedure, relid => t.rel, fatal_errors => false,
       other_warnings => true, performance_warnings => true, extra_warnings => true,
       security_warnings => true, compatibility_warnings => true,
       oldtable => t.tgoldtable, newtable => t.tgnewtable) c
 -- Of functions that EXECUTE all that they do it does not know whether they could be STABLE, and says so.
 where c.detail is distinct from 'attention: cannot to determine volatility of used dynamic SQL'
   -- The table of an inbox without a back-off lacks the column, and the functions that inboxes share do not read it there.
   and c.message not in ('column n.available_at does not exist', 'record "new" has no field "available_at"')
union all
select r.oid::regprocedure::text, '', 0, 'error', '00000', 'no trigger calls this trigger function: it cannot be checked',
       '', '', ''
  from routine r
 where r.is_trigger and not exists (select from target t where t.oid = r.oid)
 order by 1, 2, 3, 6
