-- Module core of the runtime of Sluice 0.1.0, as extension pgtrickle has it: the same for everyone. Do not edit.

-- The version of the extension that is installed: one row.
create table pgtrickle.pgt_extension (
    name         text        not null primary key,
    version      text        not null,
    digest       text        not null,
    flavour      text        not null check (flavour in ('plain', 'extension')),
    installed_at timestamptz not null default now(),
    manifest     text -- of what sluice apply installed: it upgrades and uninstalls by it
);
comment on table pgtrickle.pgt_extension is 'The version of the extension that is installed. (Sluice: pgtrickle in pgtrickle)';

-- What the spec says of the whole: the modules of the runtime beside core, the schedule of ticks, the path of queries, and settings with
-- another value than the default.
create table pgtrickle_internal.pgt_spec (
    name  text not null primary key,
    value text not null
);

-- Returns the modules of the runtime that are installed, beside core. tick() calls it, without a path.
-- Reads pgt_spec.
create function pgtrickle_internal.pgt_modules()
    returns text[]
    language plpgsql
    stable
as $function$
begin
    return (select s.value from pgtrickle_internal.pgt_spec s where s.name operator(pg_catalog.=) 'modules')::pg_catalog.text[];
end;
$function$;

-- Returns the version of Sluice that wrote what all extensions share, and the modules of it that are installed, such as 0.1.0 (core,
-- inbox).
create function pgtrickle.runtime_version()
    returns text
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return '0.1.0' || ' (' || array_to_string(array['core'] || pgtrickle_internal.pgt_modules(), ', ') || ')';
end;
$function$;
comment on function pgtrickle.runtime_version() is
    'Returns the version of Sluice that wrote what all extensions share, and the modules of it that are installed, such as 0.1.0 (core, '
    'inbox). (Sluice: pgtrickle in pgtrickle)';

-- Settings, which the owner changes with update.
create table pgtrickle.pgt_settings (
    name       text not null primary key,
    value      text not null,
    spec_value text not null,
    at_least   integer,
    constraint value_is_on_off_or_a_number_from_at_least check (case
        when at_least is null then value in ('on', 'off')
        when value ~ '^[0-9]{1,10}$' then value::bigint between at_least and 2147483647
        else false
    end)
);
comment on table pgtrickle.pgt_settings is 'Settings, which the owner changes with update. (Sluice: pgtrickle in pgtrickle)';

-- The settings, or one: value is that of the session or database (pg_trickle.<name>) if it may set it, else of pgt_settings, else of the
-- spec; at_least is the least number, or null for on or off. A session may set what deletes nothing.
create function pgtrickle_internal.pgt_setting(p_name text default null)
    returns table (name text, value text, spec_value text, at_least integer)
    language plpgsql -- keeps its plan, where a function in SQL is planned by each statement that calls it
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return query
    select d.name, coalesce(x.value, s.value, g.value), g.value, d.at_least
    from (values
        ('outbox', 'outbox_enabled', 'on', null, true),
        ('outbox', 'outbox_retention_hours', '24', 0, false),
        ('outbox', 'outbox_drain_batch_size', '10000', 1, true),
        ('outbox', 'outbox_inline_threshold_rows', '10000', 0, true),
        ('outbox', 'outbox_claim_check_batch_size', '1000', 1, true),
        ('outbox', 'outbox_drain_interval_seconds', '60', 1, true),
        ('outbox', 'outbox_storage_critical_mb', '1024', 1, true),
        ('outbox', 'outbox_skip_empty_delta', 'on', null, true),
        ('outbox', 'outbox_force_retention', 'off', null, false),
        ('outbox', 'poll_wait_ms', '2000', 1, true),
        ('outbox', 'consumer_dead_threshold_hours', '24', 1, false),
        ('outbox', 'consumer_stale_offset_threshold_days', '7', 1, false),
        ('outbox', 'consumer_cleanup_enabled', 'on', null, false),
        ('inbox', 'inbox_enabled', 'on', null, true),
        ('inbox', 'inbox_processed_retention_hours', '72', 0, false),
        ('inbox', 'inbox_dlq_retention_hours', '0', 0, false),
        ('inbox', 'inbox_drain_batch_size', '1000', 1, true),
        ('inbox', 'inbox_drain_interval_seconds', '60', 1, true),
        ('inbox', 'inbox_dlq_alert_max_per_refresh', '10', 0, true),
        ('inbox', 'ordering_gap_alert_seconds', '30', 1, true)
    ) d (module, name, value, at_least, in_session)
    left join pgtrickle_internal.pgt_spec p on p.name = d.name
    cross join lateral coalesce(p.value, d.value) g (value)
    left join pgtrickle.pgt_settings s on s.name = d.name
    -- A session can set any text: a value that is not valid is ignored.
    left join lateral substring(
        current_setting('pg_trickle.' || d.name, true) from case when d.at_least is null then '^(?:on|off)$' else '^[0-9]{1,9}$' end
    ) x (value) on d.in_session
    where d.module = any ((select m.value from pgtrickle_internal.pgt_spec m where m.name = 'modules')::text[])
      and (p_name is null or d.name = p_name);
end;
$function$;

-- The versions of the extension that were installed in this database, one row each, in the order of no; the newest is attached.
--
-- way: extension is CREATE or ALTER EXTENSION, tle the same by scripts that pg_tle keeps. attach() adds the rows. A restore is recognised
-- by the cluster and database that the data was last used in, or by row_xmin, the row's own xmin, which a restored row does not have.
create table pgtrickle_internal.pgt_version_history (
    no                integer     not null primary key,
    version           text        not null,
    digest            text        not null,
    flavour           text        not null,
    way               text        not null check (way in ('apply', 'migration', 'dbt', 'extension', 'tle')),
    role_name         name        not null default current_user,
    installed_at      timestamptz not null,
    system_identifier bigint      not null,
    database_oid      bigint      not null,
    row_xmin          text
);

-- Fails unless a version is installed, for scripts that upgrade or remove it, and keeps it installed to the end of the transaction: nobody
-- attaches, and nobody else upgrades, meanwhile.
create function pgtrickle_internal.pgt_require_version(p_version text, p_digest text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    lock table pgtrickle_internal.pgt_version_history in share row exclusive mode;
    if not exists (select from pgtrickle.pgt_extension x where x.version = p_version and x.digest = p_digest) then
        raise exception using
            errcode = '55000',
            message = (select format('version %s of extension %s is not installed', p_version, x.name) from pgtrickle.pgt_extension x),
            detail = (select format('Version %s is, with digest %s.', x.version, x.digest) from pgtrickle.pgt_extension x),
            hint = 'Run the scripts that lead from that version, in order.';
    end if;
end;
$function$;

-- Sets, until the transaction ends, the time zone and the styles that functions have which computed rows that are stored. Functions of a
-- new version would otherwise have those of the session that upgrades.
create function pgtrickle_internal.pgt_keep_settings()
    returns void
    language sql
    set search_path = pg_catalog, pg_temp
as $function$
    select set_config(split_part(s.setting, '=', 1), substr(s.setting, strpos(s.setting, '=') + 1), true)
    from (
        select distinct on (split_part(c, '=', 1)) c
        from pg_proc p
        cross join unnest(p.proconfig) c
        where p.pronamespace = 'pgtrickle_internal'::regnamespace and c ~ '^(TimeZone|DateStyle|IntervalStyle)='
        order by split_part(c, '=', 1), p.oid
    ) s (setting)
$function$;

-- Takes locks for an upgrade, to the end of the transaction: first one that keeps ticks and refreshes out, then those in p_locks, in order:
-- a relation as SQL and a mode, or the name of an outbox and 'groups', or '' and 'created inboxes'. What is gone is passed over, and tables
-- on which only triggers may be made.
--
-- While it has a lock it waits 200 ms at most for the next one, less than the server waits before it looks for deadlocks: sessions that
-- come to the same relations in another order would be ended by one. Ticks and refreshes wait for its first lock before they lock anything.
-- They come from the catalog to the tables of users, inboxes and outboxes, and other writers from these to the catalog: an upgrade would
-- seldom find both free.
create function pgtrickle_internal.pgt_lock_for_upgrade(p_locks text[])
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_patience int := (select s.setting::int from pg_settings s where s.name = 'lock_timeout'); -- ms; 0: no end
    v_locks    text[] := array[['pgtrickle_internal.pgt_tasks', 'exclusive']] || p_locks;
    -- The lock that could not be acquired: the next attempt waits for it alone and releases it, the one after it tries all again.
    v_in_vain  int;
    v_holds    boolean;
    v_lock     record;
begin
    for v_attempt in 1 .. 200 loop
        begin
            v_holds := false;
            for v_lock in
                select n as no, v_locks[n][1] as name, v_locks[n][2] as mode, c.oid::regclass as relation, c.relkind, c.relowner::regrole
                    as owner
                from generate_subscripts(v_locks, 1) n
                left join pg_class c on c.oid = case when v_locks[n][2] not in ('groups', 'created inboxes') then
                    to_regclass(v_locks[n][1]) end
                where case
                          when v_locks[n][2] in ('groups', 'created inboxes') then true
                          when c.relkind in ('r', 'p') then has_table_privilege(c.oid, 'update, delete, truncate')
                          else pg_has_role(c.relowner, 'usage')
                      end
                  and n = coalesce(v_in_vain, n)
                order by n
            loop
                perform set_config('lock_timeout', case
                    when v_holds then least(nullif(v_patience, 0), 200)
                    when v_lock.no = 1 then 30 * v_patience -- only ticks, and refreshes of stream tables, queue behind it
                    else v_patience
                end::text, true);
                if v_lock.mode = 'groups' then -- polls lock their group before they read the outbox
                    perform pg_advisory_xact_lock(-303097264, g.group_no)
                    from (select c.group_no from pgtrickle.pgt_consumer_groups c where c.outbox_name = v_lock.name order by c.group_no) g;
                elsif v_lock.mode = 'created inboxes' then
                    perform pgtrickle_internal.pgt_lock_created();
                -- changes nothing, but locks it; lock table takes no sequence, and with a view all that it reads
                elsif v_lock.relkind not in ('r', 'p') then
                    execute format('alter table %s owner to %s', v_lock.relation, v_lock.owner);
                elsif v_lock.mode = 'share row exclusive' then
                    execute format('lock table %s in share row exclusive mode', v_lock.relation);
                elsif v_lock.mode = 'exclusive' then
                    execute format('lock table %s in exclusive mode', v_lock.relation);
                else
                    execute format('lock table %s in access exclusive mode', v_lock.relation);
                end if;
                v_holds := v_holds or v_lock.no > 1;
            end loop;
            if v_in_vain is null then
                perform set_config('lock_timeout', v_patience::text, true);
                return;
            end if;
            v_holds := true;
            raise lock_not_available;
        exception when lock_not_available or deadlock_detected then -- all are released, so that the session that has the other one goes on
            if not v_holds then
                raise;
            end if;
            v_in_vain := case when v_in_vain is null then v_lock.no end;
        end;
    end loop;
    raise lock_not_available using message = format('%s was never free together with all else that is upgraded', v_lock.name);
end;
$function$;

-- A name that is made from that of an inbox, as generated code has it: one of more than 63 bytes keeps its first 56, whole characters, and
-- gets seven digits of its MD5.
create function pgtrickle_internal.pgt_derived_name(p_full text)
    returns text
    language sql
    immutable
    set search_path = pg_catalog, pg_temp
as $function$
    select case when octet_length(b.bytes) <= 63 then p_full else (
        select left(p_full, max(n)) from generate_series(0, 56) n where octet_length(convert_to(left(p_full, n), 'UTF8')) <= 56
    ) || left(md5(b.bytes), 7) end
    from convert_to(p_full, 'UTF8') b (bytes)
$function$;

-- Background tasks of tick(): when each ran last, how often, and its last error.
create table pgtrickle_internal.pgt_tasks (
    task        text        not null primary key,
    last_run_at timestamptz not null default '-infinity',
    runs        bigint      not null default 0,
    last_error  text
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000);

-- Notifies a channel, once for each transaction. Arguments: the channel and the payload.
-- Transactions that notify commit one after the other: PostgreSQL takes a lock of the whole server for each.
create function pgtrickle_internal.pgt_notify()
    returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pg_notify(tg_argv[0], tg_argv[1]);
    return null;
end;
$function$;

-- Creates triggers, stream tables, and the rows that a dump keeps. Apply, the migrations and tick() call it. No script of an extension
-- does, whose members are made before users' tables are restored, and rows that it inserted would collide with restored ones.
-- p_fill: fill new stream tables in immediate mode, while writers wait until the transaction ends. Otherwise triggers only log until
-- pgt_fill() has.
create function pgtrickle.attach(p_fill boolean default true)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    -- A value that the owner changed stays; one that is still the old spec's follows the spec.
    insert into pgtrickle.pgt_settings as s (name, value, spec_value, at_least)
    select d.name, d.spec_value, d.spec_value, d.at_least
    from pgtrickle_internal.pgt_setting() d
    on conflict (name) do update
        set value = case when s.value = s.spec_value then excluded.value else s.value end,
            spec_value = excluded.spec_value,
            at_least = excluded.at_least
        where (s.spec_value, s.at_least) is distinct from (excluded.spec_value, excluded.at_least);
    insert into pgtrickle_internal.pgt_version_history (
        no, version, digest, flavour, way, installed_at, system_identifier, database_oid, row_xmin
    )
    select coalesce(h.no, 0) + 1, e.version, e.digest, e.flavour,
           case
               when current_setting('sluice.way', true) in ('apply', 'migration', 'dbt') then current_setting('sluice.way', true)
               when e.flavour = 'plain' then 'migration'
               when exists (select from pg_proc p where p.pronamespace::regnamespace::text = 'pgtle' and p.proname = e.name || '.control')
                   then 'tle' -- which keeps control files as functions
               else 'extension'
           end,
           e.installed_at,
           -- Data that was restored and then upgraded is still to be recomputed.
           coalesce(h.system_identifier, c.system_identifier), coalesce(h.database_oid, d.oid::bigint),
           case when h.row_xmin <> h.own_xmin then h.row_xmin end
    from pgtrickle.pgt_extension e
    cross join pg_control_system() c
    join pg_database d on d.datname = current_database()
    left join (select l.*, l.xmin::text as own_xmin from pgtrickle_internal.pgt_version_history l order by l.no desc limit 1) h on true
    where (h.version, h.digest) is distinct from (e.version, e.digest)
    on conflict (no) do nothing; -- another session was faster
    update pgtrickle_internal.pgt_version_history h set row_xmin = h.xmin::text where h.row_xmin is null;
    if 'outbox' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_attach_outboxes();
    end if;
    if 'inbox' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_attach_inboxes();
    end if;
    if 'stream' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_attach_stream_tables(p_fill);
    end if;
end;
$function$;
comment on function pgtrickle.attach(bool) is
    'Creates triggers, stream tables, and the rows that a dump keeps. (Sluice: pgtrickle in pgtrickle)';

-- Drops the triggers and stream tables of the extension. Its other objects can be dropped then.
-- Reads pg_trigger, pg_publication; locks pgt_version_history.
create function pgtrickle.detach()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set client_min_messages = warning
as $function$
begin
    lock table pgtrickle_internal.pgt_version_history in share row exclusive mode; -- no other session attaches or detaches meanwhile
    if 'stream' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_detach_sources();
    end if;
    if 'inbox' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_detach_inboxes();
    end if;
    if 'outbox' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_detach_outboxes();
    end if;
    if 'stream' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_detach_stream_tables();
    end if;
end;
$function$;
comment on function pgtrickle.detach() is 'Drops the triggers and stream tables of the extension. (Sluice: pgtrickle in pgtrickle)';

-- Recomputes derived data after a restore: transaction ids and counts of another cluster are not valid here.
-- Writes what is derived from each inbox, stream tables and their logs, pgt_lease_log, and pgt_version_history.
-- Keeps writers out of an inbox while it is counted, and out of the sources of stream tables until it ends.
create function pgtrickle.after_restore()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if 'inbox' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_inbox_rebuild(c.inbox_name) from pgtrickle.pgt_inbox_config c;
    end if;
    if 'stream' = any (pgtrickle_internal.pgt_modules()) then
        delete from pgtrickle_internal.pgt_source_state;
    end if;
    perform pgtrickle.attach();
    if 'outbox' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_restore_outboxes();
    end if;
    if 'stream' = any (pgtrickle_internal.pgt_modules()) then
        perform pgtrickle_internal.pgt_restore_stream_tables();
    end if;
    update pgtrickle_internal.pgt_version_history h
    set system_identifier = c.system_identifier, database_oid = d.oid::bigint, row_xmin = null
    from pg_control_system() c, pg_database d
    where d.datname = current_database();
    update pgtrickle_internal.pgt_version_history h set row_xmin = h.xmin::text;
end;
$function$;
comment on function pgtrickle.after_restore() is 'Recomputes derived data after a restore. (Sluice: pgtrickle in pgtrickle)';

-- Calls attach() on first use and after an upgrade, and after_restore() in another cluster or database than before.
-- Reads pgt_version_history, pgt_extension.
create function pgtrickle_internal.pgt_check_origin()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set jit = off
as $function$
declare
    v_known    boolean;
    v_attached boolean;
begin
    for v_look in 1..2 loop
        select (h.system_identifier, h.database_oid, h.row_xmin) is not distinct from (c.system_identifier, d.oid::bigint, h.xmin::text),
               (h.version, h.digest) = (e.version, e.digest)
        into v_known, v_attached
        from pgtrickle_internal.pgt_version_history h, pgtrickle.pgt_extension e, pg_control_system() c, pg_database d
        where d.datname = current_database()
        order by h.no desc
        limit 1;
        if v_known and v_attached then
            return;
        end if;
        -- One session does it; the others wait here, look again and find it done.
        lock table pgtrickle_internal.pgt_version_history in share row exclusive mode;
    end loop;
    if not v_known then
        perform pgtrickle.after_restore();
    else
        perform pgtrickle.attach(false);
    end if;
end;
$function$;

-- Commits if p_commits. The next transaction is READ COMMITTED, whatever the session's default, so that it sees later commits. It waits for
-- upgrades, which lock pgt_tasks before they lock anything else: ticks come from the catalog to tables, and claims from tables to the
-- catalog, so an upgrade would seldom find both free.
create procedure pgtrickle_internal.pgt_commit(p_commits boolean)
    language plpgsql
as $procedure$
begin
    if p_commits then
        commit;
        set transaction isolation level read committed;
    end if;
    lock table pgtrickle_internal.pgt_tasks in row share mode;
end;
$procedure$;

-- Takes a task that is due, unless another session has it, by locking its row until the transaction ends; returns whether it did.
-- Writes pgt_tasks.
create function pgtrickle_internal.pgt_take_task(p_task text, p_every interval, p_due timestamptz default null)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- or it is planned each time
as $function$
begin
    update pgtrickle_internal.pgt_tasks t
    set last_run_at = clock_timestamp(), runs = t.runs + 1, last_error = null
    where t.task = (
        select d.task
        from pgtrickle_internal.pgt_tasks d
        -- or the clock was set back
        where d.task = p_task and d.last_run_at not between coalesce(p_due, clock_timestamp() - p_every) and clock_timestamp()
        for update skip locked
    );
    return found;
end;
$function$;

-- Notes the error of a background task, and warns: p_what names what the task is about. Returns false, without a warning, if there is no
-- such task any more, as its object was dropped meanwhile. Writes pgt_tasks.
create function pgtrickle_internal.pgt_note_error(p_task text, p_what text, p_error text)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    update pgtrickle_internal.pgt_tasks t set last_error = left(p_error, 1000) where t.task = p_task;
    if not found then
        return false;
    end if;
    raise warning using message = p_what || ': ' || left(p_error, 1000);
    return true;
end;
$function$;

-- Runs one pass of background work: refreshes, counts, alerts and retention that are due. Each part is a transaction if p_commits is true.
-- Several sessions may run it at once: each skips parts that another one runs.
--
-- No SET clause, and the caller's rights: a procedure with either may not commit. So every name in it has its schema.
create procedure pgtrickle.tick(p_commits boolean default true)
    language plpgsql
as $procedure$
declare
    v_modules constant pg_catalog.text[] := pgtrickle_internal.pgt_modules();
    v_checks  boolean := false;
begin
    call pgtrickle_internal.pgt_commit(p_commits /* in a transaction, select tick_once() instead */); -- shown as the error's CONTEXT
    perform pgtrickle_internal.pgt_check_origin();
    call pgtrickle_internal.pgt_commit(p_commits);
    if 'stream' operator(pg_catalog.=) any (v_modules) then
        call pgtrickle_internal.pgt_tick_stream_tables(p_commits, v_checks);
    end if;
    if 'outbox' operator(pg_catalog.=) any (v_modules) then
        call pgtrickle_internal.pgt_tick_outboxes(p_commits);
    end if;
    if v_checks then
        perform pgtrickle_internal.pgt_check_due(); -- one at most: it takes as long as the query
        call pgtrickle_internal.pgt_commit(p_commits);
    end if;
    if 'inbox' operator(pg_catalog.=) any (v_modules) then
        call pgtrickle_internal.pgt_tick_inboxes(p_commits);
    end if;
end;
$procedure$;
comment on procedure pgtrickle.tick(bool) is 'Runs one pass of background work. (Sluice: pgtrickle in pgtrickle)';

-- Runs the pass of tick() in the caller's transaction. For dbt and tests.
create function pgtrickle.tick_once()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    call pgtrickle.tick(false);
end;
$function$;
comment on function pgtrickle.tick_once() is 'Runs the pass of tick() in the caller''s transaction. (Sluice: pgtrickle in pgtrickle)';

-- Ticks every p_every, by default as often as the spec says, for p_for: the pg_cron job of every minute calls it. See tick(): every name
-- has its schema.
-- Reads pgt_spec.
create procedure pgtrickle.run(p_for interval default '59 seconds', p_every interval default null)
    language plpgsql
as $procedure$
declare
    v_every interval := coalesce(
        p_every, (select s.value from pgtrickle_internal.pgt_spec s where s.name operator(pg_catalog.=) 'schedule')::interval
    );
    v_until pg_catalog.timestamptz := pg_catalog.clock_timestamp() operator(pg_catalog.+) p_for;
    v_next  pg_catalog.timestamptz := pg_catalog.clock_timestamp();
begin
    if (p_for is not null and v_every operator(pg_catalog.>=) interval '10 milliseconds') is not true then
        raise exception using errcode = '22023', message = 'p_for, p_every: give two durations, p_every of 10 ms or more',
            detail = pg_catalog.format('p_for is %s, p_every is %s.', coalesce(p_for::pg_catalog.text, '<null>'), v_every),
            hint = 'For example: call run(''59 seconds'', ''1 second'').';
    end if;
    loop
        call pgtrickle.tick();
        -- A pass that took longer than v_every does not pile up others behind it.
        v_next := greatest(v_next operator(pg_catalog.+) v_every, pg_catalog.clock_timestamp());
        exit when v_next operator(pg_catalog.>=) v_until;
        -- Not until then if the clock was set back meanwhile.
        perform pg_catalog.pg_sleep_for(least(v_next operator(pg_catalog.-) pg_catalog.clock_timestamp(), v_every));
        commit;
    end loop;
end;
$procedure$;
comment on procedure pgtrickle.run("interval", "interval") is
    'Ticks every p_every, by default as often as the spec says, for p_for. (Sluice: pgtrickle in pgtrickle)';
