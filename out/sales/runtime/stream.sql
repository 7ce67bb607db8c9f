-- Module stream of the runtime of Sluice 0.1.0, as extension pgtrickle has it: the same for everyone. Do not edit.

-- Returns whether the extension created a relation: it is in the internal schema, or a view over a relation of it, or its comment has the
-- mark and its owner is the extension's.
create function pgtrickle_internal.pgt_is_own(p_relation regclass)
    returns boolean
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select exists (
        select
        from pg_class c
        join pg_class o on o.oid = 'pgtrickle_internal.pgt_version_history'::regclass
        where c.oid = p_relation and (
            c.relnamespace = o.relnamespace
            or exists (
                select
                from pg_rewrite r
                join pg_depend d on d.classid = r.tableoid and d.objid = r.oid and d.refclassid = c.tableoid
                join pg_class i on i.oid = d.refobjid
                where r.ev_class = c.oid and i.relnamespace = o.relnamespace
            )
            or c.relowner = o.relowner and strpos(obj_description(c.oid, 'pg_class'), '(Sluice: pgtrickle in pgtrickle)') > 0
        )
    )
$function$;

-- Marks a table or view as made by the extension, by its comment.
create function pgtrickle_internal.pgt_adopt(p_relation regclass)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    execute format(case (select c.relkind from pg_class c where c.oid = p_relation)
        when 'v' then 'comment on view %s is %L'
        else 'comment on table %s is %L'
    end, p_relation, '(Sluice: pgtrickle in pgtrickle)');
end;
$function$;

-- Returns whether a relation in a schema of users is missing. One that the extension did not create is an error.
-- A dump without comments has no marks: until after_restore() has run, the relation of that name is marked.
create function pgtrickle_internal.pgt_missing(p_relation text)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_relation regclass := to_regclass(p_relation);
begin
    if v_relation is null and to_regtype(p_relation) is null then
        return true;
    elsif pgtrickle_internal.pgt_is_own(v_relation) then
        return false;
    elsif exists (select from pgtrickle_internal.pgt_version_history h where h.row_xmin is distinct from h.xmin::text) then
        perform pgtrickle_internal.pgt_adopt(v_relation);
        return false;
    end if;
    raise exception using errcode = '42710', message = 'relation already exists: ' || p_relation,
        detail = format('It is of role %s, and extension %s did not make it.', coalesce(
            (select c.relowner from pg_class c where c.oid = v_relation),
                (select t.typowner from pg_type t where t.oid = to_regtype(p_relation))
        )::regrole, 'pgtrickle'),
        hint = 'Rename or drop it, or change the name in the spec. If it is one that Sluice made, end its comment with (Sluice: pgtrickle '
            'in pgtrickle).';
end;
$function$;

-- Drops a table or view, if it is there and the extension made it.
create function pgtrickle_internal.pgt_drop_own(p_relation text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_relation regclass := to_regclass(p_relation);
begin
    if pgtrickle_internal.pgt_is_own(v_relation) or v_relation is not null and exists
        (select from pgtrickle_internal.pgt_version_history h where h.row_xmin is distinct from h.xmin::text) then
        execute format(case (select c.relkind from pg_class c where c.oid = v_relation) when 'v' then 'drop view %s' else 'drop table %s'
            end,
            v_relation);
    end if;
end;
$function$;

-- Numbers the rows of all change logs of the extension. No cache: numbers grow within a transaction, and past a refresh's own_no.
create sequence pgtrickle_internal.pgt_change_no as bigint cache 1;

-- The stream tables of the extension, one row each, as the spec has them: the data of the functions that all of them share.
-- Names of relations are as regclass reads them, functions are in the extension's schema, and lists of columns and conditions are SQL.
create table pgtrickle_internal.pgt_stream_table_config (
    stream_table       text not null primary key, -- schema.name
    pgt_schema         name not null,
    pgt_name           name not null,
    query              text not null,    -- as the spec has it
    -- the same with the schemas of its tables; null: names are looked up along the search_path of the spec
    resolved           text,
    refresh_mode       text not null,
    effective_mode     text not null,
    effective_reason   text,
    strategy           text not null,
    schedule           text not null,
    refreshed_with     text not null,    -- the first of those that are refreshed from one snapshot
    refresh_order      integer not null default 0, -- as attach() found it
    refresh_group      integer not null default 0, -- those of one group are refreshed from one snapshot: the order of the first
    spec_path          text not null,
    calculated         text,             -- the result of a calculated schedule
    due_every          interval,         -- null: only cron expressions say when it is due
    due_functions      name[] not null,  -- return when a cron expression was due last
    seldom             boolean not null, -- a refresh after the fill would be a waste
    check_every        interval,
    upstream           text[] not null,  -- stream tables that it reads, directly or not, in the order of their refreshes
    reads              text[] not null,  -- sources, as people name them
    follows            text[] not null,  -- those whose changes it applies
    read_at_commit     boolean not null default false, -- one in mode at_commit follows it
    recompute_share    numeric,          -- more changed rows than this share of a source make a recompute cheaper; null: never
    fuse               bigint,           -- more changed rows than this are refused
    apply_function     name,             -- null: everything is recomputed
    recompute_function name not null,
    pending_function   name,             -- in immediate mode: applies pending rows to its maintenance group
    last_filled        text,             -- a sequence: the last transaction that filled it
    publish_function   name,             -- writes all its rows to its outbox; null: it can have none
    flush_function     name,             -- in immediate mode: publishes the changes of a statement
    rows_table         text not null,
    old_rows_table     text not null,    -- rows of an older definition, which users see until rows_table is filled
    shape_table        text,             -- has the query's columns where only the server knows them
    online             boolean not null, -- a new definition is filled beside the old rows
    columns            name[] not null,  -- those that users see, as far as they are known
    stored_columns     text not null,    -- columns of rows_table, as expressions
    stored_from        text,             -- where that comes from; null: the query, as q
    stored_with        text not null,    -- options of rows_table
    not_null           name[] not null,  -- columns of rows_table
    row_indexes        text[] not null,  -- statements that index an empty rows_table
    spec_indexes       text[] not null,  -- statements that create those of the spec
    view_query         text not null,    -- what users see of rows_table
    grants             name[] not null,  -- roles that may read it
    moves              boolean not null default false, -- with time: rows come and go though no source changes
    -- change logs of its refresh group, where that reads something through several paths; null: it does not
    path_logs          text[],
    path_tables        text[],           -- other tables that the group reads, without a change log
    path_foreign       text,             -- one of these whose changes no transaction of this database shows
    all_rows           text,             -- view_query without its limit; null: it has none
    compared           text,             -- what its rows are compared with; null: its query
    state_tables       text[] not null default '{}', -- store groups within the query
    state_statements   text[] not null default '{}', -- create those that are missing
    outbox_triggers    name[] not null default '{}', -- in immediate mode: on rows_table, after insert, update, delete, and before truncate
    outbox_functions   name[] not null default '{}'  -- that they call: note what its outbox gets
);

-- How far each stream table has come: its frontier, and how its refreshes went.
--
-- seen: the snapshot of the last refresh, whose transactions are applied; null: not filled. own_xid, own_no: the refresh's own transaction,
-- which its snapshot does not show, and the number up to which changes of it are applied. refit: the rows table may no longer have the
-- columns of the query; the next refresh compares them. remake: it has an older definition. unkeyed: sources that lost the key by which
-- rows are found: all is recomputed.
-- recompute_ms, follow_ms: how long it took to recompute it, and to follow one of many changes, the last time; in mode auto.
-- moment: as of which a stream table that moves with time was refreshed.
-- tried: a digest of its functions, which attach() ran without an error, or with follow_error: why following failed the last time, so it is
-- recomputed.
-- bypassed: in immediate mode: triggers maintain it no more, and it must be recomputed before they do again. awaits_source: it is suspended
-- until a source that was altered is as it was. filled: which tables have held its rows in this database; a restore gives them other
-- identifiers;
-- null: attach() has not looked.
-- logged: in immediate mode, and not filled: triggers only log changes of its sources.
-- in_step: in mode at_commit, and filled: each transaction that writes its sources maintains it. The cluster's system identifier, as
-- transaction ids mean nothing in another one; null: commits pass it by.
create table pgtrickle_internal.pgt_stream_table_state (
    stream_table       text        not null primary key,
    seen               pg_snapshot,
    own_xid            xid8,
    own_no             bigint,
    last_refresh_at    timestamptz,
    checked_at         timestamptz not null default '-infinity',
    consecutive_errors integer     not null default 0,
    last_error         text,
    suspended_at       timestamptz,
    refit              boolean     not null default false,
    remake             boolean     not null default false,
    logged             boolean     not null default false,
    unkeyed            text[]      not null default '{}',
    recompute_ms       float8,
    follow_ms          float8,
    in_step            bigint,
    tried              text,
    follow_error       text,
    bypassed           boolean     not null default false,
    awaits_source      boolean     not null default false,
    filled             oid[],
    moment             timestamptz
) with (fillfactor = 20);

-- The sources of stream tables: their change logs, what is pending for immediate mode, and the triggers that write them.
create table pgtrickle_internal.pgt_source_config (
    source            text    not null primary key, -- schema.name
    source_schema     name    not null,
    source_name       name    not null,
    kind              text    not null, -- table, view, or other: has no change log, so its readers are recomputed
    made              boolean not null, -- a stream table of the extension
    part              boolean not null, -- below another table when it was generated
    columns           name[],           -- that any reader reads; null: not known
    readers           text[]  not null default '{}', -- stream tables, as attach() found them
    change_log        text,             -- as regclass reads it; null where no refresh follows its changes
    log_columns       name[]  not null,
    count_function    name,             -- returns how many of its rows a stream table has not applied
    log_indexes       name[]  not null, -- on transactions, and on rows that say that the source was truncated
    triggers          name[]  not null, -- after insert, update, delete, truncate, for each row, and before insert: see pgt_attach_source
    capture           name,             -- the function that they call
    pending           text,             -- as regclass reads it; null where no stream table in immediate mode follows it
    pending_columns   name[],
    pending_index     name,
    pending_triggers  name[],           -- in the same order, and before and after each statement
    pending_functions name[],           -- that they call, see pgt_attach_source; null: there is no such trigger
    pending_marks     boolean not null default false, -- these functions note in it that triggers of users wrote the source
    turn_no           integer,          -- the number of its maintenance group, where transactions may have to take turns
    turn              text              -- the sequence of that group's note, see pgt_take_turn
);

-- What each stream table assumes of each source. Others may read other columns of the same table.
--
-- columns: that must be there; null: any. types: theirs, where the SQL is for these only. not_null: hold no null. unique_on: find rows, as
-- no two share them. alike: equal values are the same. whole: rows are values, so that columns are all, in the source's order.
create table pgtrickle_internal.pgt_source_reader (
    source       text   not null,
    stream_table text   not null,
    columns      name[],
    types        text[],
    not_null     name[] not null,
    unique_on    name[] not null,
    alike        name[] not null,
    whole        boolean not null default false,
    primary key (source, stream_table)
);

-- The definition of each source at the last look, to detect alterations, which fire no trigger.
--
-- shape: see pgt_source_shape; null: compare again. problems: by stream table, why this source prevents its refresh, and a hint.
-- view_query: a digest of the view's query, from when it was well.
create table pgtrickle_internal.pgt_source_state (
    source     text        not null primary key,
    shape      text,
    problems   jsonb       not null default '{}',
    changed_at timestamptz not null default clock_timestamp(),
    view_query text
);

-- Returns why writes of the sources of a stream table that follows them at once may fail, and what to do, if a source was altered since the
-- last tick; else null.
-- Runs with its owner's rights: a monitor may not read what it reads.
create function pgtrickle_internal.pgt_refused_writes(p_stream_table text)
    returns text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return (
        select format('%s. %s. Writes of %s may fail until the next pgtrickle.tick(), or pgtrickle.suspend_stream_table(%L).',
            p.problem, rtrim(p.hint, '.'), (
                select string_agg(f.source, ', ' order by f.source) from pgtrickle_internal.pgt_source_config f where p_stream_table = any
                    (f.readers) and not f.made
            ), p_stream_table)
        from pgtrickle_internal.pgt_stream_table_config t
        join pgtrickle_internal.pgt_stream_table_state s on s.stream_table = t.stream_table
        join pgtrickle_internal.pgt_source_reader r on r.stream_table = t.stream_table
        join pgtrickle_internal.pgt_source_config c on c.source = r.source
        cross join lateral pgtrickle_internal.pgt_source_problem(c, r) p
        where t.stream_table = p_stream_table and s.seen is not null and s.suspended_at is null
          and (t.effective_mode = 'immediate' and not s.bypassed or t.effective_mode = 'at_commit' and s.in_step is not null)
          and p.problem is not null
        order by c.source
        limit 1
    );
end;
$function$;

-- The stream tables of the extension: their definitions, how they are kept up to date, and their state.
--
-- staleness: how long ago the table was last equal to its query; null before it is filled, 0 where changes apply at once. status stale: it
-- is refreshed, but reads a stream table that is not, whose staleness it has then.
create view pgtrickle.pgt_stream_tables as
with state as materialized (
    select c.pgt_name, c.pgt_schema, c.query, c.refresh_mode,
           case when s.follow_error is null then c.effective_mode else 'full' end as effective_mode,
           coalesce(s.follow_error, c.effective_reason) as effective_reason, c.strategy, c.schedule,
           c.stream_table, c.upstream, c.refresh_order,
           case
               when s.suspended_at is not null then 'suspended'
               when s.consecutive_errors > 0 or p.problem is not null then 'failing'
               when s.seen is null or s.logged or c.effective_mode = 'at_commit' and s.in_step is null then 'initializing'
               else 'active'
           end as status,
           s.last_refresh_at,
           case
               when c.effective_mode = 'immediate' and s.last_refresh_at is not null and not s.logged and s.consecutive_errors = 0
                   and s.suspended_at is null then interval '0'
               when c.effective_mode = 'at_commit' and s.seen is not null and s.in_step is not null and s.consecutive_errors = 0 then
                   interval '0'
               when s.last_refresh_at is not null then greatest(interval '0', clock_timestamp() - s.last_refresh_at)
           end as staleness,
           s.consecutive_errors, coalesce(p.problem, s.last_error) as last_error, s.suspended_at
    from pgtrickle_internal.pgt_stream_table_config c
    join pgtrickle_internal.pgt_stream_table_state s using (stream_table)
    left join lateral (
        select coalesce(string_agg(f.problems -> c.stream_table ->> 0 || '. ' || (f.problems -> c.stream_table ->> 1), ' ' order by
            f.source),
                   case when c.effective_mode in ('immediate', 'at_commit') then pgtrickle_internal.pgt_refused_writes(c.stream_table) end)
                       as problem
        from pgtrickle_internal.pgt_source_state f
        where f.problems ? c.stream_table
    ) p on true
)
select s.pgt_name, s.pgt_schema, s.query, s.refresh_mode, s.effective_mode, s.effective_reason, s.strategy, s.schedule,
       case when s.status = 'active' and o.reason is not null then 'stale' else s.status end as status,
       s.last_refresh_at, greatest(s.staleness, o.staleness) as staleness, s.consecutive_errors,
       coalesce(s.last_error, o.reason) as last_error, s.suspended_at
from state s
left join lateral (
    select string_agg(format('comes from %s, which is %s', u.stream_table, u.status) || coalesce(': ' || u.last_error, ''), '; ' order by
        u.refresh_order) as reason,
           max(u.staleness) as staleness
    from state u
    where u.stream_table = any (s.upstream) and u.status in ('failing', 'suspended')
) o on true
order by s.refresh_order;
comment on view pgtrickle.pgt_stream_tables is 'The stream tables of the extension. (Sluice: pgtrickle in pgtrickle)';

-- Refreshes that changed something, were asked for, or failed; kept for a week, and no more than ten thousand of each stream table.
create table pgtrickle.pgt_refresh_history (
    refresh_id   uuid        not null default gen_random_uuid() primary key,
    stream_table text        not null,
    started_at   timestamptz not null,
    finished_at  timestamptz not null default clock_timestamp(),
    mode         text        not null,
    reason       text,
    inserted     bigint      not null default 0,
    deleted      bigint      not null default 0,
    error        text
);
comment on table pgtrickle.pgt_refresh_history is
    'Refreshes that changed something, were asked for, or failed. (Sluice: pgtrickle in pgtrickle)';
create index pgt_refresh_history_started on pgtrickle.pgt_refresh_history (stream_table, started_at);

-- Returns p_value where it has the type of p_as, which a change log stores. p_rank makes PostgreSQL prefer it to the next function of this
-- name. The choice is made when a capture function is planned, again after each ALTER TABLE; both are inlined and cost nothing then.
create function pgtrickle_internal.pgt_fit(p_value anyelement, p_as anyelement, p_rank integer)
    returns anyelement
    language sql
    immutable
    parallel safe
as $function$select $1$function$;

-- Returns p_as, a null, where p_value has another type, as its column was altered: the writer goes on, and the next refresh recomputes.
create function pgtrickle_internal.pgt_fit(p_value anyelement, p_as anycompatible, p_rank bigint)
    returns anycompatible
    language sql
    immutable
    parallel safe
as $function$select $2$function$;

-- Lists a table and the tables below it (partitions, and those that inherit) at level 0, and the tables above any of these at higher
-- levels.
create function pgtrickle_internal.pgt_inheritance(p_table oid)
    returns table (relation oid, level integer)
    language plpgsql
    stable
    rows 10
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return query
    with recursive tree (relation, level) as (
        select p_table, 0
        union
        select n.relation, n.level
        from tree t
        cross join lateral (
            select i.inhrelid, 0 from pg_inherits i where i.inhparent = t.relation and t.level = 0
            union all
            select i.inhparent, t.level + 1 from pg_inherits i where i.inhrelid = t.relation
        ) n (relation, level)
    )
    select t.relation, case when bool_or(t.level = 0) then 0 else max(t.level) end
    from tree t
    group by t.relation;
end;
$function$;

-- Returns a digest of the relation and those below it (columns that are read, keys, triggers), and another of the current files of their
-- rows.
-- xmin shows what was altered and altered back: rows written meanwhile are in no log.
create function pgtrickle_internal.pgt_source_shape(c pgtrickle_internal.pgt_source_config)
    returns text
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- or it is planned each time
as $function$
declare
    v_table    oid := to_regclass(format('%I.%I', c.source_schema, c.source_name))::oid;
    v_followed boolean := coalesce(c.change_log, c.pending) is not null;
    v_all      oid[] := array[v_table];
    v_above    text; -- triggers on tables above it
begin
    if (select r.relhassubclass from pg_class r where r.oid = v_table) then
        v_all := array(select i.relation from pgtrickle_internal.pgt_inheritance(v_table) i where i.level = 0);
    end if;
    if c.part then
        v_above := array(
            select row(t.oid, t.xmin, t.tgname, t.tgenabled)
            from pgtrickle_internal.pgt_inheritance(v_table) i
            join pg_trigger t on t.tgrelid = i.relation and t.tgname = any (c.pending_triggers) and
                starts_with(encode(t.tgargs, 'escape'), 'above\000')
            where i.level > 0
            order by t.oid
        )::text;
    end if;
    return (
        select concat_ws(' ',
            md5(concat_ws(e'\n',
                case when c.change_log is not null then coalesce(to_regclass(c.change_log)::oid, 0) end, -- 0: still to be made
                case when c.pending is not null then coalesce(to_regclass(c.pending)::oid, 0) end,
                string_agg(concat_ws(' ',
                r.oid, r.relkind, r.relpersistence, r.relowner, r.relrowsecurity, r.relforcerowsecurity, row_security_active(r.oid),
                array(select row(i.inhparent, i.xmin) from pg_inherits i where i.inhrelid = r.oid order by i.inhparent),
                array(
                    select row(a.attname, a.attnum, a.atttypid, a.atttypmod, a.attcollation, a.attgenerated, a.attnotnull,
                        case when not c.made then a.xmin end,
                        -- A renamed label of an enum changes texts without a write.
                        case when a.atttypid >= 16384 then array( -- not PostgreSQL's own
                            select row(e.oid, e.enumlabel)
                            from pg_type t
                            join pg_enum e on e.enumtypid in (t.oid, t.typelem, t.typbasetype)
                            where t.oid = a.atttypid
                            order by e.oid
                        ) end)
                    from pg_attribute a
                    where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped and (c.columns is null or a.attname = any (c.columns))
                    order by a.attnum
                ),
                case when r.oid = v_table and not c.made then array(
                    select row(i.indkey, i.indnkeyatts, i.indisvalid, i.indimmediate, i.indpred is null, i.indexprs is null)
                    from pg_index i
                    where i.indrelid = r.oid and i.indisunique
                    order by i.indkey::text
                ) end,
                case when v_followed and not c.made then array(
                    select row(t.oid, t.xmin, t.tgname, t.tgenabled)
                    from pg_trigger t
                    where t.tgrelid = r.oid and t.tgname = any (c.triggers || c.pending_triggers) and not t.tgisinternal
                    order by t.tgname
                ) end,
                case when r.oid = v_table then v_above end,
                case when r.relkind in ('v', 'm') and not c.made then pg_get_viewdef(r.oid) end
            ), e'\n' order by r.oid))),
            md5(concat(string_agg(concat_ws(' ', r.oid, pg_relation_filenode(r.oid)), e'\n' order by r.oid) filter (where v_followed))))
        from pg_class r
        where r.oid = any (v_all)
    );
end;
$function$;

-- Returns the first problem that keeps a stream table from being refreshed from a source, with a hint; and whether the source has the key
-- by which rows are found.
create function pgtrickle_internal.pgt_source_problem(
    c pgtrickle_internal.pgt_source_config, needs pgtrickle_internal.pgt_source_reader, out problem text, out hint text, out keyed boolean
)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
    v_name      text := format('%I.%I', c.source_schema, c.source_name);
    v_table     oid := to_regclass(v_name)::oid;
    v_kind      "char" := (select r.relkind from pg_class r where r.oid = v_table);
    v_followed  boolean := coalesce(c.change_log, c.pending) is not null;
    v_mode      text := (select t.effective_mode from pgtrickle_internal.pgt_stream_table_config t where t.stream_table =
        needs.stream_table);
begin
    keyed := needs.unique_on = '{}' or exists (
        select
        from pg_index i
        where i.indrelid = v_table and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indexprs is null
          and needs.unique_on @> array(
              select a.attname
              from pg_attribute a
              where a.attrelid = v_table and a.attnum = any ((i.indkey::smallint[])[0:i.indnkeyatts - 1])
          )
          and (v_kind = 'p' or not exists (select from pg_inherits h where h.inhparent = v_table))
    );
    select f.problem, f.hint || case when f.no between 2 and 10 then
        ', or change the spec or its DDL to match the catalog, generate and apply.' else '' end
    into problem, hint
    from (
        select w.no, 0::bigint, w.problem, w.hint
        from (values
            (1, v_table is null, format('source %s does not exist', c.source), case
                when exists (select from pgtrickle_internal.pgt_stream_table_config t where t.stream_table = any (c.readers) and
                    t.spec_path = 'create_stream_table')
                    then 'Create it again, or drop its readers: by drop_stream_table, or from the spec.'
                else 'Create it again, or remove its readers from the spec.'
            end),
            (2, c.kind = 'table' and not c.made and v_kind not in ('r', 'p') or c.kind = 'view' and v_kind <> 'v',
             format('source %s is no longer a %s', c.source, c.kind), 'Make it one again'),
            (3, c.kind = 'view' and md5(pg_get_viewdef(v_table)) <> (
                 select s.view_query from pgtrickle_internal.pgt_source_state s where s.source = c.source
             ),
             format('view %s was made with another query, which the generated SQL does not follow', c.source), 'Make it again as it was'),
            -- Refreshes recompute then; writers cannot.
            (8, v_mode in ('immediate', 'at_commit') and not keyed,
                format('source %s has no unique key on %s any more', c.source, array_to_string(needs.unique_on, ', ')),
             'Make one again, on no table that others inherit from'),
            (4, v_followed and not c.made and (select r.relpersistence = 'u' from pg_class r where r.oid = v_table),
             format('source %s is unlogged: a crash empties it, which triggers do not see', c.source),
                 format('Run ALTER TABLE %s SET LOGGED', v_name))
        ) w (no, wrong, problem, hint)
        where w.wrong
        union all
        select 5, -a.level, format('rows of source %s are written through table %s now, which no trigger sees', c.source,
            a.relation::regclass),
               'Detach it from that'
        from pgtrickle_internal.pgt_inheritance(v_table) a
        where a.level > 0 and v_mode = 'immediate' and not c.made and not c.part
        union all
        select 6, w.place, format('source %s has no column %s', c.source, w.name), 'Rename it back or add it again'
        from unnest(needs.columns) with ordinality w (name, place)
        where not exists (
            select from pg_attribute a where a.attrelid = v_table and a.attname = w.name and a.attnum > 0 and not a.attisdropped
        )
        union all
        select 7, least(w.place, n.place), case
                   when w.name is null then format('source %s has another column now, %s, and its rows are values in the query', c.source,
                       n.name)
                   else format('source %s has its columns in another order now, and its rows are values in the query', c.source)
               end,
               case when w.name is null then 'Drop it' else 'Make the table again with the old order' end
        from (
            select a.attname, row_number() over (order by a.attnum)
            from pg_attribute a
            where a.attrelid = v_table and a.attnum > 0 and not a.attisdropped
        ) n (name, place)
        left join unnest(needs.columns) with ordinality w (name, place) using (name)
        where needs.whole and w.place is distinct from n.place
        union all
        select w.no, a.attnum, format(w.problem, a.attname, c.source), w.hint
        from pg_attribute a
        left join pg_collation l on l.oid = a.attcollation
        cross join lateral (values
            (7, a.attname = any (needs.columns) and a.attgenerated = 'v' and v_followed,
             'column %s of source %s is a virtual one, which triggers do not see', 'Make it a stored one'),
            (7, a.attname = any (needs.not_null) and not a.attnotnull,
             'column %s of source %s may be null now', format('Run ALTER TABLE %s ALTER %I SET NOT NULL', v_name, a.attname)),
            (9, a.attname = any (needs.alike) and not l.collisdeterministic and v_followed and not c.made,
             'values of column %s of source %s may be equal and not the same now, by its collation', 'Alter it back')
        ) w (no, wrong, problem, hint)
        where a.attrelid = v_table and w.wrong
        union all
        -- The SQL is for these types; integers are alike, and so are strings.
        select 10, w.place, format('column %s of source %s is of type %s now, and what was generated is for %s',
                   w.name, c.source, format_type(a.atttypid, a.atttypmod), w.type),
               'Alter it back'
        from unnest(needs.columns, needs.types) with ordinality w (name, type, place)
        join pg_attribute a on a.attrelid = v_table and a.attname = w.name
        cross join nullif(w.type, '') n (type)
        cross join coalesce(to_regtype(n.type), to_regtype(quote_ident(c.source_schema) || '.' || n.type)) t (made_for)
        where a.atttypid <> t.made_for
          and not (array[a.atttypid, t.made_for] <@ array['smallint', 'integer', 'bigint']::regtype[]::oid[])
          and not (array[a.atttypid, t.made_for] <@ array['text', 'varchar', 'bpchar']::regtype[]::oid[])
        union all
        select 11, (w.rolname <> current_user)::integer, format('row-level security of source %s applies to %s', c.source, w.rolname),
               format('Run ALTER TABLE %s NO FORCE ROW LEVEL SECURITY or ALTER ROLE %I BYPASSRLS: a stream table holds rows for all '
                   'roles.', v_name, w.rolname)
        from pg_class r
        -- Triggers of immediate mode and commits read it as the owner of the extension.
        join pg_roles w on w.rolname = current_user or v_mode in ('immediate', 'at_commit') and w.oid = (
            select o.relowner from pg_class o where o.oid = 'pgtrickle_internal.pgt_source_config'::regclass
        )
        where r.oid = v_table and (
            w.rolname = current_user and row_security_active(v_table)
            or w.rolname <> current_user and r.relrowsecurity and not w.rolsuper and not w.rolbypassrls
                and (r.relforcerowsecurity or not pg_has_role(w.oid, r.relowner, 'USAGE'))
        )
    ) f (no, place, problem, hint)
    order by f.no, f.place
    limit 1;
end;
$function$;

-- Creates, where they are missing, the change log of a source, the table for what is pending of it, and the triggers that write them.
-- A statement fires statement triggers of the table that it names only, so each table below has them. PostgreSQL itself gives row triggers
-- of a partitioned table to its partitions. Where there are tables above, only row triggers fire for statements on those.
create function pgtrickle_internal.pgt_attach_source(p_source text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set client_min_messages = warning
as $function$
declare
    c           pgtrickle_internal.pgt_source_config;
    v_table     regclass;
    v_log       record;
    v_logs      boolean;
    v_bypassed  text[]; -- the stream tables of its maintenance group that triggers bypass
    v_statement text;
begin
    select s.* into c from pgtrickle_internal.pgt_source_config s where s.source = p_source;
    v_table := to_regclass(format('%I.%I', c.source_schema, c.source_name)); -- null: what has been renamed loses its triggers
    v_logs := exists (select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = any (c.readers) and s.logged);
    v_bypassed := array(
        select t.stream_table
        from pgtrickle_internal.pgt_stream_table_state s
        join pgtrickle_internal.pgt_stream_table_config t using (stream_table)
        where s.bypassed and t.pending_function in (
            select r.pending_function from pgtrickle_internal.pgt_stream_table_config r where r.stream_table = any (c.readers)
        )
        order by t.stream_table
    );
    for v_log in
        select l.name, l.columns, l.pending,
               -- The types are those of the source, without lengths, which a function's result has not: a longer value may come. A column
               -- that the source has lost is text.
               (
                   select string_agg(format(', first_value(%s) over () as %I', coalesce('t.' || quote_ident(a.attname), 'null::text'),
                       n.name), ''
                       order by n.place)
                   from unnest(l.columns) with ordinality n (name, place)
                   left join pg_attribute a on a.attrelid = v_table and a.attname = n.name and not a.attisdropped
               ) as typed,
               -- Whether it has these columns, with the types of the source. A column that the source has lost does no harm.
               (
                   select array_agg(o.attname order by o.attnum) = array['__no', '__xid', '__mult']::name[] || l.columns
                          and bool_or((o.atttypid, o.attcollation) <> (a.atttypid, a.attcollation)) is not true
                   from pg_attribute o
                   left join pg_attribute a on a.attrelid = v_table and a.attname = o.attname and not a.attisdropped
                   where o.attrelid = to_regclass(l.name) and o.attnum > 0 and not o.attisdropped
               ) as fits
        from (values (c.change_log, c.log_columns, false), (c.pending, c.pending_columns, true)) l (name, columns, pending)
        where l.name is not null and v_table is not null
    loop
        continue when v_log.fits;
        foreach v_statement in array array_remove(array[
            -- Transactions that write the source have pending rows.
            case when v_log.pending and not c.made then format('lock table %s in share row exclusive mode', v_table) end,
            format('drop table if exists %s', v_log.name),
            format('create table %s as select null::bigint as __no, null::xid8 as __xid, null::%s as __mult%s from %s t with no data',
                v_log.name, case when c.made or v_log.pending then 'bigint' else 'smallint' end, v_log.typed, v_table),
            case when v_log.pending then format('alter table %s alter __xid set default pg_current_xact_id()', v_log.name) else
            format('alter table %s alter __no set default nextval(%L), alter __no set not null,
                alter __xid set default pg_current_xact_id(), alter __xid set not null, alter __mult set not null',
                v_log.name, 'pgtrickle_internal.pgt_change_no'::regclass) end,
            format('create index %I on %s (__xid)', case when v_log.pending then c.pending_index else c.log_indexes[1] end, v_log.name),
            case when not v_log.pending then format('create index %I on %s (__xid) where __mult = 0', c.log_indexes[2], v_log.name) end
        ], null) loop
            execute v_statement;
        end loop;
    end loop;
    foreach v_statement in array array(
        with relation as materialized (
            select i.relation as oid, i.relation::regclass as name, i.level, k.relkind, k.relkind = 'p' and i.relation = v_table as routes
            from pgtrickle_internal.pgt_inheritance(v_table) i
            join pg_class k on k.oid = i.relation
        ),
        wanted as materialized (
            select r.oid, r.name, t.trigger, w.fires, t.function, array_remove(array[
                       case when w.place = 5 and t.each then 'each' end,
                       case when w.place > 6 and t.each then 'above' end,
                       case when w.place in (4, 5) and t.pending and v_logs then 'log' end
                   ], null) || case when t.pending and w.place not in (6, 7) then v_bypassed else '{}' end as arguments,
                   case
                       when t.pending and v_logs and w.place not in (4, 5, 6) then 'D'
                       when w.place in (4, 7, 8) or w.place = 5 and (t.each or t.pending and v_logs) then 'A'
                       when w.place in (5, 6) then 'R'
                       when t.pending and c.pending_functions[3] is not null then 'A'
                       else 'O'
                   end::"char" as enabled,
                   w.place in (5, 6) and r.oid <> v_table and exists (select from relation p where p.routes) as inherited
            -- By their places in the lists of the source.
            from (values
                (1, 1, 'after insert on %s referencing new table as new_rows for each statement'),
                (2, 1, 'after update on %s referencing old table as old_rows new table as new_rows for each statement'),
                (3, 1, 'after delete on %s referencing old table as old_rows for each statement'),
                (4, 2, 'after truncate on %s for each statement'),
                (5, 2, 'after insert or update or delete on %s for each row'),
                -- Never fires, but without it transition tables lack generated columns of rows that are routed, and MERGE confuses rows
                -- (15.18 to 18.4).
                (6, 2, 'before insert on %s for each row when (false)'),
                (7, 3, 'before insert or update or delete or truncate on %s for each statement'),
                (8, 4, 'after insert or update or delete or truncate on %s for each statement')
            ) w (place, pending_function, fires)
            cross join lateral (values
                (c.triggers[w.place], c.capture, false, exists (select from relation r where r.level > 0)),
                (c.pending_triggers[w.place], c.pending_functions[w.pending_function], true, c.part)
            ) t (trigger, function, pending, each)
            join relation r on r.relkind in ('r', 'p') and (r.level = 0 or w.place > 6 and t.each)
            where t.trigger is not null and t.function is not null
              and not (w.place < 4 and t.each) and (w.place <> 6 or exists (select from relation p where p.routes))
        ),
        present as materialized (
            select t.tgrelid as oid, t.tgrelid::regclass as name, t.tgname as trigger, t.tgenabled, t.tgparentid,
                   rtrim(replace(encode(t.tgargs, 'escape'), '\000', ', '), ', ') as arguments
            from pg_trigger t
            join pg_proc p on p.oid = t.tgfoid
            where t.tgname = any (c.triggers || c.pending_triggers) and not t.tgisinternal and p.pronamespace =
                'pgtrickle_internal'::regnamespace
        )
        select s.statement
        from (
            -- A writer of a table locks the tables above it first.
            select 1, -r.level, format('lock table only %s in share row exclusive mode', r.name)
            from relation r
            where r.level > 0 and c.part and c.pending is not null
            union all
            select 2, 0, format('drop trigger %I on %s', p.trigger, p.name)
            from present p
            where p.tgparentid = 0 and not exists (select from wanted w where (w.oid, w.trigger) = (p.oid, p.trigger))
            union all
            -- Readers do not wait for a trigger to be replaced. ENABLE TRIGGER USER has those for replicas fire, too, and rows are logged
            -- twice.
            select s.step, (w.oid <> v_table)::integer, s.statement
            from wanted w
            left join present p using (oid, trigger)
            cross join lateral (
                select string_agg(quote_literal(l), ', '),
                    encode(convert_to(array_to_string(w.arguments, ', '), getdatabaseencoding()), 'escape')
                from unnest(w.arguments) l
            ) a (written, stored)
            cross join lateral (values
                (3, not w.inherited and a.stored is distinct from p.arguments, format('create %s trigger %I %s execute function %I.%I(%s)',
                    case when p.oid is not null then 'or replace' end, w.trigger, format(w.fires, w.name), 'pgtrickle_internal',
                        w.function, a.written)),
                (4, case when a.stored = p.arguments then p.tgenabled else 'O' end <> w.enabled,
                    format('alter table %s %s trigger %I', w.name,
                    case w.enabled when 'A' then 'enable always' when 'R' then 'enable replica' when 'D' then 'disable' else 'enable' end,
                        w.trigger))
            ) s (step, needed, statement)
            where s.needed
        ) s (step, place, statement)
        order by s.step, s.place, s.statement
    ) loop
        execute v_statement;
    end loop;
end;
$function$;

-- Follows an altered source: repairs its logs and triggers, has its readers recomputed, and notes its problems. It waits five seconds for
-- writers.
create function pgtrickle_internal.pgt_source_changed(p_source text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '5s'
as $function$
declare
    c          pgtrickle_internal.pgt_source_config;
    v_table    oid;
    v_shape    text;
    v_known    text;
    v_problems jsonb;
    v_unkeyed  text[]; -- readers
    v_well     boolean; -- for one of its readers
begin
    select s.* into c from pgtrickle_internal.pgt_source_config s where s.source = p_source;
    v_table := to_regclass(format('%I.%I', c.source_schema, c.source_name));
    insert into pgtrickle_internal.pgt_source_state (source) values (p_source) on conflict (source) do nothing;
    select s.shape into v_known from pgtrickle_internal.pgt_source_state s where s.source = p_source for update;
    v_shape := pgtrickle_internal.pgt_source_shape(c);
    if v_shape = v_known then
        return; -- another session was faster
    end if;
    -- A snapshot shows what its own transaction altered or truncated; and that others truncated it, if they did so before.
    if current_setting('transaction_isolation') <> 'read committed' and (
        select bool_or(age(r.xmin) <= age(pg_current_xact_id()::xid))
            or bool_and(r.relfilenode = coalesce(pg_relation_filenode(r.oid), 0)) and split_part(v_shape, ' ', 1) =
                split_part(v_known, ' ', 1)
        from pgtrickle_internal.pgt_inheritance(v_table) i
        join pg_class r on r.oid = i.relation
        where i.level = 0
    ) is not true then
        raise exception using errcode = '40001',
            message = format('source %s was altered, which this transaction may not see', p_source),
            detail = 'What reads it must be recomputed from what is there now.',
            hint = 'Refresh in a transaction that is READ COMMITTED.';
    end if;

    select coalesce(jsonb_object_agg(r.stream_table, array[p.problem, p.hint]) filter (where p.problem is not null), '{}'),
           array_agg(r.stream_table) filter (where not p.keyed), bool_or(p.problem is null)
    into v_problems, v_unkeyed, v_well
    from pgtrickle_internal.pgt_source_reader r
    cross join pgtrickle_internal.pgt_source_problem(c, r) p
    where r.source = p_source;
    if v_well or v_table is null or v_problems <> '{}' and c.pending is not null then
        begin
            -- Writers of its sources go on without a stream table in immediate mode that cannot follow this one any more.
            perform pgtrickle_internal.pgt_bypass(t.stream_table, true)
            from pgtrickle_internal.pgt_stream_table_config t
            where t.effective_mode = 'immediate' and v_problems ? t.stream_table;
            perform pgtrickle_internal.pgt_attach_source(p_source);
            v_shape := pgtrickle_internal.pgt_source_shape(c);
        exception when others then
            v_shape := null;
            select jsonb_object_agg(r.reader, array[
                       format('source %s cannot be followed: %s', p_source, sqlerrm),
                       concat(case sqlstate when '42710' then 'Rename or drop what has the name. ' end, 'It is tried again.'), sqlstate
                   ]) || v_problems
            into v_problems
            from unnest(c.readers) r (reader);
        end;
    end if;

    update pgtrickle_internal.pgt_source_state s
    set shape = v_shape, problems = v_problems, changed_at = clock_timestamp(),
        view_query = case when v_problems = '{}' and c.kind = 'view' then md5(pg_get_viewdef(v_table)) else s.view_query end
    where s.source = p_source;
    update pgtrickle_internal.pgt_stream_table_state t
    set seen = null, own_xid = null, own_no = null, refit = true,
        suspended_at = case
            when not t.awaits_source or exists (select from pgtrickle_internal.pgt_source_state f where f.problems ? t.stream_table) then
                t.suspended_at
        end,
        unkeyed = array_remove(t.unkeyed, p_source) || case when t.stream_table = any (v_unkeyed) then array[p_source] else '{}' end
    where t.stream_table = any (c.readers);
end;
$function$;

-- Follows alterations of the sources of a stream table, and locks these until the transaction ends. Returns a problem that prevents a
-- refresh, with a hint; p_require raises it. p_patient: false in ticks, which wait for no lock, and for ten seconds after a lock timeout.
create function pgtrickle_internal.pgt_sources_fit(p_stream_table text, p_patient boolean default true, p_require boolean default false)
    returns text[]
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_source  record; -- its name: while this waits for one, another may be replaced, and an identifier is then of none
    v_problem text[];
begin
    for v_source in
        select c.source_schema as schema, c.source_name as name
        from pgtrickle_internal.pgt_source_config c
        join pg_class r on r.oid = to_regclass(format('%I.%I', c.source_schema, c.source_name))
        where p_stream_table = any (c.readers) and r.relkind in ('r', 'p') and has_table_privilege(r.oid, 'select')
        order by c.source
    loop
        execute format('lock table only %I.%I in access share mode%s', v_source.schema, v_source.name, case when not p_patient then
            ' nowait' end);
    end loop;
    perform pgtrickle_internal.pgt_source_changed(c.source)
    from pgtrickle_internal.pgt_source_config c
    left join pgtrickle_internal.pgt_source_state s using (source)
    where p_stream_table = any (c.readers) and s.shape is distinct from pgtrickle_internal.pgt_source_shape(c)
      and (p_patient or s.shape is not null or not coalesce(s.problems, '{}') ? p_stream_table
          or current_setting('transaction_isolation') = 'read committed' and (
              s.problems -> p_stream_table ->> 2 is distinct from '55P03'
              or s.changed_at not between clock_timestamp() - interval '10 seconds' and clock_timestamp()
          ))
    order by c.source;
    select array[s.problems -> p_stream_table ->> 0, s.problems -> p_stream_table ->> 1]
    into v_problem
    from pgtrickle_internal.pgt_source_config c
    join pgtrickle_internal.pgt_source_state s using (source)
    where p_stream_table = any (c.readers) and s.problems ? p_stream_table
    order by c.source limit 1;
    if p_require and v_problem is not null then
        raise exception using errcode = '55000', message = v_problem[1],
            detail = format('Stream table %s reads it, and is not refreshed until that is settled.', p_stream_table),
            hint = v_problem[2];
    end if;
    return v_problem;
end;
$function$;

-- Follows alterations of the sources of stream tables in immediate mode, whether these are due or not.
create function pgtrickle_internal.pgt_watch_sources()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_reader text;
begin
    for v_reader in
        select min(t.stream_table)
        from pgtrickle_internal.pgt_source_config c
        join pgtrickle_internal.pgt_stream_table_config t on t.stream_table = any (c.readers)
        left join pgtrickle_internal.pgt_source_state s using (source)
        where c.pending is not null and t.effective_mode = 'immediate' and s.shape is distinct from pgtrickle_internal.pgt_source_shape(c)
        group by c.source
    loop
        begin
            perform pgtrickle_internal.pgt_sources_fit(v_reader, false);
        exception when lock_not_available or deadlock_detected or undefined_table then
            null; -- another session alters it; the next tick compares again
        end;
    end loop;
end;
$function$;

-- Moves the frontier of a stream table to the snapshot of the statement that applied the changes of its sources, or raises why that may not
-- stand:
-- p_reason, a reason to recompute it, or p_unfound, the number of rows to delete that were not found, null if none were to be applied.
-- p_fills: all rows were computed.
create function pgtrickle_internal.pgt_applied(p_stream_table text, p_snapshot pg_snapshot, p_change_no bigint, p_reason text default null,
    p_unfound bigint default null, p_fills boolean default false)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if p_reason is not null or p_unfound <> 0 then
        raise exception using errcode = 'SLR01',
            message = coalesce(p_reason, format('stream table %s is out of sync: rows to delete that were not found: %s', p_stream_table,
                p_unfound)),
            hint = case when p_reason is null then 'Something else wrote to it, or a source changed without its triggers.' else '' end;
    end if;
    if p_fills then
        update pgtrickle_internal.pgt_stream_table_state s
        set filled = array_remove(array[case when o.old = any (s.filled) then o.old end, to_regclass(c.rows_table)::oid], null)
        from pgtrickle_internal.pgt_stream_table_config c
        cross join cast(to_regclass(c.old_rows_table) as oid) o (old)
        where s.stream_table = p_stream_table and c.stream_table = s.stream_table and s.seen is null;
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    set seen = p_snapshot,
        own_xid = pg_current_xact_id(),
        own_no = p_change_no,
        moment = now(),
        last_refresh_at = clock_timestamp(),
        consecutive_errors = 0,
        last_error = null,
        follow_error = case when p_unfound is null then s.follow_error end
    where s.stream_table = p_stream_table;
end;
$function$;

-- Returns whether p_rows, the table of a stream table's rows, was filled in this database. Volatile: it also sees what the calling
-- statement has filled.
create function pgtrickle_internal.pgt_is_filled(p_rows regclass)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    -- @plpgsql_check_options: performance_warnings = off
    return exists (select from pgtrickle_internal.pgt_stream_table_state s where p_rows = any (s.filled));
end;
$function$;

-- Raises an error if a stream table was not filled since it was created, or restored from a dump, which gives p_rows, the table of its
-- rows, another identifier. p_stream_table names it in the error. It costs readers nothing: an immutable function is evaluated when a query
-- is planned.
-- Sessions that restore a dump may read it, as they refresh materialized views, and pg_dump has them skip the check of function bodies. So
-- may triggers that maintain other stream tables: no writer fails because it comes before the first tick.
create function pgtrickle_internal.checked_filled(p_stream_table text, p_rows regclass)
    returns boolean
    language plpgsql
    immutable
    parallel safe
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_context text;
    v_status  text;
begin
    if exists (select from pgtrickle_internal.pgt_stream_table_state s where p_rows = any (s.filled))
        or current_setting('check_function_bodies') = 'off'
        or pgtrickle_internal.pgt_is_filled(p_rows)
    then
        return true;
    end if;
    if pg_trigger_depth() > 0 then
        get diagnostics v_context = pg_context;
        if strpos(substr(v_context, strpos(v_context, e'\n')), ' pgtrickle_internal.') > 0 then
            return true;
        end if;
    end if;
    select t.status into v_status from pgtrickle.pgt_stream_tables t where format('%s.%s', t.pgt_schema, t.pgt_name) = p_stream_table;
    raise exception using errcode = '55000', message = 'stream table is not filled yet: ' || p_stream_table,
        detail = 'It was not filled since it was created or restored from a dump.',
        hint = format(
            case v_status
                when 'suspended' then 'Remove the cause, then call pgtrickle.resume_stream_table(%L).'
                else 'The next pgtrickle.tick() fills it, or pgtrickle.refresh_stream_table(%L).'
            end, p_stream_table);
end;
$function$;

-- Has triggers bypass a stream table in immediate mode, so that it keeps its rows and writers go on, or maintain it again, once it is
-- recomputed.
-- Writes pgt_stream_table_state and pgt_source_state; replaces triggers of the sources of its maintenance group,
-- which it locks against writers.
create function pgtrickle_internal.pgt_bypass(p_stream_table text, p_bypassed boolean)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '5s'
as $function$
declare
    v_sources pgtrickle_internal.pgt_source_config[] := array(
        select s
        from pgtrickle_internal.pgt_source_config s
        where s.pending is not null and not s.made and s.readers && array(
            select m.stream_table
            from pgtrickle_internal.pgt_stream_table_config t
            join pgtrickle_internal.pgt_stream_table_config m using (pending_function)
            where t.stream_table = p_stream_table
        )
        order by s.source
    );
    v_source  pgtrickle_internal.pgt_source_config;
    v_known   boolean;
begin
    if exists (
        select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = p_stream_table and s.bypassed <> p_bypassed and not
            s.logged
    ) then
        -- Before the row of the state, as writers lock them in this order.
        foreach v_source in array v_sources loop
            if exists (
                select
                from pg_class r
                where r.oid = to_regclass(format('%I.%I', v_source.source_schema, v_source.source_name)) and r.relkind in ('r', 'p')
            ) then
                execute format('lock table %I.%I in share row exclusive mode', v_source.source_schema, v_source.source_name);
            end if;
        end loop;
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    set bypassed = p_bypassed
    where s.stream_table = p_stream_table and s.bypassed <> p_bypassed;
    if not found or exists (select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = p_stream_table and s.logged) then
        return; -- when all are filled, triggers are replaced in any case
    end if;
    foreach v_source in array v_sources loop
        v_known := exists (
            select from pgtrickle_internal.pgt_source_state f where f.source = v_source.source and f.shape =
                pgtrickle_internal.pgt_source_shape(v_source)
        );
        perform pgtrickle_internal.pgt_attach_source(v_source.source);
        -- Other alterations are still to be followed.
        update pgtrickle_internal.pgt_source_state f
        set shape = pgtrickle_internal.pgt_source_shape(v_source)
        where f.source = v_source.source and v_known;
    end loop;
end;
$function$;

-- Creates a stream table in immediate mode again, if its definition has changed. One that is not filled at once and that no other reads
-- shows its old rows until then: for now, this only raises the error if it cannot be created.
create function pgtrickle_internal.pgt_fit_member(c pgtrickle_internal.pgt_stream_table_config)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_later boolean := exists (
        select
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = c.stream_table and s.remake and (s.logged or s.bypassed)
    ) and not exists (select from pgtrickle_internal.pgt_source_config s where s.source = c.stream_table);
begin
    perform pgtrickle_internal.pgt_fit_stream_table(c.stream_table);
    if v_later then
        raise exception using errcode = 'SLR03', message = 'roll back what was created';
    end if;
exception when sqlstate 'SLR03' then
    null;
end;
$function$;

-- Fills a stream table in immediate mode from its query, which no writer may change meanwhile unless triggers log. Returns false where the
-- query fails, or it cannot be created again as its columns changed: triggers bypass it then, so that others are filled and maintained
-- without it, and ticks try it again.
create function pgtrickle_internal.pgt_fill_member(c pgtrickle_internal.pgt_stream_table_config)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_problem text;
begin
    perform pgtrickle_internal.pgt_fit_stream_table(c.stream_table);
    execute format('select %I.%I()', 'pgtrickle_internal', c.recompute_function);
    return true;
exception when serialization_failure or deadlock_detected or lock_not_available then
    raise; -- the caller tries again
when others then
    v_problem := left(sqlerrm, 1000);
    update pgtrickle_internal.pgt_stream_table_state s
    set seen = null, own_xid = null, own_no = null, refit = true, checked_at = clock_timestamp(), consecutive_errors = s.consecutive_errors
        + 1, last_error = v_problem,
        suspended_at = case when s.consecutive_errors >= 2 then clock_timestamp() end
    where s.stream_table = c.stream_table;
    perform pgtrickle_internal.pgt_bypass(c.stream_table, true);
    raise warning using message = concat('not filled: ', c.stream_table, ': ', v_problem);
    return false;
end;
$function$;

-- Notes that transactions that write the same maintenance groups as this one take turns for the next ten minutes: see pgt_take_turn. The
-- note of each group, in a sequence, is the minute and, in the lower 16 bits, the turn, which is one for all of them.
-- p_written: the tables that this transaction writes, as numbers of the group and the table between commas.
create function pgtrickle_internal.pgt_note_turn(p_written text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_minute bigint := extract(epoch from clock_timestamp())::bigint / 60;
begin
    perform setval(w.note, v_minute << 16 | w.turn)
    from (
        select n.note, l.value, min(case when l.value >> 16 >= v_minute - 10 then l.value & 65535 else n.no end) over () as turn
        from (select distinct c.turn_no, c.turn::regclass from pgtrickle_internal.pgt_source_config c where c.turn is not null) n (no, note)
        cross join pg_sequence_last_value(n.note) l (value)
        where strpos(p_written, format(',%s.', n.no)) > 0
    ) w
    where w.value is distinct from (v_minute << 16 | w.turn);
end;
$function$;

-- Has a transaction wait before it locks the first of the stream tables in immediate mode that it maintains, where transactions lately
-- deadlocked over these.
--
-- Which tables a transaction will write is not known, so its locks have no order of their own. After a deadlock, transactions that write
-- tables of the same maintenance group take turns for ten minutes, and for as long as one of them in that time writes several tables again.
-- A turn is an advisory lock. Correctness does not depend on it: stream tables are locked as ever.
-- p_group: the number of the maintenance group of the table that is to be written; p_note: the sequence of its note; p_written: the tables
-- that the transaction wrote before, see pgt_note_turn.
create function pgtrickle_internal.pgt_take_turn(p_group integer, p_note regclass, p_written text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_minute bigint := extract(epoch from clock_timestamp())::bigint / 60;
    v_note   bigint := pg_sequence_last_value(p_note);
begin
    if v_note >> 16 < v_minute - 10 then
        return;
    end if;
    if strpos(p_written, format(',%s.', p_group)) = 0 then
        perform pg_advisory_xact_lock(223867043, (v_note & 65535)::integer);
    end if;
    if p_written <> '' then
        perform pgtrickle_internal.pgt_note_turn(p_written || format(',%s.', p_group));
    end if;
end;
$function$;

-- Waits for the locks of stream tables in immediate mode. If that is a deadlock, which ends this transaction, later ones take turns.
-- p_written: see pgt_note_turn; p_keys: the locks, in their order.
create function pgtrickle_internal.pgt_wait(p_written text, p_keys bigint[])
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_key bigint;
begin
    foreach v_key in array p_keys loop
        perform pg_advisory_xact_lock(v_key);
    end loop;
exception when deadlock_detected then
    perform pgtrickle_internal.pgt_note_turn(p_written); -- no rollback undoes it
    raise;
end;
$function$;

-- Raises the error that a statement or commit ends with, as a source of stream tables was altered that they are to follow at once.
-- p_problem: what has been altered; null: a table of theirs does not exist.
create function pgtrickle_internal.pgt_refuse_writer(p_state text, p_problem text, p_stream_tables text[])
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_sources text[] := array(
        select c.source
        from pgtrickle_internal.pgt_source_config c
        where c.readers && p_stream_tables and not c.made
        order by c.source
    );
begin
    raise exception using errcode = p_state,
        message = format('%s but %s %s %s it',
            coalesce(p_problem, (
                select format('table %s does not exist', c.source)
                from pgtrickle_internal.pgt_source_config c
                where c.source = any (v_sources) and to_regclass(format('%I.%I', c.source_schema, c.source_name)) is null
                order by c.source
                limit 1
            )),
            case cardinality(p_stream_tables) when 1 then 'stream table' else 'stream tables' end, array_to_string(p_stream_tables, ', '),
            case cardinality(p_stream_tables) when 1 then 'reads' else 'read' end),
        detail = format('Writes of %s fail, because they would leave the stream %s behind.', array_to_string(v_sources, ', '),
            case cardinality(p_stream_tables) when 1 then 'table' else 'tables' end),
        hint = format('The next pgtrickle.tick() stops maintaining %s, and writes succeed. pgtrickle.suspend_stream_table(%L) does so at '
            'once%s.',
            case cardinality(p_stream_tables) when 1 then 'it' else 'them' end, p_stream_tables[1],
            case when cardinality(p_stream_tables) > 1 then ' for one of them' end);
end;
$function$;

-- Raises an error if a column of a source has another type, or p_whole and the source other columns, than in p_log, its change log, or its
-- table of pending changes, for which stream tables were made.
-- A column that does not exist is an error, too. It costs a trigger nothing: an immutable function is evaluated when its statement is
-- planned, and ALTER TABLE has that planned again.
create function pgtrickle_internal.checked_types(p_source regclass, p_columns name[], p_log regclass default null, p_whole boolean default
    false)
    returns boolean
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_pending regclass := p_log;
    v_mode    text := case when p_log is null then ' in immediate mode' else '' end;
    v_column  name;
    v_type    regtype;
    v_kept    regtype;
    v_problem text;
    v_readers text[];
    v_same    boolean := true;
begin
    if p_log is null then
        select c.pending::regclass
        into v_pending
        from pgtrickle_internal.pgt_source_config c
        where c.pending is not null and to_regclass(format('%I.%I', c.source_schema, c.source_name)) = p_source;
    end if;
    foreach v_column in array p_columns loop
        -- Not from pg_attribute: a snapshot may show an older type than that of which rows come.
        begin
            execute format('select pg_typeof(s.%1$I), pg_typeof(p.%1$I) from (select) one left join %2$s s on false left join %3$s p on '
                'false',
                v_column, p_source, v_pending)
            into v_type, v_kept;
        exception when undefined_column then
            v_readers := array(
                select t.stream_table
                from pgtrickle_internal.pgt_source_config c
                join pgtrickle_internal.pgt_source_reader r using (source)
                join pgtrickle_internal.pgt_stream_table_config t using (stream_table)
                where to_regclass(format('%I.%I', c.source_schema, c.source_name)) = p_source and v_column = any (r.columns)
                  and t.effective_mode in ('immediate', 'at_commit')
                order by t.refresh_order
            );
            v_problem := format('column %s of %s does not exist', v_column, p_source);
            perform pgtrickle_internal.pgt_refuse_writer(sqlstate, v_problem, v_readers);
        end;
        if v_type <> v_kept then
            raise exception using errcode = '55000',
                message = format('column %s of %s is of type %s now, and stream tables%s were made for %s', v_column, p_source, v_type,
                    v_mode, v_kept),
                detail = 'They belong to stream tables, and no statement may leave them behind.',
                hint = 'The next pgtrickle.tick() creates them again or shows in pgtrickle.pgt_status() why it cannot; '
                    'pgtrickle.refresh_stream_table() does it for one of them.';
        end if;
    end loop;
    if p_whole then
        begin
            execute format('select array(select json_object_keys(row_to_json(row(%1$s)::%2$s))) = %3$L::text[] from (select) one left join '
                '%2$s s on false',
                (select string_agg(format('s.%I', c.name), ', ' order by c.no) from unnest(p_columns) with ordinality c (name, no)),
                    p_source, p_columns)
            into v_same;
        exception when cannot_coerce then
            v_same := false;
        end;
        if not v_same then
            raise exception using errcode = '55000',
                message = format('%s has other columns now, and stream tables%s with its rows as values were made for %s', p_source,
                    v_mode, array_to_string(p_columns, ', ')),
                detail = 'They belong to stream tables, and no statement may leave them behind.',
                hint = 'The next pgtrickle.tick() shows in pgtrickle.pgt_status() what to do.';
        end if;
    end if;
    return true;
end;
$function$;

-- Raises an error in a snapshot that does not show the last transactions that changed stream tables over a table, which sequences hold.
create function pgtrickle_internal.pgt_require_seen(p_table text, p_last regclass[])
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if exists (
        select
        from unnest(p_last) l (name)
        cross join pg_sequence_last_value(l.name) s (no)
        cross join cast(s.no::text as xid8) x (xid)
        where not pg_visible_in_snapshot(x.xid, pg_current_snapshot()) and x.xid is distinct from pg_current_xact_id_if_assigned()
    ) then
        raise exception using errcode = '40001', message = 'could not serialize access due to concurrent update',
            detail = format('Another transaction changed what stream tables over %s read.', p_table),
            hint = 'Run the transaction again.';
    end if;
end;
$function$;

-- Returns the text of a trigger function between the comments "statement p_no" and "end of statement p_no", to run it with a plan of its
-- own:
-- a plan that is kept expects as many rows in transition tables as its first call had. Lines for few rows are left out.
create function pgtrickle_internal.pgt_own_statement(p_function regprocedure, p_no integer)
    returns text
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select regexp_replace(s.sql, '\n *(and|having) [^\n]* -- for few(?=\n)', '', 'g')
    from pg_proc p
    cross join lateral split_part(split_part(p.prosrc, format(E'-- statement %s\n', p_no), 2), format(E'-- end of statement %s\n', p_no),
        1) s (sql)
    where p.oid = p_function
$function$;

-- What the names of settings begin with in which a transaction counts its open statements, twice, and one more while changes of earlier
-- ones are kept: one setting for all stream tables in immediate mode that follow the same tables.
--
-- Any role may set a setting whose name it knows, and so make stream tables in immediate mode wrong. This one is not listed anywhere, and
-- nobody but the owner reads it here, whatever is granted: row-level security without a policy.
create table pgtrickle_internal.pgt_open_setting (
    name text not null
);

-- The name of a setting, see pgt_open_setting; p_use is what it ends in.
-- Called immutable it costs triggers nothing, where a query for the name takes a tenth of what a statement of one row does: it is evaluated
-- when the expression is planned, and the table never changes.
create function pgtrickle_internal.pgt_setting_name(p_use text)
    returns text
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return (select o.name || p_use from pgtrickle_internal.pgt_open_setting o);
end;
$function$;

-- Says that the count of open statements was lost, on which stream tables in immediate mode rely.
create function pgtrickle_internal.pgt_uncounted(p_table regclass)
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    raise exception using errcode = '55000',
        message = format('open statements of %s are not counted any more, on which stream tables in immediate mode rely', p_table),
        detail = 'RESET ALL forgets the count, and without its trigger that counts, a table has none.',
        hint = 'Leave RESET ALL to the time between transactions. Triggers are made again by the next pgtrickle.tick().';
end;
$function$;

-- Fills the stream tables of a maintenance group, which its pending_function names, or applies what triggers of their sources have logged
-- since.
-- Returns the number of logged rows, 1000 for a fill, or null where it has to be tried again. With p_last, writers wait, and triggers
-- maintain the stream tables from then on, but those that could not be filled; otherwise it must read from one snapshot, in repeatable
-- read.
create function pgtrickle_internal.pgt_catch_up(p_group name, p_last boolean default false)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '5s'
as $function$
declare
    v_all     text[] := array(select c.stream_table from pgtrickle_internal.pgt_stream_table_config c where c.pending_function = p_group);
    v_sources pgtrickle_internal.pgt_source_config[] := array(
        select s from pgtrickle_internal.pgt_source_config s where s.pending is not null and s.readers && v_all order by s.source
    );
    v_table   record; -- its name, as in pgt_sources_fit
    v_state   record;
    v_live    text[]; -- those that triggers do not bypass
    v_rows    bigint;
    v_total   bigint := 0::bigint;
    v_source  pgtrickle_internal.pgt_source_config;
    c         pgtrickle_internal.pgt_stream_table_config;
begin
    if p_last then
        -- As writers lock them: tables above a source before it.
        for v_table in
            select n.nspname as source_schema, r.relname as source_name
            from unnest(v_sources) s
            cross join to_regclass(format('%I.%I', s.source_schema, s.source_name)) t
            cross join pgtrickle_internal.pgt_inheritance(t) i
            join pg_class r on r.oid = i.relation
            join pg_namespace n on n.oid = r.relnamespace
            where not s.made and (i.level = 0 or s.part)
            order by i.level > 0 desc, s.source, i.level desc
        loop
            execute format('lock table only %I.%I in share row exclusive mode', v_table.source_schema, v_table.source_name);
        end loop;
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    set bypassed = true
    where s.stream_table = any (v_all) and s.suspended_at is not null and not s.bypassed;
    -- They are filled from one snapshot, so one frontier is that of all.
    with held as (
        select s.*
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = any (v_all)
        for update skip locked
    )
    select count(*) < cardinality(v_all) or p_last and bool_or(not h.bypassed and (h.seen is null or h.refit) or not h.logged) as wait,
           bool_or(h.seen is null and not h.bypassed) as unfilled, (array_agg(h.seen) filter (where not h.bypassed))[1] as seen,
           array_agg(h.stream_table) filter (where not h.bypassed) as live
    into v_state
    from held h;
    v_live := coalesce(v_state.live, '{}');
    if v_state.wait or exists (
        select
        from unnest(v_sources) s
        left join pgtrickle_internal.pgt_source_state f using (source)
        where f.problems ?| v_live or p_last and pgtrickle_internal.pgt_source_shape(s) is distinct from f.shape
    ) then
        return null;
    end if;

    if v_state.unfilled then
        for c in
            select t.*
            from pgtrickle_internal.pgt_stream_table_config t
            where t.stream_table = any (v_live)
            order by t.refresh_order
        loop
            raise notice 'filling %, % of %', c.stream_table, (
                select count(*)
                from pgtrickle_internal.pgt_stream_table_config t
                where t.effective_mode = 'immediate' and t.refresh_order <= c.refresh_order
            ), (select count(*) from pgtrickle_internal.pgt_stream_table_config);
            continue when not pgtrickle_internal.pgt_fill_member(c);
            if c.flush_function is not null then
                execute format('select %I.%I(gen_random_uuid(), false)', 'pgtrickle_internal', c.flush_function);
            end if;
        end loop;
        foreach v_source in array v_sources loop
            execute format('delete from %s', v_source.pending::regclass); -- the snapshot shows these changes
        end loop;
        return 1000::bigint;
    end if;
    foreach v_source in array v_sources loop
        execute format(
            'update %s p
            set __xid = pg_current_xact_id()
            where p.__xid >= pg_snapshot_xmin($1) and not pg_visible_in_snapshot(p.__xid, $1)', v_source.pending::regclass)
        using v_state.seen;
        get diagnostics v_rows = row_count;
        v_total := v_total + v_rows;
    end loop;
    execute format('select %I.%I(true, $1)', 'pgtrickle_internal', p_group) using
        array(select t from unnest(v_all) t where t <> all (v_live));
    perform setval(t.last_filled::regclass, pg_current_xact_id()::text::bigint)
    from pgtrickle_internal.pgt_stream_table_config t
    where t.stream_table = any (v_live);
    update pgtrickle_internal.pgt_stream_table_state t
    set seen = pg_current_snapshot(), own_xid = pg_current_xact_id(), last_refresh_at = clock_timestamp(), consecutive_errors = 0,
        last_error = null
    where t.stream_table = any (v_live);
    if p_last then
        update pgtrickle_internal.pgt_stream_table_state t set logged = false where t.stream_table = any (v_all);
        perform pgtrickle_internal.pgt_attach_source(s.source) from unnest(v_sources) s where not s.made;
        update pgtrickle_internal.pgt_source_state f
        set shape = pgtrickle_internal.pgt_source_shape(s)
        from unnest(v_sources) s
        where s.source = f.source;
    end if;
    return v_total;
end;
$function$;

-- Fills stream tables in immediate mode while their sources are written: triggers log until they are filled, then the logged rows are
-- applied, and only for the last of these do writers wait. The next tick() continues with what fails or has to wait. A procedure that
-- commits has no SET clause, so every name has its schema.
create procedure pgtrickle_internal.pgt_fill_immediate()
    language plpgsql
as $procedure$
declare
    v_group   pg_catalog.name;
    v_all     pg_catalog.text[]; -- the stream tables of the group
    v_rows    bigint;
    v_last    boolean;
    v_problem pg_catalog.text;
begin
    perform pgtrickle_internal.pgt_watch_sources(); -- a source that was altered or truncated has them filled again
    foreach v_group in array array(
        select c.pending_function
        from pgtrickle_internal.pgt_stream_table_config c
        join pgtrickle_internal.pgt_stream_table_state s on s.stream_table operator(pg_catalog.=) c.stream_table
        where s.logged
        group by c.pending_function
        order by pg_catalog.min(c.refresh_order)
    ) loop
        v_all := array(
            select c.stream_table
            from pgtrickle_internal.pgt_stream_table_config c
            where c.pending_function operator(pg_catalog.=) v_group
            order by c.refresh_order
        );
        v_problem := null;
        v_rows := 1000::bigint;
        for v_round in 0..20 loop
            v_last := v_round operator(pg_catalog.=) 20 or v_rows operator(pg_catalog.<) 1000; -- for this one, writers wait
            if v_last then
                commit; -- an expression between these two might be planned, which takes a snapshot
                set transaction isolation level read committed;
            else
                commit;
                set transaction isolation level repeatable read;
            end if;
            begin
                v_rows := pgtrickle_internal.pgt_catch_up(v_group, v_last);
            exception when serialization_failure or deadlock_detected or lock_not_available then
                v_rows := null;
            when others then
                v_rows := null;
                v_problem := pg_catalog.left(sqlerrm, 1000);
            end;
            exit when v_last or v_rows is null;
        end loop;
        commit;
        set transaction isolation level read committed;
        if v_problem is not null then
            update pgtrickle_internal.pgt_stream_table_state s
            set seen = null,
                consecutive_errors = s.consecutive_errors operator(pg_catalog.+) 1,
                last_error = v_problem,
                suspended_at = case when s.consecutive_errors operator(pg_catalog.>=) 2 then pg_catalog.clock_timestamp() end
            where s.stream_table operator(pg_catalog.=) any (v_all);
            raise warning using message = pg_catalog.concat('not filled: ', pg_catalog.array_to_string(v_all, ', '), ': ', v_problem);
        end if;
        commit;
    end loop;
end;
$procedure$;

-- Deletes what triggers noted of transactions that are over: that triggers of users had written the table that they are on.
-- Writes what is pending of these tables.
create function pgtrickle_internal.pgt_tidy_marks()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_pending regclass;
begin
    for v_pending in
        select p
        from pgtrickle_internal.pgt_source_config c
        cross join to_regclass(c.pending) p
        where c.pending_marks and p is not null
          and not exists (select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = any (c.readers) and s.logged)
        order by c.source
    loop
        execute format('delete from %s p where p.__mult is null and p.__xid < pg_snapshot_xmin(pg_current_snapshot())', v_pending);
    end loop;
end;
$function$;

-- A row makes its transaction call pgt_at_commit() when it commits. Ticks delete the rows, which nobody reads. It is no unlogged table:
-- after a crash right behind a rollback that undid the creation of one, PostgreSQL may not start.
create table pgtrickle_internal.pgt_commits (
    xid xid8 not null default pg_current_xact_id()
);

-- Notes that this transaction wrote rows of a source that stream tables in mode at_commit follow; p_mark stands for it. Calls
-- pgt_at_commit() when it commits. A setting has the number of rows, 1000000 for more than is counted, and lists what was written until a
-- savepoint is rolled back. No role knows its name, see pgt_open_setting. Names have their schemas: with a SET clause a small commit would
-- take a hundredth longer.
create function pgtrickle_internal.pgt_written(p_mark text, p_rows bigint)
    returns void
    language plpgsql
as $function$
declare
    v_setting pg_catalog.text := pgtrickle_internal.pgt_setting_name('_written');
    v_written pg_catalog.text;
    v_rows    bigint := p_rows;
begin
    v_written := pg_catalog.current_setting(v_setting, true);
    if v_written is null or v_written operator(pg_catalog.=) '' then
        insert into pgtrickle_internal.pgt_commits default values;
        v_written := pg_catalog.current_setting('sluice.written', true); -- by which extension; pgt_at_commit() asks
        perform pg_catalog.set_config('sluice.written', case
            when v_written operator(pg_catalog.<>) '' and v_written operator(pg_catalog.<>) 'pgtrickle_internal' then 'several' else
                'pgtrickle_internal' end, true);
        v_written := ',';
    else
        v_rows := pg_catalog.split_part(v_written, ',', 1)::pg_catalog.int8;
        v_written := pg_catalog.substr(v_written, pg_catalog.strpos(v_written, ','));
        if v_rows operator(pg_catalog.>=) 1000000 and pg_catalog.strpos(v_written, p_mark) operator(pg_catalog.>) 0 then
            return;
        end if;
        v_rows := least(v_rows operator(pg_catalog.+) p_rows, 1000000);
    end if;
    if pg_catalog.strpos(v_written, p_mark) operator(pg_catalog.=) 0 then
        v_written := v_written operator(pg_catalog.||) p_mark operator(pg_catalog.||) ',';
    end if;
    perform pg_catalog.set_config(v_setting, v_rows operator(pg_catalog.||) v_written, true);
end;
$function$;

-- Returns the full name of a stream table that is named with or without its schema.
create function pgtrickle_internal.pgt_stream_table_name(p_name text)
    returns text
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_names text[] := array(
        select c.stream_table
        from pgtrickle_internal.pgt_stream_table_config c
        where p_name in (c.stream_table, c.pgt_name, c.pgt_schema || '.' || c.pgt_name)
        order by c.stream_table <> p_name, c.stream_table
    );
begin
    if v_names = '{}' then
        raise exception using errcode = '42704', message = 'stream table not found: ' || coalesce(p_name, '<null>'),
            detail = 'The extension has no stream table of this name.',
            hint = 'pgtrickle.pgt_stream_tables lists its stream tables.';
    elsif cardinality(v_names) > 1 and v_names[1] <> p_name then
        raise exception using errcode = '22023', message = 'p_name: several stream tables are called ' || p_name,
            detail = 'They are ' || array_to_string(v_names, ', ') || '.', hint = 'Give the schema too, as it is listed here.';
    end if;
    return v_names[1];
end;
$function$;

-- Gives the statement_timeout that has ended the present statement; null if none has, and somebody cancelled it.
-- From where errors of refreshes and of pruning are noted.
create function pgtrickle_internal.pgt_time_was_up()
    returns interval
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select t.after
    from pg_settings s
    cross join make_interval(secs => s.setting::float8 / 1000) t (after)
    where s.name = 'statement_timeout' and s.setting <> '0' and clock_timestamp() >= statement_timestamp() + t.after
$function$;

-- Creates the table of a stream table's rows, which the first refresh fills, and the view that users see, where they are missing.
-- p_again: view or rows, which is dropped and created again. The view keeps its options, and the rights on it and on its columns.
create function pgtrickle_internal.pgt_attach_stream_table(p_stream_table text, p_again text default null)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set client_min_messages = warning
as $function$
declare
    c            pgtrickle_internal.pgt_stream_table_config;
    v_view       text;
    v_again      text[];
    v_statements text[] := array[]::text[];
    v_statement  text;
begin
    select t.* into c from pgtrickle_internal.pgt_stream_table_config t where t.stream_table = p_stream_table;
    v_view := format('%I.%I', c.pgt_schema, c.pgt_name);
    if p_again is not null then
        v_again := array(
            select format('grant %s%s on %s to %s%s', g.privilege_type, ' (' || quote_ident(g.on_column) || ')', v_view,
                coalesce(quote_ident(r.rolname), 'public'), case when g.is_grantable then ' with grant option' end)
            from pg_class k
            cross join lateral (
                select a.*, null::name as on_column
                from aclexplode(k.relacl) a
                union all
                select a.*, o.attname
                from pg_attribute o
                cross join aclexplode(o.attacl) a
                where o.attrelid = k.oid and o.attname = any (c.columns) -- that there will be
            ) g
            left join pg_roles r on r.oid = g.grantee
            where k.oid = to_regclass(v_view) and g.grantee <> k.relowner
            union all
            select format('alter view %s set (%s)', v_view, array_to_string(k.reloptions, ', '))
            from pg_class k
            where k.oid = to_regclass(v_view) and k.reloptions is not null
        );
        perform pgtrickle_internal.pgt_drop_own(r.name)
        from unnest(array[v_view, c.old_rows_table, case p_again when 'rows' then c.rows_table end]) r (name);
    end if;
    if to_regclass(c.rows_table) is null then
        if c.shape_table is not null then
            -- Only the server knows the query's columns: each row is stored as one value, of the row type of a table that stays empty.
            v_statements := array[
                format('drop table if exists %s', c.shape_table),
                format(e'create table %s as\nselect q.*\nfrom (\n%s\n) q\nwith no data', c.shape_table, coalesce(c.resolved, c.query))
            ];
        end if;
        -- The server names the types: those of the query.
        v_statements := v_statements
            || format(e'create table %s%s as\nselect %s\nfrom %s\nwith no data', c.rows_table, c.stored_with, c.stored_columns,
                coalesce(c.stored_from, format(e'(\n%s\n) q', coalesce(c.resolved, c.query))))
            || array(select format('alter table %s alter %I set not null', c.rows_table, n.name) from unnest(c.not_null) n (name))
            || c.row_indexes;
    end if;
    if exists (select from unnest(c.state_tables) k (name) where to_regclass(k.name) is null) then
        v_statements := v_statements || c.state_statements;
        update pgtrickle_internal.pgt_stream_table_state s set seen = null, own_xid = null, own_no = null where s.stream_table =
            p_stream_table;
    end if;
    v_statements := v_statements || c.spec_indexes;
    if not pgtrickle_internal.pgt_is_own(to_regclass(v_view)) then
        v_statements := v_statements
            || format('create view %s as %s', v_view, c.view_query)
            || format('comment on view %s is %L', v_view,
                concat_ws(e'\n', 'Stream table of Sluice extension pgtrickle:', c.query, '(Sluice: pgtrickle in pgtrickle)'));
    elsif to_regclass(c.old_rows_table) is null and
        strpos(pg_get_viewdef(to_regclass(v_view)), format('checked_filled(%L', p_stream_table)) = 0 then
        -- of an older version, or under another name
        v_statements := v_statements || format('create or replace view %s as %s', v_view, c.view_query);
    end if;
    v_statements := v_statements
        || array(select format('grant select on %s to %I', v_view, g.role) from unnest(c.grants) g (role))
        || v_again;
    -- The view, too, may have expressions of the query.
    perform set_config('search_path', case when c.resolved is null then
        (select s.value from pgtrickle_internal.pgt_spec s where s.name = 'search_path') else 'pg_catalog, pg_temp' end, true);
    foreach v_statement in array v_statements loop
        execute v_statement;
    end loop;
    set local search_path = pg_catalog, pg_temp;
    if c.flush_function is not null then
        if exists (select from pgtrickle_internal.pgt_outbox_state s where s.outbox_name = p_stream_table) then
            foreach v_statement in array array(
                select s.statement
                from (values
                    (1, 'after insert on %s referencing new table as new_rows'),
                    (2, 'after update on %s referencing old table as old_rows new table as new_rows'),
                    (3, 'after delete on %s referencing old table as old_rows'),
                    (4, 'before truncate on %s')
                ) w (place, fires)
                cross join lateral (values
                    (1, format('create trigger %I %s for each statement execute function %I.%I()', c.outbox_triggers[w.place],
                        format(w.fires, c.rows_table), 'pgtrickle_internal', c.outbox_functions[w.place])),
                    (2, format('alter table %s enable always trigger %I', c.rows_table, c.outbox_triggers[w.place]))
                ) s (step, statement)
                where not exists (select from pg_trigger g where g.tgrelid = to_regclass(c.rows_table) and g.tgname =
                    c.outbox_triggers[w.place])
                order by w.place, s.step
            ) loop
                execute v_statement;
            end loop;
        end if;
    end if;
end;
$function$;

-- Creates a stream table again if its columns are no longer those of its query: types of its sources were altered, or a new version defines
-- it differently.
-- p_aside: its rows are set aside, and shown until the next refresh replaces them by the new ones.
create function pgtrickle_internal.pgt_fit_stream_table(p_stream_table text, p_aside boolean default false)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set client_min_messages = warning
as $function$
declare
    c            pgtrickle_internal.pgt_stream_table_config;
    v_view       text;
    v_remake     boolean := (select s.remake from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = p_stream_table);
    v_fits       boolean;
    v_stores     text[];
    v_statements text[];
    v_dependents text;
    v_reader     record;
    v_index      regclass;
begin
    select t.* into c from pgtrickle_internal.pgt_stream_table_config t where t.stream_table = p_stream_table;
    v_view := format('%I.%I', c.pgt_schema, c.pgt_name);
    update pgtrickle_internal.pgt_stream_table_state s set refit = false, remake = false where s.stream_table = p_stream_table;
    select array_agg(x.name order by x.name = c.rows_table), array_agg(x.statement order by x.name = c.rows_table) into v_stores,
        v_statements from (
        select coalesce(c.shape_table, c.rows_table),
            format(e'create table %s as\nselect %s\nfrom %s\nwith no data', 'pgtrickle_internal.pgt_probe',
            case when c.shape_table is null then c.stored_columns else 'q.*' end,
                coalesce(c.stored_from, format(e'(\n%s\n) q', coalesce(c.resolved, c.query))))
        where v_remake is not true and to_regclass(c.rows_table) is not null and to_regclass(v_view) is not null
        union all
        select k.name, replace(s.statement, k.begins, 'create table pgtrickle_internal.pgt_probe ')
        from (select t.*, format('create table if not exists %s ', t.name) as begins from unnest(c.state_tables) t (name)) k
        join unnest(c.state_statements) s (statement) on starts_with(s.statement, k.begins)
        where to_regclass(k.name) is not null
    ) x (name, statement);
    for n in 1..coalesce(cardinality(v_stores), 0) loop
        perform set_config('search_path', case when c.resolved is null then
            (select s.value from pgtrickle_internal.pgt_spec s where s.name = 'search_path') else 'pg_catalog, pg_temp' end, true);
        execute v_statements[n];
        set local search_path = pg_catalog, pg_temp;
        v_fits := not exists (
            select
            from pg_attribute a
            where a.attrelid in (to_regclass(v_stores[n]), to_regclass('pgtrickle_internal.pgt_probe')) and a.attnum > 0 and not
                a.attisdropped
            group by a.attname, a.atttypid, a.atttypmod, a.attcollation
            having count(*) <> 2
        );
        drop table pgtrickle_internal.pgt_probe;
        if v_stores[n] = any (c.state_tables) then -- before the rows
            perform pgtrickle_internal.pgt_drop_own(v_stores[n]) where not v_fits; -- a refresh fills it with the rows
            v_fits := null;
        end if;
    end loop;
    if v_fits then
        perform pgtrickle_internal.pgt_attach_stream_table(p_stream_table); -- its indexes and triggers
        return;
    end if;

    -- Objects of users that depend on the view, besides its own rule and type, are not dropped. The error names them with their schemas.
    select string_agg(distinct pg_describe_object(d.classid, d.objid, 0), ', ')
    into v_dependents
    from pg_depend d
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    where (d.refclassid, d.refobjid, d.deptype) = ('pg_class'::regclass, to_regclass(v_view), 'n')
      and r.ev_class is distinct from d.refobjid;
    if v_dependents is not null then
        raise exception using errcode = '2BP01',
            message = format('stream table %s must be recreated, as its columns changed, but other objects depend on it', p_stream_table),
            detail = v_dependents, hint = 'Drop them, refresh it, and create them again.';
    end if;
    if p_aside then
        if to_regclass(c.old_rows_table) is null and to_regclass(c.rows_table) is not null and to_regclass(v_view) is not null then
            for v_index in select i.indexrelid::regclass from pg_index i where i.indrelid = to_regclass(c.rows_table) loop
                execute format('alter index %s rename to %I', v_index, 'pgt_old_' || v_index::oid);
            end loop;
            execute format('alter table %s rename to %I', c.rows_table::regclass, (parse_ident(c.old_rows_table))[2]);
        else
            perform pgtrickle_internal.pgt_drop_own(c.rows_table); -- no view shows it
        end if;
    end if;
    perform pgtrickle_internal.pgt_attach_stream_table(p_stream_table, case when not p_aside then 'rows' end);
    perform pgtrickle_internal.pgt_attach_source(s.source) from pgtrickle_internal.pgt_source_config s where s.source = p_stream_table;
    update pgtrickle_internal.pgt_stream_table_state s set seen = null, own_xid = null, own_no = null where s.stream_table = p_stream_table;
    -- What is computed from nothing are no changes to those in immediate mode that read it: they are recomputed, too, and may not fit any
    -- more.
    for v_reader in select s.pending, s.readers from pgtrickle_internal.pgt_source_config s where s.source = p_stream_table and s.pending
        is not null loop
        execute format('insert into %s (__mult) values (0)', v_reader.pending::regclass);
        update pgtrickle_internal.pgt_stream_table_state s set refit = true where s.stream_table = any (v_reader.readers) and s.seen is not
            null;
    end loop;
    if c.publish_function is not null then
        -- Rows have other types now: consumers replace their copy.
        update pgtrickle_internal.pgt_outbox_state s set full_refresh_due = true where s.outbox_name = p_stream_table;
    end if;
end;
$function$;

-- Raises the error that more has changed than the fuse of a stream table lets through.
-- Reads pgt_stream_table_config.
create function pgtrickle_internal.pgt_blow_fuse(p_stream_table text, p_what text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    raise exception using errcode = 'SLR02', message = 'fuse: ' || p_what,
        detail = (
            select format('Stream table %I.%I has fuse %s in the spec.', c.pgt_schema, c.pgt_name, c.fuse)
            from pgtrickle_internal.pgt_stream_table_config c
            where c.stream_table = p_stream_table
        ),
        hint = format('If they are meant, %I.resume_stream_table(%L) recomputes it.', 'pgtrickle', p_stream_table);
end;
$function$;

-- Counts the changes that a stream table has not applied, where they may be too many, and finds the reason to recompute it; null if there
-- is none.
-- changed: null if they were not counted.
-- Reads pgt_stream_table_state and change logs.
create function pgtrickle_internal.pgt_recompute_reason(c pgtrickle_internal.pgt_stream_table_config, out reason text, out changed bigint)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_bound  bigint; -- no more are new; null: not known
    v_worth  bigint; -- so many take as long to follow as recomputing took
    v_log    record;
    v_most   bigint;
    v_new    bigint;
begin
    -- The numbers of log rows show how many are new at most, unless transactions were in progress then: their rows have lower numbers.
    -- Joins and nested groups may make recomputing cheaper long before the share; below 5 ms nobody would notice.
    select case when pg_snapshot_xmin(s.seen) = pg_snapshot_xmax(s.seen) then
        pg_sequence_last_value('pgtrickle_internal.pgt_change_no'::regclass) - s.own_no end,
           case
               when s.recompute_ms > 0 and s.follow_ms > 0 then
                   greatest(1000, greatest(s.recompute_ms, 5) / greatest(s.follow_ms, 1e-6))::bigint
           end
    into v_bound, v_worth
    from pgtrickle_internal.pgt_stream_table_state s
    where s.stream_table = c.stream_table;
    changed := case when v_bound between 1001 and v_worth then null else 0::bigint end;
    if c.fuse is null and v_bound <= 1000 then
        return;
    end if;
    for v_log in
        select s.source, s.count_function,
               greatest(1000, c.recompute_share * (
                   select r.reltuples
                   from pg_class r
                   where r.oid = to_regclass(format('%I.%I', s.source_schema, s.source_name))
               )::numeric)::bigint as most
        from unnest(c.follows) with ordinality f (source, place)
        join pgtrickle_internal.pgt_source_config s on s.source = f.source
        order by f.place
    loop
        -- No more are counted than it takes to decide: to count 20,000 took a third of a refresh that reads them, and a million longer than
        -- some queries.
        v_most := case when c.recompute_share is not null and (v_bound <= 1000) is not true then least(v_log.most, v_worth) end;
        continue when changed is null and v_bound <= least(v_most, c.fuse);
        execute format('select %I.%I($1, $2)', 'pgtrickle_internal', v_log.count_function)
        into v_new
        using c.stream_table, greatest(v_most, c.fuse) + 1;
        changed := changed + v_new;
        if v_new > c.fuse then
            perform pgtrickle_internal.pgt_blow_fuse(c.stream_table, format('more changed rows of %s than %s', v_log.source, c.fuse));
        elsif v_new > v_most then
            reason := coalesce(reason, case
                when v_most = v_worth then format('more than %s changed rows take longer to follow, as before', v_worth)
                else format('many changed rows of %s', v_log.source)
            end);
            exit when c.fuse is null;
        end if;
    end loop;
    if reason is null and c.recompute_share is not null and changed > v_worth then
        reason := format('more than %s changed rows take longer to follow, as before', v_worth);
    end if;
end;
$function$;

-- Chooses what the outbox of a stream table gets from a refresh: null if the outbox is not enabled, nothing while writing is off or new
-- rows are not shown yet, all if consumers lack rows, replaced (the whole table if it changes) where the changes are not known, otherwise
-- changes.
-- Reads pgt_outbox_state, change logs.
create function pgtrickle_internal.pgt_outbox_gets(c pgtrickle_internal.pgt_stream_table_config)
    returns text
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_gets      text;
    v_truncated boolean := false;
    v_log       regclass;
begin
    select case
        when (select s.value from pgtrickle_internal.pgt_setting('outbox_enabled') s) <> 'on' then 'nothing'
        when s.full_refresh_due then 'all'
        else 'changes'
    end
    into v_gets
    from pgtrickle_internal.pgt_outbox_state s
    where s.outbox_name = c.stream_table;
    if v_gets is not null and to_regclass(c.old_rows_table) is not null then
        return 'nothing';
    end if;
    -- After a restore, or where a source was altered rather than truncated.
    if c.apply_function is not null and v_gets = 'changes'
        and exists (select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = c.stream_table and s.seen is null)
    then
        for v_log in
            select s.change_log::regclass from pgtrickle_internal.pgt_source_config s where s.source = any (c.follows)
        loop
            execute format('select exists (select from %s c where c.__mult = 0)', v_log) into v_truncated;
            exit when v_truncated;
        end loop;
        return case when v_truncated then 'changes' else 'replaced' end;
    end if;
    return v_gets;
end;
$function$;

-- Recomputes a stream table in immediate mode if it is not filled or its sources were altered; otherwise statements on its sources keep it
-- up to date.
-- Reads pgt_stream_table_state; locks the sources against writers and writes what the recompute function writes.
create function pgtrickle_internal.pgt_refresh_immediate(
    c pgtrickle_internal.pgt_stream_table_config, p_refresh_id uuid, out inserted bigint, out deleted bigint, out sent bigint
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '5s'
as $function$
declare
    v_source record;
begin
    inserted := 0;
    deleted := 0;
    if exists (select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = c.stream_table and
        (s.seen is null or s.refit or s.bypassed))
        or exists (select from unnest(c.state_tables) k (name) where to_regclass(k.name) is null)
        or to_regclass(c.rows_table) is null or to_regclass(format('%I.%I', c.pgt_schema, c.pgt_name)) is null
    then
        -- In the order in which writers lock them: tables before the stream tables that follow from them.
        for v_source in
            select s.source_schema, s.source_name
            from unnest(c.follows) with ordinality f (source, place)
            join pgtrickle_internal.pgt_source_config s on s.source = f.source
            order by f.place
        loop
            execute format('lock table %I.%I in share row exclusive mode', v_source.source_schema, v_source.source_name);
        end loop;
        perform pgtrickle_internal.pgt_fit_stream_table(c.stream_table);
        execute format('select * from %I.%I()', 'pgtrickle_internal', c.recompute_function) into inserted, deleted;
        if c.publish_function is not null and inserted + deleted > 0 then
            update pgtrickle_internal.pgt_outbox_state s set full_refresh_due = true where s.outbox_name = c.stream_table;
        end if;
        if c.pending_function is not null then
            execute format('select %I.%I(false, $1)', 'pgtrickle_internal', c.pending_function)
            using array(select s.stream_table from pgtrickle_internal.pgt_stream_table_state s where s.bypassed);
        end if;
        perform pgtrickle_internal.pgt_bypass(c.stream_table, false)
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = c.stream_table and s.suspended_at is null;
    end if;
    if c.flush_function is not null then
        execute format('select %I.%I($1, true)', 'pgtrickle_internal', c.flush_function) into sent using p_refresh_id;
    end if;
end;
$function$;

-- Applies to a stream table what has changed in its sources. reason: why it must be recomputed instead, which one without an apply function
-- must be after any change; null if it is up to date.
-- Reads change logs and writes what the apply function writes. p_changed: how many rows have changed, if they were counted.
-- p_gets: what pgt_outbox_gets returned.
create function pgtrickle_internal.pgt_refresh_differential(
    c pgtrickle_internal.pgt_stream_table_config, p_changed bigint, p_refresh_id uuid, p_gets text, out inserted bigint, out deleted
        bigint, out sent bigint, out reason text
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_looked pg_snapshot := pg_current_snapshot();
    v_no     bigint := nextval('pgtrickle_internal.pgt_change_no'::regclass);
    v_source record;
    v_unread bigint := 0::bigint;
    v_many   text[] := '{}'::text[];
    v_since  timestamptz;
begin
    select 0::bigint, 0::bigint into inserted, deleted;
    for v_source in select s.source, s.count_function from pgtrickle_internal.pgt_source_config s where s.source = any (c.follows) loop
        execute format('select $1 + n, $2 || array(select $3 where n > 1000) from %I.%I($4, 1001) n', 'pgtrickle_internal',
            v_source.count_function)
        into v_unread, v_many using v_unread, v_many, v_source.source, c.stream_table;
    end loop;
    if v_unread = 0 and not c.moves then -- changes that were committed since v_looked are left to the next refresh
        perform pgtrickle_internal.pgt_applied(c.stream_table, v_looked, v_no);
        return;
    end if;
    if c.apply_function is null then
        reason := c.effective_reason;
        return;
    end if;
    v_since := clock_timestamp();
    if p_gets = 'changes' then
        execute format('select * from %I.%I($1, $2, $3)', 'pgtrickle_internal', c.apply_function)
        into inserted, deleted, sent
        using v_many, v_looked, p_refresh_id;
    else
        execute format('select * from %I.%I($1, $2)', 'pgtrickle_internal', c.apply_function) into inserted, deleted using v_many, v_looked;
    end if;
    if c.recompute_share is not null and p_changed > 1000 is not false then
        -- Where recomputing had been faster, changes are counted the next time.
        update pgtrickle_internal.pgt_stream_table_state s
        set follow_ms = case when p_changed is null and t.ms <= s.recompute_ms then s.follow_ms else t.ms / p_changed end
        from (select 1000 * extract(epoch from clock_timestamp() - v_since)) t (ms)
        where s.stream_table = c.stream_table;
    end if;
exception when sqlstate 'SLR01' or data_exception or integrity_constraint_violation or raise_exception then
    -- A truncated table may have the same keys again; and an expression may fail for rows that were added and removed since.
    reason := sqlerrm;
when serialization_failure or deadlock_detected or lock_not_available or insufficient_privilege or insufficient_resources then
    raise;
when others then
    if c.refresh_mode <> 'auto' then
        raise;
    end if;
    reason := 'following fails: ' || sqlerrm; -- an operator class or a function was dropped, say; the next refresh follows again if it can
    update pgtrickle_internal.pgt_stream_table_state s
    set follow_error = reason
    where s.stream_table = c.stream_table;
end;
$function$;

-- Recomputes a stream table. An error if rows of sources in p_unkeyed, which have lost a unique key, are not unique any more.
-- gets: what pgt_outbox_gets returned; replaced, and not changes, where an outbox is to get all rows if some of them change.
create function pgtrickle_internal.pgt_refresh_full(
    c pgtrickle_internal.pgt_stream_table_config, p_unkeyed text[], p_refresh_id uuid, inout gets text, out inserted bigint, out deleted
        bigint, out sent bigint
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_since   timestamptz := clock_timestamp();
    v_keyless record;
    v_shared  boolean;
begin
    if p_unkeyed <> '{}' then
        for v_keyless in
            select s.source, r.unique_on, format('%I.%I', s.source_schema, s.source_name)::regclass as relation
            from pgtrickle_internal.pgt_source_config s
            join pgtrickle_internal.pgt_source_reader r using (source)
            where c.apply_function is not null and r.stream_table = c.stream_table and s.source = any (p_unkeyed)
        loop
            execute format('select exists (select from %s k group by %s having count(*) > 1)',
                v_keyless.relation, (select string_agg('k.' || quote_ident(u.name), ', ') from unnest(v_keyless.unique_on) u (name)))
            into v_shared;
            if v_shared then
                raise exception using errcode = '23505',
                    message = format('rows of source %s share %s', v_keyless.source, array_to_string(v_keyless.unique_on, ', ')),
                    detail = format('Stream table %s finds rows by it, as there was a unique key.', c.stream_table),
                    hint = 'Make it unique again, or change the spec or its DDL to match the catalog, generate and apply.';
            end if;
        end loop;
    end if;
    if gets = 'changes' then
        gets := (select case o.on_full_refresh when 'snapshot' then 'replaced' else gets end from pgtrickle_internal.pgt_outboxes o where
            o.stream_table = c.stream_table);
    end if;
    if gets = 'changes' then
        execute format('select * from %I.%I($1)', 'pgtrickle_internal', c.recompute_function) into inserted, deleted, sent using
            p_refresh_id;
    else
        execute format('select * from %I.%I()', 'pgtrickle_internal', c.recompute_function) into inserted, deleted;
    end if;
    if c.recompute_share is not null then
        update pgtrickle_internal.pgt_stream_table_state s
        set recompute_ms = 1000 * extract(epoch from clock_timestamp() - v_since),
            follow_ms = 0.9 * s.follow_ms -- so that following is tried again some time
        where s.stream_table = c.stream_table;
    end if;
end;
$function$;

-- Refreshes a stream table, by its changes if it can, and notes the refresh if something changed or p_always is true.
-- Locks its row in pgt_stream_table_state; sources in immediate mode alone, but see pgt_lock_paths.
-- p_commits: the transaction commits, so only what it wrote itself is applied, and only if transactions maintain the stream table.
create function pgtrickle_internal.pgt_refresh(
    p_stream_table text, p_always boolean, p_commits boolean default false, out refresh_id uuid, out mode text, out inserted bigint, out
        deleted bigint
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    c         pgtrickle_internal.pgt_stream_table_config;
    v_started timestamptz := clock_timestamp();
    v_limit   text := current_setting('lock_timeout');
    v_refit   boolean;
    v_reason  text;             -- to recompute it
    v_in_step boolean := false;
    v_changed bigint;
    v_unkeyed text[];
    v_failed  boolean := false; -- the apply function did
    v_to      text;             -- what its outbox gets: null, nothing, changes, replaced (the whole table if it changes), all
    v_sent    bigint;
begin
    select t.* into c from pgtrickle_internal.pgt_stream_table_config t where t.stream_table = p_stream_table;
    refresh_id := gen_random_uuid();
    if c.effective_mode = 'immediate' then
        mode := c.effective_mode;
        select r.inserted, r.deleted, r.sent into inserted, deleted, v_sent from pgtrickle_internal.pgt_refresh_immediate(c, refresh_id) r;
    else
        if c.effective_mode = 'at_commit' then
            -- Only this transaction's rows are left: others have applied theirs, or will before they commit.
            update pgtrickle_internal.pgt_stream_table_state s
            set seen = format('%1$s:%2$s:%1$s', pg_current_xact_id(), 9223372036854775807)::pg_snapshot
            where s.stream_table = p_stream_table and s.seen is not null and s.in_step =
                (select k.system_identifier from pg_control_system() k);
            v_in_step := found;
            if p_commits and not v_in_step then
                if current_setting('transaction_isolation') <> 'read committed' then
                    -- fails if that changed
                    perform from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = p_stream_table for update;
                end if;
                return;
            end if;
        end if;
        -- To be created again where a source was altered, or a user dropped the table of the rows.
        select s.refit or to_regclass(c.rows_table) is null or to_regclass(format('%I.%I', c.pgt_schema, c.pgt_name)) is null,
               case
                   when c.apply_function is null and (p_always or c.follows = '{}' or s.seen is null) then c.effective_reason
                   when s.seen is null and s.last_refresh_at is null then 'filled for the first time'
                   when s.seen is null then 'what it has seen is not known any more'
                   when c.moves and s.moment is null then 'what it has seen is not known any more'
                   when s.unkeyed <> '{}' then format('%s has lost its key', s.unkeyed[1])
               end,
               s.unkeyed
        into v_refit, v_reason, v_unkeyed
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = p_stream_table
        for update;
        if not found then
            perform pgtrickle_internal.pgt_stream_table_name(p_stream_table); -- an error: it was dropped meanwhile
        end if;
        if c.state_tables <> '{}' then
            v_refit := v_refit or exists (select from unnest(c.state_tables) k (name) where to_regclass(k.name) is null);
        end if;
        if c.apply_function is null and v_reason is null then
            v_reason := (
                select c.effective_reason -- rows whose changes no trigger sees
                from pgtrickle_internal.pgt_source_config f
                cross join pgtrickle_internal.pgt_inheritance(to_regclass(format('%I.%I', f.source_schema, f.source_name))) i
                join pg_class r on r.oid = i.relation
                where f.source = any (c.follows) and i.level = 0 and (r.relkind = 'f' or r.relpersistence = 'u')
                limit 1
            );
        end if;
        if v_refit then
            perform pgtrickle_internal.pgt_fit_stream_table(p_stream_table);
            v_reason := coalesce(v_reason, case when c.apply_function is not null then 'what it has seen is not known any more' else
                c.effective_reason end);
        end if;
        if v_reason is null and (c.recompute_share is not null or c.fuse is not null) then
            select r.reason, r.changed into v_reason, v_changed from pgtrickle_internal.pgt_recompute_reason(c) r;
        end if;
        if c.publish_function is not null then
            v_to := pgtrickle_internal.pgt_outbox_gets(c);
        end if;
        if v_reason is null and (c.apply_function is not null or c.follows <> '{}') then
            mode := c.effective_mode;
            select r.* into inserted, deleted, v_sent, v_reason from
                pgtrickle_internal.pgt_refresh_differential(c, v_changed, refresh_id, v_to) r;
            v_failed := v_reason is not null;
        end if;
        if c.apply_function is null and c.follows = '{}' or v_reason is not null then
            mode := 'full';
            if c.effective_mode = 'at_commit' and not v_in_step then
                update pgtrickle_internal.pgt_stream_table_state s set in_step = null where s.stream_table = p_stream_table and s.in_step
                    is not null;
            end if;
            select r.* into v_to, inserted, deleted, v_sent from pgtrickle_internal.pgt_refresh_full(c, v_unkeyed, refresh_id, v_to) r;
            if v_in_step and v_reason = 'a source was truncated' then
                -- Its new file is known then: nothing is to be recomputed because of it.
                update pgtrickle_internal.pgt_source_state f
                set shape = n.shape
                from pgtrickle_internal.pgt_source_config s
                cross join lateral pgtrickle_internal.pgt_source_shape(s) n (shape)
                where f.source = s.source and split_part(f.shape, ' ', 1) = split_part(n.shape, ' ', 1) and f.source = any (array(
                    select l.source from pgtrickle_internal.pgt_source_state l where l.source = any (c.follows) for update skip locked
                ));
            end if;
            if v_failed and inserted + deleted > c.fuse then
                perform pgtrickle_internal.pgt_blow_fuse(p_stream_table, format('more rows of it changed at once than %s', c.fuse));
            end if;
        end if;
        if v_to is not null then
            if v_to = 'nothing' then
                update pgtrickle_internal.pgt_outbox_state s
                set full_refresh_due = true
                where s.outbox_name = p_stream_table and not s.full_refresh_due;
            elsif v_to = 'all' or v_to = 'replaced' and inserted + deleted > 0 then
                execute format('select %I.%I($1)', 'pgtrickle_internal', c.publish_function) into v_sent using refresh_id;
            end if;
        end if;
    end if;
    if v_sent is not null and c.effective_mode <> 'at_commit' then
        perform pg_notify('pgtrickle_outbox_new', o.outbox_table_name) from pgtrickle_internal.pgt_outboxes o where o.stream_table =
            p_stream_table;
    end if;
    if not p_commits then
        if c.read_at_commit and (inserted > 0 or deleted > 0) then
            perform pgtrickle_internal.pgt_written(left(md5(p_stream_table), 12), 1000000);
        end if;
    elsif mode <> 'full' then
        return; -- not a row of the history for each transaction
    end if;
    if p_always or inserted > 0 or deleted > 0 or v_sent is not null then
        insert into pgtrickle.pgt_refresh_history (refresh_id, stream_table, started_at, mode, reason, inserted, deleted)
        values (refresh_id, p_stream_table, v_started, mode, v_reason, inserted, deleted);
    end if;
    if to_regclass(c.old_rows_table) is not null and not p_commits then
        begin -- shows the new rows instead of the old ones
            set local lock_timeout = '2s';
            perform pgtrickle_internal.pgt_attach_stream_table(p_stream_table, 'view');
            perform set_config('lock_timeout', v_limit, true);
        exception when lock_not_available or deadlock_detected then
            raise notice 'stream table % shows its old rows until nobody reads them: the next tick tries again', p_stream_table;
        end;
    end if;
end;
$function$;

-- Digests the functions of a stream table, and in immediate mode those of the triggers of its sources: which of them are new or have
-- changed.
create function pgtrickle_internal.pgt_digest(c pgtrickle_internal.pgt_stream_table_config)
    returns text
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select md5(string_agg(p.proname || coalesce(p.proconfig::text, '') || p.prosrc, '' order by p.proname))
    from regexp_replace(c.recompute_function, 'recompute$', '') n (begins)
    join pg_proc p on p.pronamespace = 'pgtrickle_internal'::regnamespace
    where p.proname between n.begins::name and (n.begins || '~')::name
       or c.effective_mode = 'immediate' and p.proname in (
           select f.name
           from pgtrickle_internal.pgt_source_config s
           cross join unnest(s.pending_functions) f (name)
           where s.source = any (c.follows)
       )
$function$;

-- Runs the apply function of a stream table once for a row more and once for a row less of each source, and rolls that back, if functions
-- of the stream table are new or have changed. Where a source is large no row changes, and the statements are only planned. An error of
-- mode auto is noted, as it recomputes then; in other modes it is raised.
create function pgtrickle_internal.pgt_try_stream_table(c pgtrickle_internal.pgt_stream_table_config)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set check_function_bodies = off -- stream tables that it reads may not be filled, see checked_filled()
as $function$
declare
    v_tried  text := pgtrickle_internal.pgt_digest(c);
    v_source pgtrickle_internal.pgt_source_config;
    v_large  boolean;
    v_error  text;
begin
    if v_tried = (select s.tried from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = c.stream_table)
        or to_regclass(c.rows_table) is null or pgtrickle_internal.pgt_sources_fit(c.stream_table) is not null
    then
        return;
    end if;
    v_large := exists (
        select
        from pgtrickle_internal.pgt_source_config s
        cross join lateral pgtrickle_internal.pgt_inheritance(to_regclass(format('%I.%I', s.source_schema, s.source_name))) i
        where s.source = any (c.follows) and pg_relation_size(i.relation) > 16 * 1024 * 1024
    );
    begin
        perform set_config('client_min_messages', 'error', true);
        update pgtrickle_internal.pgt_stream_table_state s
        set seen = pg_current_snapshot(), own_xid = pg_current_xact_id(), own_no = nextval('pgtrickle_internal.pgt_change_no'::regclass),
            moment = now()
        where s.stream_table = c.stream_table or s.stream_table = any (c.follows) and s.seen is null;
        for v_mult in reverse 1..-1 by 2 loop
            for v_source in select s.* from pgtrickle_internal.pgt_source_config s where s.source = any (c.follows) and not v_large order
                by s.source loop
                if v_source.made then
                    execute format('insert into %s (__mult) select %s', v_source.change_log::regclass, v_mult);
                else
                    execute format('insert into %s (__mult%s) select %s%s from (select) x left join (select * from %I.%I limit 1) t on '
                        'true',
                        v_source.change_log::regclass, (select string_agg(format(', %I', n.name), '') from unnest(v_source.log_columns) n
                            (name)),
                        v_mult, (select string_agg(format(', t.%I', n.name), '') from unnest(v_source.log_columns) n (name)),
                        v_source.source_schema, v_source.source_name);
                end if;
            end loop;
            execute format('select from %I.%I($1, $2)', 'pgtrickle_internal', c.apply_function) using '{}'::text[], pg_current_snapshot();
        end loop;
        raise exception using errcode = 'SLR03', message = 'roll back what was applied';
    exception when serialization_failure or deadlock_detected or lock_not_available then
        raise;
    when insufficient_privilege or insufficient_resources or object_not_in_prerequisite_state then
        return; -- of this session, or of this moment
    when sqlstate 'SLR01' or sqlstate 'SLR03' or data_exception or integrity_constraint_violation or raise_exception then
        null; -- of the rows: a refresh recomputes then
    when others then
        v_error := sqlerrm;
    end;
    if v_error is not null and c.refresh_mode <> 'auto' then
        raise exception using errcode = 'SLR05', table = c.stream_table,
            message = format('refresh mode %s cannot keep stream table %s: %s', c.refresh_mode, c.stream_table, v_error),
            hint = 'Use refresh_mode auto or full, which recompute it.';
    elsif v_error is not null then
        raise warning using message = format('stream table %s is recomputed: following fails: %s', c.stream_table, v_error);
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    set tried = v_tried, follow_error = 'following fails: ' || v_error
    where s.stream_table = c.stream_table;
end;
$function$;

-- Has the next refresh recompute the stream tables in immediate mode that read the one given: attach() discards what is pending of it.
-- Reads pgt_source_config; writes pgt_stream_table_state.
create function pgtrickle_internal.pgt_recompute_readers(p_stream_table text)
    returns void
    language sql
    set search_path = pg_catalog, pg_temp
as $function$
    update pgtrickle_internal.pgt_stream_table_state s
    set seen = null, own_xid = null, own_no = null
    from pgtrickle_internal.pgt_source_config c
    where c.source = p_stream_table and c.pending is not null and s.stream_table = any (c.readers)
$function$;

-- Publishes whether a cron expression named a minute since a moment. A moment that is yet to come is from before the clock was set back.
-- Calls the functions that return when an expression was due last.
create function pgtrickle_internal.pgt_cron_due(p_functions name[], p_since timestamptz)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_function name;
    v_last     timestamptz;
begin
    foreach v_function in array p_functions loop
        execute format('select %I.%I($1)', 'pgtrickle_internal', v_function) into v_last using clock_timestamp();
        if p_since < v_last or p_since > clock_timestamp() then
            return true;
        end if;
    end loop;
    return false;
end;
$function$;

-- Refreshes a stream table if that is due. Notes an error; the third in a row suspends the stream table.
-- p_now: even if it is not due, and an error where another session prevents it, as those that are refreshed together must not go on without
-- it.
create function pgtrickle_internal.pgt_tick(p_stream_table text, p_now boolean default false)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- for all that it calls: else the first five plan anew
as $function$
declare
    v_started timestamptz := clock_timestamp();
    v_mode    text;
    v_logged  boolean;
    v_source  text[]; -- the problem of one
    v_problem text;
    v_state   text;
    v_limit   interval;
    v_again   boolean := false;
begin
    select c.effective_mode, s.logged
    into v_mode, v_logged
    from pgtrickle_internal.pgt_stream_table_config c
    join pgtrickle_internal.pgt_stream_table_state s using (stream_table)
    where c.stream_table = p_stream_table and s.suspended_at is null and
        (p_now or (s.checked_at not between clock_timestamp() - c.due_every and clock_timestamp()
        or c.effective_mode = 'immediate' and (s.refit or s.seen is null) or c.effective_mode = 'at_commit'
        or c.due_functions <> '{}' and pgtrickle_internal.pgt_cron_due(c.due_functions, s.checked_at)));
    if not found then
        return;
    end if;
    begin
        -- Before the row of the state, as sessions that alter a source and then refresh lock them in this order.
        v_source := pgtrickle_internal.pgt_sources_fit(p_stream_table, false);
        if v_source is null and v_mode = 'at_commit' then
            if exists (
                select
                from pgtrickle_internal.pgt_stream_table_state s
                join pgtrickle_internal.pgt_stream_table_config c using (stream_table)
                where s.stream_table = p_stream_table and s.seen is not null and s.in_step is not null and to_regclass(c.old_rows_table) is
                    null
            ) then
                return; -- transactions maintain it: a lock would fail those of older snapshots
            end if;
        end if;
        perform from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = p_stream_table for update nowait;
        if not found then
            return; -- it was dropped meanwhile
        end if;
    exception when lock_not_available or undefined_table then
        if p_now then
            raise;
        end if;
        return; -- another session alters a source or refreshes the stream table: the next tick
    end;
    if v_source is null and v_logged then
        return; -- its maintenance group is being filled
    end if;
    v_problem := v_source[1] || '. ' || v_source[2];
    while v_problem is null or v_again loop
        begin
            perform pgtrickle_internal.pgt_refresh(p_stream_table, false);
            update pgtrickle_internal.pgt_stream_table_state s set checked_at = v_started where s.stream_table = p_stream_table;
            return;
        exception when serialization_failure or deadlock_detected or lock_not_available then
            if p_now then
                raise;
            end if;
            return; -- another session refreshed it: the next tick
        when query_canceled or others then
            v_limit := case when sqlstate = '57014' then pgtrickle_internal.pgt_time_was_up() end;
            if sqlstate = '57014' and (v_limit is null or v_again) then
                raise; -- a user cancelled it
            end if;
            -- If others had most of the time, it is tried again: after a timeout nothing is limited any more.
            v_again := coalesce(clock_timestamp() < v_started + v_limit / 2, false);
            v_state := sqlstate;
            v_problem := left(sqlerrm, 1000);
        end;
    end loop;
    if v_mode = 'immediate' then
        begin
            perform pgtrickle_internal.pgt_bypass(p_stream_table, true); -- else writers of its sources fail as it does
        exception when deadlock_detected or lock_not_available then
            if p_now then
                raise;
            end if;
            return; -- a transaction still writes them: the next tick
        end;
    end if;

    -- A problem of a source is noted once, and the stream table goes on by itself when the source is repaired. Only one that triggers
    -- bypass meanwhile is suspended.
    if v_source is null or v_problem is distinct from (
        select s.last_error from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = p_stream_table
    ) then
        insert into pgtrickle.pgt_refresh_history (stream_table, started_at, mode, error)
        values (p_stream_table, v_started, v_mode, left(v_problem, 1000));
        raise warning using message = format('stream table %s: %s', p_stream_table, v_problem);
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    set checked_at = v_started,
        consecutive_errors = case when v_source is null then s.consecutive_errors else 0 end + 1,
        last_error = v_problem,
        suspended_at = case when case when v_source is null then (s.consecutive_errors >= 2 or v_state = 'SLR02') else s.bypassed end then
            clock_timestamp() end,
        awaits_source = v_source is not null and s.bypassed
    where s.stream_table = p_stream_table;
end;
$function$;

-- Publishes whether a refresh of one of several stream tables is due.
-- Reads pgt_stream_table_config, pgt_stream_table_state.
create function pgtrickle_internal.pgt_any_due(p_stream_tables text[])
    returns boolean
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return exists (
        select
        from pgtrickle_internal.pgt_stream_table_state s
        join pgtrickle_internal.pgt_stream_table_config c using (stream_table)
        where s.stream_table = any (p_stream_tables) and s.suspended_at is null and
            (s.checked_at not between clock_timestamp() - c.due_every and clock_timestamp()
        or c.effective_mode = 'immediate' and (s.refit or s.seen is null) or c.effective_mode = 'at_commit'
        or c.due_functions <> '{}' and pgtrickle_internal.pgt_cron_due(c.due_functions, s.checked_at))
    );
end;
$function$;

-- Refreshes a stream table that reads something through several paths, and before it those that it reads. Returns what refresh_stream_table
-- does, and how many rows changed in all of them.
-- Reads and writes everything of the stream table.
create function pgtrickle_internal.pgt_refresh_in_order(p_stream_table text)
    returns table (refresh_id uuid, mode text, inserted bigint, deleted bigint, changed bigint)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
    v_tables  text[];
    v_table   text;
begin
    select c.upstream || c.stream_table
    into v_tables
    from pgtrickle_internal.pgt_stream_table_config c
    where c.stream_table = p_stream_table;
    foreach v_table in array v_tables loop
        perform pgtrickle_internal.pgt_sources_fit(v_table, p_require => true); -- their logs are there, too
    end loop;
    changed := 0;
    foreach v_table in array v_tables loop
        perform pgtrickle_internal.pgt_sources_fit(v_table, p_require => true);
        select r.*
        into refresh_id, mode, inserted, deleted
        from pgtrickle_internal.pgt_refresh(v_table, v_table = p_stream_table) r;
        changed := changed + inserted + deleted;
    end loop;
    return next;
end;
$function$;

-- Publishes whether a stream table that was refreshed, and what it reads, agree: nothing was committed since a snapshot that they read
-- through several paths.
-- Reads change logs; refreshes the stream table once more.
--
-- Of tables without a change log only a second look shows that they are unchanged.
create function pgtrickle_internal.pgt_agrees(p_stream_table text, p_since pg_snapshot)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_config  pgtrickle_internal.pgt_stream_table_config;
    v_log     text;
    v_changed boolean;
begin
    select c.* into v_config from pgtrickle_internal.pgt_stream_table_config c where c.stream_table = p_stream_table;
    if v_config.path_tables <> '{}' and (select r.changed from pgtrickle_internal.pgt_refresh_in_order(p_stream_table) r) > 0 then
        return false;
    end if;
    foreach v_log in array v_config.path_logs loop
        execute format(
            'select exists (
                select
                from %s c
                where c.__xid >= pg_snapshot_xmin($1) and not pg_visible_in_snapshot(c.__xid, $1)
                  and c.__xid is distinct from pg_current_xact_id_if_assigned()
            )', v_log::regclass)
        into v_changed
        using p_since;
        if v_changed then
            return false;
        end if;
    end loop;
    return true;
end;
$function$;

-- Keeps what a stream table reads through several paths as it is until the transaction ends. Others wait behind it for two seconds at most.
-- Locks change logs, and tables without one.
create function pgtrickle_internal.pgt_lock_paths(p_stream_table text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '2s'
as $function$
declare
    v_foreign text;
    v_path    regclass;
    v_hint    text := 'Refresh it in a transaction that is REPEATABLE READ, or leave it to pgtrickle.tick().';
begin
    select c.path_foreign into v_foreign from pgtrickle_internal.pgt_stream_table_config c where c.stream_table = p_stream_table;
    if v_foreign is not null then
        raise exception using errcode = '25001',
            message = format('stream table %s reads %s through several paths and must be refreshed in one snapshot', p_stream_table,
                v_foreign),
            hint = v_hint;
    end if;
    for v_path in
        select p.path::regclass
        from pgtrickle_internal.pgt_stream_table_config c
        cross join unnest(c.path_logs || c.path_tables) p (path)
        where c.stream_table = p_stream_table
    loop
        execute format('lock table %s in share mode', v_path);
    end loop;
exception when lock_not_available or insufficient_privilege or wrong_object_type then
    raise exception using errcode = sqlstate,
        message = format('stream table %s reads %s through several paths, which others write', p_stream_table, v_path),
        detail = sqlerrm, hint = v_hint;
end;
$function$;

-- Refreshes a stream table after those that it reads. Returns the numbers of rows inserted and deleted.
--
-- What is read through several paths must be read at one moment, or a stream table joins what was with what is. READ COMMITTED gives each
-- statement a snapshot of its own, so what others commit meanwhile is found afterwards, and all is refreshed again. Writers wait for
-- nothing, but for a sixth attempt.
create function pgtrickle.refresh_stream_table(p_name text)
    returns table (refresh_id uuid, mode text, inserted bigint, deleted bigint)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- for all that it calls: else the first five plan anew
as $function$
#variable_conflict use_column
declare
    v_name    text;
    v_table   text;
    v_tables  text[]; -- those that it reads, and it
    v_diamond boolean;
    v_foreign boolean;
    v_logged  boolean;
    v_seen    pg_snapshot;
begin
    -- Upgrades keep refreshes out by it, and these have locked nothing yet.
    lock table pgtrickle_internal.pgt_tasks in row share mode;
    v_name := pgtrickle_internal.pgt_stream_table_name(p_name);
    perform pgtrickle_internal.pgt_check_origin();
    select c.upstream || v_name, c.path_logs is not null, c.path_foreign is not null, exists
        (select from pgtrickle_internal.pgt_stream_table_state s where s.logged)
    into v_tables, v_diamond, v_foreign, v_logged
    from pgtrickle_internal.pgt_stream_table_config c
    where c.stream_table = v_name;
    if v_logged then
        -- What is being filled cannot wait here for another transaction: writers do.
        perform pgtrickle.attach();
    end if;
    if not v_diamond then
        foreach v_table in array v_tables loop
            perform pgtrickle_internal.pgt_sources_fit(v_table, p_require => true);
            select r.* into refresh_id, mode, inserted, deleted from pgtrickle_internal.pgt_refresh(v_table, v_table = v_name) r;
        end loop;
        return next;
        return;
    elsif current_setting('transaction_isolation') <> 'read committed' then
        return query select r.refresh_id, r.mode, r.inserted, r.deleted from pgtrickle_internal.pgt_refresh_in_order(v_name) r;
        return;
    end if;
    for v_attempt in 1..6 loop
        begin
            if v_attempt = 6 or v_foreign then
                perform pgtrickle_internal.pgt_lock_paths(v_name);
            end if;
            v_seen := pg_current_snapshot();
            select r.refresh_id, r.mode, r.inserted, r.deleted
            into refresh_id, mode, inserted, deleted
            from pgtrickle_internal.pgt_refresh_in_order(v_name) r;
            if v_attempt = 6 or pgtrickle_internal.pgt_agrees(v_name, v_seen) then
                return next;
                return;
            end if;
            raise exception using errcode = 'SLR03', message = 'others committed meanwhile';
        exception when sqlstate 'SLR03' then
            null;
        end;
    end loop;
end;
$function$;
comment on function pgtrickle.refresh_stream_table(text) is
    'Refreshes a stream table after those that it reads. (Sluice: pgtrickle in pgtrickle)';

-- Has transactions maintain those stream tables in mode at_commit that are filled: applies what was written since, once all that have
-- written are over.
-- Waits for these half a second at most, while writers wait; the next tick tries again. In snapshots of earlier moments it does nothing.
create function pgtrickle_internal.pgt_fall_in_step()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '500ms'
as $function$
declare
    v_tables text[] := array(
        select c.stream_table
        from pgtrickle_internal.pgt_stream_table_config c
        join pgtrickle_internal.pgt_stream_table_state s using (stream_table)
        where c.effective_mode = 'at_commit' and s.seen is not null and s.in_step is null and s.suspended_at is null
        order by c.refresh_order
    );
    v_table  text;
    v_log    regclass;
begin
    if v_tables = '{}' or current_setting('transaction_isolation') <> 'read committed' then
        return;
    end if;
    begin
        -- Tables before stream tables, as commits write them.
        for v_log in
            select s.change_log::regclass
            from pgtrickle_internal.pgt_source_config s
            where s.readers && (v_tables || array(
                select u
                from pgtrickle_internal.pgt_stream_table_config c
                cross join unnest(c.upstream) u
                where c.stream_table = any (v_tables)
            )) and to_regclass(s.change_log) is not null
            order by s.made, s.source
        loop
            execute format('lock table %s in share mode', v_log);
        end loop;
        foreach v_table in array v_tables loop
            continue when pgtrickle_internal.pgt_sources_fit(v_table, false) is not null;
            perform pgtrickle_internal.pgt_refresh(v_table, false);
            update pgtrickle_internal.pgt_stream_table_state s
            set in_step = k.system_identifier
            from pg_control_system() k
            where s.stream_table = v_table and s.seen is not null;
        end loop;
    exception when lock_not_available or deadlock_detected or serialization_failure then
        null;
    end;
end;
$function$;

-- Fills a stream table that is new. If it fails, the others are filled all the same, and tick() tries this one again. p_all: all that there
-- are, for the notice of how far it has come. p_began: when filling began.
create function pgtrickle_internal.pgt_fill_table(p_stream_table text, p_all text[], p_began timestamptz)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if not exists (
        select
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = p_stream_table and s.seen is null
          and not s.logged and not (s.bypassed and (s.checked_at >= p_began or s.suspended_at is not null))
    ) then
        return;
    end if;
    raise notice 'filling %, % of %', p_stream_table, array_position(p_all, p_stream_table), cardinality(p_all);
    perform pgtrickle_internal.pgt_sources_fit(p_stream_table, p_require => true);
    perform pgtrickle_internal.pgt_refresh(p_stream_table, true);
    update pgtrickle_internal.pgt_stream_table_state s
    set checked_at = clock_timestamp()
    from pgtrickle_internal.pgt_stream_table_config c
    where s.stream_table = p_stream_table and c.stream_table = p_stream_table and c.seldom;
exception when others then
    update pgtrickle_internal.pgt_stream_table_state s
    set consecutive_errors = s.consecutive_errors + 1, last_error = left(sqlerrm, 1000)
    where s.stream_table = p_stream_table;
    raise warning using message = 'stream table ' || p_stream_table || ' is not filled: ' || sqlerrm;
end;
$function$;

-- Fills the stream tables that are new, each in a transaction of its own, so that no writer waits for more than one. A procedure that
-- commits has no SET clause, so every name has its schema.
create procedure pgtrickle_internal.pgt_fill()
    language plpgsql
as $procedure$
declare
    v_all   pg_catalog.text[] := array(
        select c.stream_table
        from pgtrickle_internal.pgt_stream_table_config c
        order by c.effective_mode operator(pg_catalog.<>) 'immediate', c.refresh_order
    );
    v_table pg_catalog.text;
    v_began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
begin
    call pgtrickle_internal.pgt_fill_immediate();
    foreach v_table in array v_all loop
        commit; -- SET TRANSACTION must be the first statement of a transaction
        set transaction isolation level read committed;
        perform pgtrickle_internal.pgt_fill_table(v_table, v_all, v_began);
        if exists (
            select
            from pgtrickle_internal.pgt_stream_table_config c
            join pgtrickle_internal.pgt_stream_table_state s on s.stream_table operator(pg_catalog.=) c.stream_table
            where c.stream_table operator(pg_catalog.=) v_table and c.publish_function is not null and c.online
              and pg_catalog.to_regclass(c.old_rows_table) is null and s.seen is not null
        ) then
            if exists (
                select from pgtrickle_internal.pgt_outbox_state o where o.outbox_name operator(pg_catalog.=) v_table and o.full_refresh_due
            ) then
                commit;
                set transaction isolation level read committed;
                perform pgtrickle_internal.pgt_refresh(v_table, false); -- its consumers get the rows that are shown now
            end if;
        end if;
    end loop;
    commit;
    set transaction isolation level read committed;
    perform pgtrickle_internal.pgt_fall_in_step();
    commit;
end;
$procedure$;

-- Runs the triggers of each source of stream tables in immediate mode once for each event, on a copy of the source that has one row of it,
-- and rolls that back, if functions of the stream tables are new or have changed. No trigger of users fires. An error is raised.
create function pgtrickle_internal.pgt_try_immediate()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set check_function_bodies = off -- stream tables that it reads may not be filled, see checked_filled()
as $function$
declare
    v_new       text[] := array(
        select c.stream_table
        from pgtrickle_internal.pgt_stream_table_config c
        join pgtrickle_internal.pgt_stream_table_state s using (stream_table)
        where c.effective_mode = 'immediate' and s.tried is distinct from pgtrickle_internal.pgt_digest(c) and to_regclass(c.rows_table) is
            not null
          and not s.bypassed and not exists ( -- these are tried once triggers maintain them again
              select
              from pgtrickle_internal.pgt_source_config r
              join pgtrickle_internal.pgt_source_state f using (source)
              where c.stream_table = any (r.readers) and r.pending is not null and f.problems ?| r.readers
          )
        order by c.refresh_order
    );
    v_source    pgtrickle_internal.pgt_source_config;
    v_table     regclass;
    v_fires     text;
    v_statement text;
    v_error     text;
    v_context   text;
    v_failed    text;
begin
    for v_source in
        select s.*
        from pgtrickle_internal.pgt_source_config s
        where s.readers && v_new and s.pending is not null and not s.made
        order by s.source
    loop
        v_table := to_regclass(format('%I.%I', v_source.source_schema, v_source.source_name));
        continue when v_table is null;
        begin
            perform set_config('client_min_messages', 'error', true);
            foreach v_fires in array array['ODA', 'R'] loop -- those of statements, and those that fire as replication applies changes
                execute format('create table %s as select t.* from (select) x left join (select * from %s limit 1) t on true',
                    'pgtrickle_internal.pgt_probe', v_table);
                foreach v_statement in array array(
                    select replace(pg_get_triggerdef(t.oid), format(' ON %I.%I ', v_source.source_schema, v_source.source_name),
                        ' ON pgtrickle_internal.pgt_probe ')
                    from pg_trigger t
                    join pg_proc p on p.oid = t.tgfoid
                    where t.tgrelid = v_table and t.tgname = any (v_source.pending_triggers) and p.pronamespace =
                        'pgtrickle_internal'::regnamespace
                      and strpos(v_fires, t.tgenabled) > 0
                    union all
                    select format(v.statement, 'pgtrickle_internal.pgt_probe', quote_ident(v_source.pending_columns[1]))
                    from unnest(array['insert into %1$s select * from %1$s', 'update %1$s set %2$s = %2$s', 'delete from %1$s']) v
                        (statement)
                    where v_source.pending_columns <> '{}'
                ) loop
                    execute v_statement;
                end loop;
                execute format('drop table %s', 'pgtrickle_internal.pgt_probe');
            end loop;
            -- Other functions apply what of it is pending, and find what groups have lost.
            execute format('insert into %s (__mult%s) select 1%s from (select) x left join (select * from %s limit 1) t on true',
                v_source.pending::regclass,
                (select string_agg(format(', %I', n.name), '') from unnest(v_source.pending_columns) n (name)),
                (select string_agg(format(', t.%I', n.name), '') from unnest(v_source.pending_columns) n (name)), v_table);
            foreach v_statement in array array(
                select distinct format('select %I.%I(true, %L)', 'pgtrickle_internal', c.pending_function, array(
                    select s.stream_table from pgtrickle_internal.pgt_stream_table_state s where s.bypassed
                ))
                from pgtrickle_internal.pgt_stream_table_config c
                where c.stream_table = any (v_source.readers) and c.pending_function is not null
                union all
                select format('select %s(null)', p.oid::regproc)
                from pgtrickle_internal.pgt_stream_table_config c
                join pg_proc p on p.proname = left(c.recompute_function, -length('recompute')) || 'regain'
                where c.stream_table = any (v_source.readers) and p.pronamespace = 'pgtrickle_internal'::regnamespace
            ) loop
                execute v_statement;
            end loop;
            raise exception using errcode = 'SLR03', message = 'roll back what was applied';
        exception when serialization_failure or deadlock_detected or lock_not_available then
            raise;
        when insufficient_privilege or insufficient_resources or object_not_in_prerequisite_state then
            return; -- of this session, or of this moment
        when sqlstate 'SLR01' or sqlstate 'SLR03' or data_exception or integrity_constraint_violation or raise_exception then
            null; -- of the row
        when others then
            get stacked diagnostics v_error = message_text, v_context = pg_exception_context;
            select coalesce(min(c.stream_table) filter (where strpos(v_context, left(c.recompute_function, -length('recompute'))) > 0),
                min(c.stream_table))
            into v_failed
            from pgtrickle_internal.pgt_stream_table_config c
            where c.stream_table = any (v_source.readers) and c.effective_mode = 'immediate';
            raise exception using errcode = 'SLR05', table = v_failed,
                message = format('refresh mode immediate cannot keep stream table %s: %s', v_failed, v_error),
                hint = 'Use refresh_mode auto or full, which recompute it.';
        end;
    end loop;
    update pgtrickle_internal.pgt_stream_table_state s
    set tried = pgtrickle_internal.pgt_digest(c)
    from pgtrickle_internal.pgt_stream_table_config c
    where c.stream_table = s.stream_table and c.stream_table = any (v_new);
end;
$function$;

-- Maintains the stream tables in mode at_commit that follow what this transaction wrote, always in the order of refreshes, under locks of
-- their rows in pgt_stream_table_state; with p_or_all all of them, if somebody has reset all settings. Returns whether there was anything
-- to do.
create function pgtrickle_internal.pgt_maintain_written(p_or_all boolean default false)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_setting text := pgtrickle_internal.pgt_setting_name('_written');
    v_written text := coalesce(current_setting(v_setting, true), '');
    v_all     boolean := p_or_all and v_written = '';
    v_few     boolean := nullif(split_part(v_written, ',', 1), '')::bigint <= 200; -- null: not known
    v_system  bigint := (select k.system_identifier from pg_control_system() k);
    v_table   text;
    v_follows text[];
    v_apply   name; -- the function that applies few rows of tables at once: what these change goes nowhere else
    v_done    boolean;
begin
    if v_written in ('', '0,') and not v_all then
        return false;
    end if;
    perform set_config(v_setting, '0,', true); -- what is written from now on is added
    for v_table, v_follows, v_apply in
        select c.stream_table, c.follows, case when c.publish_function is null and c.upstream = '{}' then c.apply_function end
        from pgtrickle_internal.pgt_stream_table_config c
        where c.effective_mode = 'at_commit'
        order by c.refresh_order
    loop
        if v_all or exists (select from unnest(v_follows) f (source) where strpos(v_written, left(md5(f.source), 12)) > 0) then
            v_done := false;
            if v_few and v_apply is not null then
                -- Only this transaction's rows are left: others have applied theirs, or will before they commit.
                update pgtrickle_internal.pgt_stream_table_state s
                set seen = format('%1$s:%2$s:%1$s', pg_current_xact_id(), 9223372036854775807)::pg_snapshot
                where s.stream_table = v_table and s.seen is not null and s.in_step = v_system;
                begin
                    if found then
                        execute format('select from %I.%I($1, null)', 'pgtrickle_internal', v_apply) using '{}'::text[];
                        v_done := true;
                    end if;
                exception when sqlstate 'SLR01' or data_exception or integrity_constraint_violation or raise_exception
                    or undefined_table then
                    null; -- see pgt_refresh
                end;
            end if;
            if not v_done then
                perform pgtrickle_internal.pgt_refresh(v_table, false, true);
            end if;
            v_written := v_written || left(md5(v_table), 12) || ','; -- others may follow it
        end if;
    end loop;
    return true;
end;
$function$;

-- Has what this transaction wrote maintain stream tables in mode at_commit, until nothing is left: also those of other extensions of the
-- same owner, which may read one another, in an order that all commits have. An error fails the commit.
create function pgtrickle_internal.pgt_at_commit()
    returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_schema name;
    v_done   boolean;
    v_go_on  boolean;
begin
    if pg_trigger_depth() > 1 then
        -- SET CONSTRAINTS has triggers called within statements, which may have written tables that their own triggers have not logged yet.
        set constraints pgtrickle_internal.pgt_at_commit deferred;
        insert into pgtrickle_internal.pgt_commits default values;
        return null;
    end if;
    if coalesce(current_setting('sluice.written', true), '') in ('', 'pgtrickle_internal') then
        perform pgtrickle_internal.pgt_maintain_written(true);
    end if;
    if current_setting('sluice.written', true) is distinct from 'pgtrickle_internal' then
        loop
            v_go_on := false;
            for v_schema in
                select n.nspname
                from pg_proc p
                join pg_namespace n on n.oid = p.pronamespace
                where p.proname = 'pgt_maintain_written' and
                    (p.proowner = to_regrole(quote_ident(current_user)) or p.pronamespace = 'pgtrickle_internal'::regnamespace)
                order by p.oid
            loop
                execute format('select %I.pgt_maintain_written()', v_schema) into v_done;
                v_go_on := v_go_on or v_done;
            end loop;
            exit when not v_go_on;
        end loop;
    end if;
    perform set_config(pgtrickle_internal.pgt_setting_name('_written'), '', true); -- what is written from now on calls this function again
    return null;
end;
$function$;

-- Deferred, so that each transaction maintains stream tables once, and holds locks on them only while it commits.
create constraint trigger pgt_at_commit after insert on pgtrickle_internal.pgt_commits
    deferrable initially deferred
    for each row execute function pgtrickle_internal.pgt_at_commit();

-- The state of each stream table, those first that others read.
create function pgtrickle.pgt_status()
    returns table (
        pgt_name text, status text, effective_mode text, schedule text, staleness interval, consecutive_errors integer, last_error text
    )
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select t.pgt_name::text, t.status, t.effective_mode, t.schedule, t.staleness, t.consecutive_errors, t.last_error
    from pgtrickle.pgt_stream_tables t
$function$;
comment on function pgtrickle.pgt_status() is
    'The state of each stream table, those first that others read. (Sluice: pgtrickle in pgtrickle)';

-- The latest refreshes of a stream table, newest first.
create function pgtrickle.get_refresh_history(p_name text, p_limit integer default 20)
    returns table (
        refresh_id uuid, started_at timestamptz, finished_at timestamptz, mode text, reason text, inserted bigint, deleted bigint, error
            text
    )
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select h.refresh_id, h.started_at, h.finished_at, h.mode, h.reason, h.inserted, h.deleted, h.error
    from pgtrickle.pgt_refresh_history h
    where h.stream_table = (select pgtrickle_internal.pgt_stream_table_name(p_name))
    order by h.started_at desc, h.finished_at desc, h.refresh_id
    limit p_limit
$function$;
comment on function pgtrickle.get_refresh_history(text, int4) is
    'The latest refreshes of a stream table, newest first. (Sluice: pgtrickle in pgtrickle)';

-- Lists the change logs that each stream table follows, or one of them, with the number of rows that it has not applied; null if it will be
-- recomputed.
-- Runs with its owner's rights: a monitor may count rows that it may not read.
create function pgtrickle_internal.pgt_waiting(p_stream_table text default null)
    returns table (stream_table text, source text, log text, waiting bigint)
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
    v_count name;
begin
    for stream_table, source, log, v_count in
        select c.stream_table, s.source, s.change_log,
               case when t.seen is not null and to_regclass(s.change_log) is not null then s.count_function end
        from pgtrickle_internal.pgt_stream_table_config c
        join pgtrickle_internal.pgt_stream_table_state t using (stream_table)
        cross join unnest(c.follows) with ordinality f (source, place)
        join pgtrickle_internal.pgt_source_config s on s.source = f.source
        where c.effective_mode in ('differential', 'at_commit') and (p_stream_table is null or c.stream_table = p_stream_table)
        order by c.refresh_order, f.place
    loop
        waiting := null;
        if v_count is not null then
            execute format('select %I.%I($1, null)', 'pgtrickle_internal', v_count) into waiting using stream_table;
        end if;
        return next;
    end loop;
end;
$function$;

-- Describes the refresh and the state of a stream table. Runs with its owner's rights: a monitor may count rows that it may not read.
create function pgtrickle.explain_st(p_name text)
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_name text := pgtrickle_internal.pgt_stream_table_name(p_name);
begin
    return query
    select l.line
    from pgtrickle_internal.pgt_stream_table_config c
    join pgtrickle.pgt_stream_tables t on t.pgt_schema = c.pgt_schema and t.pgt_name = c.pgt_name
    join pgtrickle_internal.pgt_stream_table_state s on s.stream_table = c.stream_table
    cross join unnest(
        array['stream table: ' || c.stream_table, 'from: ' || case c.spec_path
            when 'create_stream_table' then 'create_stream_table. "sluice spec pull" writes it as a part of the spec, whose compiler can '
                'have it follow changes'
            else c.spec_path || ' in the spec'
        end, 'query:']
        || array(select '    ' || q.line from regexp_split_to_table(rtrim(c.query, e'\n'), e'\n') q (line))
        || array[
            'refresh mode: ' || c.refresh_mode || ', in effect ' || t.effective_mode || coalesce(': ' || t.effective_reason, ''),
            'strategy: ' || c.strategy || ': ' || case c.strategy
                when 'merge_rows' then 'the rows by which the query changes are added and taken away'
                when 'merge_groups' then 'what their rows change is added to the stored groups'
                when 'rescan_keys' then 'affected groups are recomputed'
                when 'recompute' then 'everything is recomputed, and the difference is applied'
            end,
            'schedule: ' || coalesce('calculated: ' || c.calculated, c.schedule),
            'reads: ' || array_to_string(c.reads, ', '),
            'stored in: ' || array_to_string(parse_ident(c.rows_table), '.')
        ]
        || array(
            select 'follows ' || w.source || ': log ' || w.log || ', ' ||
                coalesce('rows waiting: ' || w.waiting, 'not needed until it is filled')
            from pgtrickle_internal.pgt_waiting(v_name) w
        )
        || array[
            'status: ' || t.status || coalesce(' since ' || t.suspended_at, '') ||
                coalesce(', ' || nullif(t.consecutive_errors, 0) || ' errors in a row', ''),
            'last error: ' || t.last_error,
            'stands at: ' || coalesce('snapshot ' || s.seen || ', refreshed ' || t.last_refresh_at, 'nothing yet')
        ]
    ) with ordinality l (line, no)
    where c.stream_table = v_name and l.line is not null
    order by l.no;
end;
$function$;
comment on function pgtrickle.explain_st(text) is 'Describes the refresh and the state of a stream table. (Sluice: pgtrickle in pgtrickle)';

-- Suspends a stream table, which keeps its rows: nothing refreshes or maintains it, and no writer fails because of it, until
-- resume_stream_table().
-- One in immediate mode is recomputed then. Locks the sources of its maintenance group against writers for a moment.
create function pgtrickle.suspend_stream_table(p_name text, p_reason text default null)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_name text;
begin
    -- Upgrades keep refreshes out by it, and these have locked nothing yet.
    lock table pgtrickle_internal.pgt_tasks in row share mode;
    v_name := pgtrickle_internal.pgt_stream_table_name(p_name);
    if exists (select from pgtrickle_internal.pgt_stream_table_config c where c.stream_table = v_name and c.effective_mode = 'immediate')
        then
        perform pgtrickle_internal.pgt_bypass(v_name, true);
        update pgtrickle_internal.pgt_stream_table_state s
        set seen = null, own_xid = null, own_no = null, refit = true, awaits_source = false
        where s.stream_table = v_name;
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    set suspended_at = coalesce(s.suspended_at, clock_timestamp()),
        last_error = coalesce(p_reason, s.last_error, format('suspended by %s', session_user)),
        in_step = null
    where s.stream_table = v_name;
end;
$function$;
comment on function pgtrickle.suspend_stream_table(text, text) is
    'Suspends a stream table, which keeps its rows. (Sluice: pgtrickle in pgtrickle)';

-- Clears the errors of a stream table and ends its suspension, and that of those which read it and could not be filled before it.
create function pgtrickle.resume_stream_table(p_name text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_name text := pgtrickle_internal.pgt_stream_table_name(p_name);
begin
    update pgtrickle_internal.pgt_stream_table_state s
    set seen = case when s.last_error like 'fuse: %' then null else s.seen end, -- only a recompute gets past that
        suspended_at = null, awaits_source = false, consecutive_errors = 0, last_error = null, checked_at = '-infinity'
    where s.stream_table = v_name or s.last_error like 'stream table is not filled yet: %' and exists (
        select from pgtrickle_internal.pgt_stream_table_config c where c.stream_table = s.stream_table and v_name = any (c.upstream)
    );
end;
$function$;
comment on function pgtrickle.resume_stream_table(text) is
    'Clears the errors of a stream table and ends its suspension, and that of those which read it and could not be filled before it. '
    '(Sluice: pgtrickle in pgtrickle)';

-- Compares a stream table with its query; returns the numbers of rows missing and extra. Rows are compared as bags, as of the changes seen.
-- Changes that wait are applied in a subtransaction, which is rolled back: until then no other session refreshes this stream table. Without
-- change logs, rows that the next refresh would add or remove count. Both numbers are null if that recomputes in any case.
create function pgtrickle.check_stream_table(p_name text)
    returns table (missing bigint, extra bigint)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set timezone from current
    set datestyle from current
    set intervalstyle from current
    set extra_float_digits = 1
    set bytea_output = hex
as $function$
declare
    v_name     text := pgtrickle_internal.pgt_stream_table_name(p_name);
    c          pgtrickle_internal.pgt_stream_table_config;
    v_relation regclass;
    v_type     regtype;
    v_names    text[] := array[]::text[];
    v_values   text := '';
    v_compare  text;
    v_counts   bigint[];
    v_exact    boolean; -- no changes may wait
    v_hint     text;
    v_until    timestamptz := clock_timestamp() + interval '10 seconds';
begin
    perform pgtrickle_internal.pgt_check_origin();
    select t.* into c from pgtrickle_internal.pgt_stream_table_config t where t.stream_table = v_name;
    v_relation := to_regclass(format('%I.%I', c.pgt_schema, c.pgt_name));
    if not exists (
        select
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = v_name and to_regclass(c.rows_table) = any (s.filled)
    ) then
        return query select null::bigint, null::bigint; -- a refresh recomputes it
        return;
    end if;
    for v_type in
        select a.atttypid::regtype
        from pg_attribute a
        where a.attrelid = v_relation and a.attnum > 0 and not a.attisdropped
        order by a.attnum
    loop
        v_names := v_names || format('c%s', cardinality(v_names) + 1);
        v_values := v_values || ', ' || v_names[cardinality(v_names)];
        begin
            execute format('select null::%s group by 1', v_type);
        exception when undefined_function then -- the type has no equality
            v_values := v_values || '::text as ' || v_names[cardinality(v_names)];
        end;
    end loop;
    v_exact := c.apply_function is not null;
    -- Beside the query, every name has its schema: the query may need the path of the spec.
    foreach v_compare in array array[format($sql$
select case
    when exists (
        select
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table operator(pg_catalog.=) %1$L
          and (
              s.seen is null or s.refit or s.remake or s.logged or s.bypassed or s.unkeyed operator(pg_catalog.<>) '{}'
              or $2 and s.moment is null
          )
    ) then array[null, null]::bigint[]
    when $1 and $2 and exists (
        select
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table operator(pg_catalog.=) %1$L and s.moment operator(pg_catalog.<>) pg_catalog.now()
    ) then null -- what has passed since is applied first
    when not ($1 and exists (select from pgtrickle_internal.pgt_waiting(%1$L) w where w.waiting operator(pg_catalog.>) 0)) then (
        select array[
            coalesce(pg_catalog.sum(d.n) filter (where d.n operator(pg_catalog.>) 0), 0),
            coalesce(operator(pg_catalog.-) pg_catalog.sum(d.n) filter (where d.n operator(pg_catalog.<) 0), 0)
        ]::bigint[]
        from (
            select pg_catalog.sum(u.m) as n
            from (
                select 1 as m%2$s from (
%3$s
                ) q%4$s
                union all
                select -1%2$s from %5$s r%4$s
            ) u%6$s
            having pg_catalog.sum(u.m) operator(pg_catalog.<>) 0
        ) d
    )
end$sql$,
        v_name, v_values, coalesce(c.compared, c.resolved, c.query), ' (' || nullif(array_to_string(v_names, ', '), '') || ')',
            coalesce('(' || c.all_rows || ')', v_relation::text),
        ' group by ' || nullif(array_to_string(v_names, ', '), ''))]
    loop
        begin
            while v_relation is not null loop
                -- In READ COMMITTED its snapshot is later than the apply function's: it shows whether others committed changes since.
                perform set_config('search_path', case when c.resolved is null then
                    (select s.value from pgtrickle_internal.pgt_spec s where s.name = 'search_path') else 'pg_catalog, pg_temp' end, true);
                execute v_compare into v_counts using v_exact, c.moves;
                set local search_path = pg_catalog, pg_temp;
                exit when v_counts is not null;
                if clock_timestamp() > v_until then
                    raise exception using errcode = '55000',
                        message = format('stream table %s cannot be compared: its sources change too fast', v_name),
                        detail = 'For 10 seconds, changes were committed between applying others and the comparison.',
                        hint = 'Call it in a transaction that is REPEATABLE READ.';
                end if;
                perform from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = v_name and s.seen is not null for update;
                continue when not found; -- it is to be recomputed since
                begin
                    execute format('select from %I.%I(null, null)', 'pgtrickle_internal', c.apply_function);
                exception when sqlstate 'SLR01' or data_exception or integrity_constraint_violation or raise_exception then
                    get stacked diagnostics v_hint = pg_exception_hint;
                    exit when sqlstate <> 'SLR01' or v_hint = ''; -- a refresh would recompute it, too
                    v_exact := false; -- it lacks rows that changes are about, so it can only be compared without them
                end;
            end loop;
            raise exception using errcode = 'SLR03', message = 'roll back what was applied';
        exception when sqlstate 'SLR03' then
            null;
        end;
    end loop;
    return query select v_counts[1], v_counts[2];
end;
$function$;
comment on function pgtrickle.check_stream_table(text) is 'Compares a stream table with its query. (Sluice: pgtrickle in pgtrickle)';

-- Alerts that a stream table began to fail, works again, was suspended or resumed: each transition once.
create function pgtrickle_internal.pgt_stream_table_alert()
    returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_type text := case
        when old.suspended_at is null and new.suspended_at is not null
            then case when new.consecutive_errors > old.consecutive_errors then 'auto_suspended' else 'suspended' end
        when old.suspended_at is not null and new.suspended_at is null then 'resumed'
        when old.consecutive_errors = 0 then 'refresh_failed'
        when new.last_refresh_at is distinct from old.last_refresh_at then 'refresh_completed'
        else 'resumed' -- errors were forgotten, which is not yet success
    end;
begin
    perform pg_notify('pg_trickle_alert', jsonb_build_object(
        'type', v_type, 'stream_table', new.stream_table, 'errors', greatest(old.consecutive_errors, new.consecutive_errors),
        'error', left(coalesce(new.last_error, old.last_error), 1000))::text); -- less than 8000 bytes, whatever is escaped
    return null;
end;
$function$;

-- Calls the alert for transitions only; other refreshes pay for the condition.
create trigger pgt_stream_table_alert
    after update of consecutive_errors, suspended_at on pgtrickle_internal.pgt_stream_table_state
    for each row
    when ((old.consecutive_errors = 0) <> (new.consecutive_errors = 0) or (old.suspended_at is null) <> (new.suspended_at is null))
    execute function pgtrickle_internal.pgt_stream_table_alert();

-- Deletes from the change logs, once in ten seconds, the rows that every stream table has applied; and once a minute, refreshes that are
-- older than a week or have ten thousand newer ones of their stream table. Notes an error with its task.
-- A stream table that is to be recomputed needs no log. One that has been suspended for an hour gives up its frontier, and with it the
-- logs.
create function pgtrickle_internal.pgt_prune()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_task  text;
    v_log   regclass;
    v_floor xid8;
begin
    foreach v_task in array array( -- that may be due
        select t.task
        from pgtrickle_internal.pgt_tasks t
        where t.task in ('change logs: pruning', 'refresh history: retention') and t.last_run_at not between clock_timestamp() - interval
            '10 seconds' and clock_timestamp()
        order by t.task
    ) loop
        continue when not pgtrickle_internal.pgt_take_task(v_task, case v_task when 'change logs: pruning' then interval '10 seconds' else
            '1 minute' end);
        begin
            if v_task = 'change logs: pruning' then
                if exists (select from pgtrickle_internal.pgt_stream_table_config c where c.effective_mode = 'at_commit') then
                    for v_log in -- as pgt_fall_in_step locks them
                        select l from pgtrickle_internal.pgt_source_config c, to_regclass(c.change_log) l where l is not null order by
                            c.made, c.source
                    loop
                        execute format('lock table %s in row exclusive mode', v_log);
                    end loop;
                end if;
                -- One that is being filled holds its row, and needs all that its snapshot does not show: its logs stay. The others wait for
                -- this update, which makes a refresh fail whose snapshot is older than what is deleted now.
                with unseen as (
                    update pgtrickle_internal.pgt_stream_table_state s
                    set seen = null, own_xid = null, own_no = null
                    where s.stream_table = any (array(
                        select u.stream_table
                        from pgtrickle_internal.pgt_stream_table_state u
                        join pgtrickle_internal.pgt_stream_table_config c on c.stream_table = u.stream_table
                        where c.effective_mode <> 'immediate' and c.follows <> '{}' and
                            (u.seen is null or u.suspended_at < clock_timestamp() - interval '1 hour')
                        for update of u skip locked
                    ))
                    returning s.stream_table
                )
                -- A transaction below the oldest that a frontier does not show is below all of them.
                select case when bool_and(s.seen is not null or u.stream_table is not null) then (array_agg(o.xid order by o.xid))[1] end
                into v_floor
                from pgtrickle_internal.pgt_stream_table_state s
                join pgtrickle_internal.pgt_stream_table_config c using (stream_table)
                left join unseen u using (stream_table)
                cross join pg_snapshot_xmin(case when u.stream_table is null and s.in_step is null then s.seen else pg_current_snapshot()
                    end) o (xid)
                where c.effective_mode <> 'immediate' and c.follows <> '{}';
                for v_log in select l from pgtrickle_internal.pgt_source_config c, to_regclass(c.change_log) l where l is not null loop
                    execute format('delete from %s c where c.__xid < $1', v_log) using v_floor;
                end loop;
                delete from pgtrickle_internal.pgt_commits;
            else
                -- Materialized: the scan for the ten thousandth runs once for each stream table, not once for each row.
                with kept as materialized (
                    select c.stream_table,
                           greatest(now() - interval '7 days', (
                               select n.started_at
                               from pgtrickle.pgt_refresh_history n
                               where n.stream_table = c.stream_table
                               order by n.started_at desc
                               offset 10000
                               limit 1
                           )) as since
                    from pgtrickle_internal.pgt_stream_table_config c
                )
                delete from pgtrickle.pgt_refresh_history h
                where h.ctid = any (array(
                    select o.ctid
                    from kept k
                    join pgtrickle.pgt_refresh_history o on o.stream_table = k.stream_table and o.started_at <= k.since
                    for update of o skip locked
                ));
            end if;
        exception when query_canceled or others then
            if sqlstate = '57014' and pgtrickle_internal.pgt_time_was_up() is null then
                raise; -- a user cancelled it
            end if;
            update pgtrickle_internal.pgt_tasks t set last_error = left(sqlerrm, 1000) where t.task = v_task;
            raise warning using message = v_task || ': ' || left(sqlerrm, 1000);
        end;
    end loop;
end;
$function$;

-- Compares one stream table with its query, the one whose check has been due longest; returns whether any was due. A difference or an error
-- is noted with its task, and an alert reports a difference that the last check did not find.
-- Reads and writes pgt_tasks; reads the stream table and what its query reads; notifies pg_trickle_alert.
-- From check of stream tables in the spec.
create function pgtrickle_internal.pgt_check_due()
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_task    text;
    v_table   text;
    v_before  text;
    v_missing bigint;
    v_extra   bigint;
    v_problem text;
begin
    select t.task, c.stream_table, t.last_error
    into v_task, v_table, v_before
    from pgtrickle_internal.pgt_stream_table_config c
    join pgtrickle_internal.pgt_tasks t on t.task = 'stream table ' || c.stream_table || ': check'
    -- or the clock was set back
    where c.check_every is not null and t.last_run_at not between clock_timestamp() - c.check_every and clock_timestamp()
    order by t.last_run_at
    limit 1
    for update of t skip locked;
    if not found then
        return false;
    end if;
    begin
        select c.missing, c.extra into v_missing, v_extra from pgtrickle.check_stream_table(v_table) c;
        if v_missing + v_extra > 0 then
            v_problem := format('stream table %s differs from its query: missing rows: %s, extra rows: %s', v_table, v_missing, v_extra);
        end if;
    exception when query_canceled or others then
        if sqlstate = '57014' and pgtrickle_internal.pgt_time_was_up() is null then
            raise; -- somebody cancelled it
        end if;
        v_problem := format('%s: %s', v_task, left(sqlerrm, 1000));
    end;
    update pgtrickle_internal.pgt_tasks t
    set last_run_at = clock_timestamp(), runs = t.runs + 1, last_error = v_problem
    where t.task = v_task;
    if v_problem is not null then
        raise warning using message = v_problem;
    end if;
    if v_missing + v_extra > 0 and coalesce(v_before, '') not like 'stream table % differs from its query%' then
        perform pg_notify('pg_trickle_alert', jsonb_build_object(
            'type', 'stream_table_differs', 'stream_table', v_table, 'missing', v_missing, 'extra', v_extra)::text);
    end if;
    return true;
end;
$function$;

-- Creates triggers and stream tables, and fills those that can be filled. See attach().
create function pgtrickle_internal.pgt_attach_stream_tables(p_fill boolean)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_table   pgtrickle_internal.pgt_stream_table_config;
    v_members text[]; -- of a maintenance group
    v_pending regclass;
begin
    -- What a stream table reads has less upstream than itself.
    with places as (
        select c.stream_table, c.refreshed_with, row_number() over (order by cardinality(c.upstream), c.stream_table) as place
        from pgtrickle_internal.pgt_stream_table_config c
        where c.spec_path <> 'create_stream_table'
    )
    update pgtrickle_internal.pgt_stream_table_config c
    set refresh_order = p.place, refresh_group = f.place
    from places p
    join places f on f.stream_table = p.refreshed_with
    where c.stream_table = p.stream_table and (c.refresh_order, c.refresh_group) <> (p.place, f.place);
    update pgtrickle_internal.pgt_source_config c
    set readers = r.stream_tables
    from (
        select r.source, array_agg(r.stream_table order by t.refresh_order)
        from pgtrickle_internal.pgt_source_reader r
        join pgtrickle_internal.pgt_stream_table_config t using (stream_table)
        group by r.source
    ) r (source, stream_tables)
    where r.source = c.source and c.readers <> r.stream_tables;
    for v_members in
        select array_agg(c.stream_table) from pgtrickle_internal.pgt_stream_table_config c where c.pending_function is not null group by
            c.pending_function
    loop
        -- Triggers log, or keep them up to date.
        update pgtrickle_internal.pgt_stream_table_state s
        set logged = not p_fill
        where s.stream_table = any (v_members) and s.logged = p_fill
          and (p_fill or (
              select bool_and(f.seen is null) and not bool_and(f.bypassed)
              from pgtrickle_internal.pgt_stream_table_state f
              where f.stream_table = any (v_members)
          ));
        if found then
            update pgtrickle_internal.pgt_source_state s
            set shape = null
            from pgtrickle_internal.pgt_source_config c
            where c.source = s.source and c.pending is not null and c.readers && v_members;
        end if;
    end loop;
    if to_regclass('pgtrickle_internal.pgt_created_stream_tables') is not null then
        perform pgtrickle_internal.pgt_attach_created(c.stream_table) from
            (select * from pgtrickle_internal.pgt_created_stream_tables t order by t.no) c;
    end if;
    update pgtrickle_internal.pgt_stream_table_state s
    -- by a version that did not note it
    set filled = case when s.last_refresh_at is null then '{}' else array[to_regclass(c.rows_table)::oid] end
    from pgtrickle_internal.pgt_stream_table_config c
    where c.stream_table = s.stream_table and s.filled is null;
    for v_table in select c.* from pgtrickle_internal.pgt_stream_table_config c order by c.refresh_order loop
        continue when pgtrickle_internal.pgt_sources_fit(v_table.stream_table) is not null;
        if v_table.effective_mode = 'immediate' then
            perform pgtrickle_internal.pgt_fit_member(v_table);
        elsif exists (select from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = v_table.stream_table and s.remake) then
            perform pgtrickle_internal.pgt_fit_stream_table(v_table.stream_table, v_table.online); -- online, readers never see it empty
            continue when v_table.online;
            perform pgtrickle_internal.pgt_refresh(s.stream_table, true) -- one that was never filled is left to pgt_fill()
            from pgtrickle_internal.pgt_stream_table_state s
            where s.stream_table = v_table.stream_table and s.filled <> '{}';
            perform pgtrickle_internal.pgt_recompute_readers(v_table.stream_table);
        else
            perform pgtrickle_internal.pgt_attach_stream_table(v_table.stream_table);
        end if;
    end loop;
    update pgtrickle_internal.pgt_stream_table_state s
    set follow_error = null -- that of an older version, which followed changes
    from pgtrickle_internal.pgt_stream_table_config c
    where c.stream_table = s.stream_table and c.apply_function is null and s.follow_error is not null;
    perform pgtrickle_internal.pgt_try_stream_table(c)
    from (select t.* from pgtrickle_internal.pgt_stream_table_config t where t.apply_function is not null order by t.refresh_order) c;
    perform pgtrickle_internal.pgt_try_immediate();
    for v_table in select c.* from pgtrickle_internal.pgt_stream_table_config c where c.effective_mode = 'immediate' order by
        c.refresh_order loop
        perform
        from pgtrickle_internal.pgt_stream_table_state s
        where s.stream_table = v_table.stream_table and s.seen is null and not s.refit and not s.logged and not s.bypassed;
        if found then
            continue when not pgtrickle_internal.pgt_fill_member(v_table);
            perform pgtrickle_internal.pgt_recompute_readers(v_table.stream_table);
        end if;
        if v_table.flush_function is not null and
            (select s.filled <> '{}' from pgtrickle_internal.pgt_stream_table_state s where s.stream_table = v_table.stream_table) then
            execute format('select %I.%I(gen_random_uuid(), true)', 'pgtrickle_internal', v_table.flush_function);
        end if;
    end loop;
    for v_pending in
        -- it is missing where the source cannot be followed
        select p from pgtrickle_internal.pgt_source_config c cross join to_regclass(c.pending) p where p is not null
    loop
        execute format('delete from %s p where p.__xid = pg_current_xact_id()', v_pending);
    end loop;
end;
$function$;

-- Drops the triggers on the sources of stream tables.
create function pgtrickle_internal.pgt_detach_sources()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_found record;
begin
    for v_found in
        select t.tgname, (select n.nspname from pg_namespace n where n.oid = r.relnamespace) as schema, r.relname as name
        from pg_trigger t
        join pg_class r on r.oid = t.tgrelid
        join pg_proc p on p.oid = t.tgfoid
        where t.tgname in (select unnest(c.triggers || c.pending_triggers) from pgtrickle_internal.pgt_source_config c)
          -- a partition's go with the table's
          and p.pronamespace = 'pgtrickle_internal'::regnamespace and not t.tgisinternal and t.tgparentid = 0
    loop
        execute format('drop trigger %I on %I.%I', v_found.tgname, v_found.schema, v_found.name);
    end loop;
end;
$function$;

-- Drops stream tables and logs. See detach().
create function pgtrickle_internal.pgt_detach_stream_tables()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    delete from pgtrickle_internal.pgt_source_state;
    update pgtrickle_internal.pgt_stream_table_state s set seen = null, own_xid = null, own_no = null, logged = false;
    perform pgtrickle_internal.pgt_drop_own(r.name)
    from (select * from pgtrickle_internal.pgt_stream_table_config c order by c.refresh_order desc) c
    cross join unnest(array[format('%I.%I', c.pgt_schema, c.pgt_name), c.rows_table, c.old_rows_table] || c.state_tables) r (name);
    perform pgtrickle_internal.pgt_drop_own(l.name)
    from pgtrickle_internal.pgt_source_config c
    cross join unnest(array[c.change_log, c.pending]) l (name);
end;
$function$;

-- Recomputes stream tables after a restore. See after_restore().
create function pgtrickle_internal.pgt_restore_stream_tables()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_log regclass;
begin
    for v_log in select l from pgtrickle_internal.pgt_source_config c, to_regclass(c.change_log) l where l is not null loop
        execute format('truncate %s', v_log);
    end loop;
    -- As a tick does: one whose query fails holds up nothing else.
    update pgtrickle_internal.pgt_stream_table_state s set seen = null, own_xid = null, own_no = null, checked_at = '-infinity', filled =
        '{}';
    perform pgtrickle_internal.pgt_tick(c.stream_table)
    from (select c.* from pgtrickle_internal.pgt_stream_table_config c order by c.refresh_order) c;
    perform pgtrickle_internal.pgt_fall_in_step();
end;
$function$;

-- Fills, refreshes and prunes what is due of stream tables. See tick(): every name has its schema. p_checks: whether any is compared with
-- its query.
create procedure pgtrickle_internal.pgt_tick_stream_tables(p_commits boolean, inout p_checks boolean)
    language plpgsql
as $procedure$
declare
    v_all       pg_catalog.text[];
    v_groups    integer[]; -- of each, those that are refreshed from one snapshot
    v_immediate boolean;
    v_at_commit boolean;
    v_tables    pg_catalog.text[];
    v_table     pg_catalog.text;
    v_seen      pg_catalog.pg_snapshot;
begin
    select pg_catalog.array_agg(c.stream_table), pg_catalog.array_agg(c.refresh_group),
        pg_catalog.bool_or(c.effective_mode operator(pg_catalog.=) 'immediate'),
           pg_catalog.bool_or(c.effective_mode operator(pg_catalog.=) 'at_commit'), pg_catalog.bool_or(c.check_every is not null)
    into v_all, v_groups, v_immediate, v_at_commit, p_checks
    from (select t.* from pgtrickle_internal.pgt_stream_table_config t order by t.refresh_group, t.refresh_order) c;
    if v_immediate then
        if p_commits then
            call pgtrickle_internal.pgt_fill_immediate();
        else
            perform pgtrickle_internal.pgt_watch_sources();
            if exists (select from pgtrickle_internal.pgt_stream_table_state s where s.logged) then
                perform pgtrickle.attach(); -- in one transaction: writers wait until the fill commits
            end if;
        end if;
        call pgtrickle_internal.pgt_commit(p_commits);
    end if;
    for n in 1..coalesce(pg_catalog.cardinality(v_all), 0) loop
        continue when v_groups[n] operator(pg_catalog.=) v_groups[n operator(pg_catalog.-) 1];
        if (v_groups[n] operator(pg_catalog.=) v_groups[n operator(pg_catalog.+) 1]) is not true then
            perform pgtrickle_internal.pgt_tick(v_all[n]);
            call pgtrickle_internal.pgt_commit(p_commits);
            continue;
        end if;
        v_tables := array(
            select c.stream_table
            from pgtrickle_internal.pgt_stream_table_config c
            where c.refresh_group operator(pg_catalog.=) v_groups[n]
            order by c.refresh_order
        );
        if not p_commits then
            -- See refresh_stream_table. If a lock is not acquired, the next tick retries.
            for v_attempt in 1..5 loop
                exit when not pgtrickle_internal.pgt_any_due(v_tables);
                begin
                    foreach v_table in array v_tables loop
                        perform pgtrickle_internal.pgt_sources_fit(v_table, false);
                    end loop;
                    v_seen := pg_catalog.pg_current_snapshot();
                    foreach v_table in array v_tables loop
                        perform pgtrickle_internal.pgt_tick(v_table, true);
                    end loop;
                    exit when pg_catalog.current_setting('transaction_isolation') operator(pg_catalog.<>) 'read committed'
                        or pgtrickle_internal.pgt_agrees(v_tables[pg_catalog.cardinality(v_tables)], v_seen);
                    raise exception using errcode = 'SLR03', message = 'others committed meanwhile';
                exception when sqlstate 'SLR03' then
                    null;
                when serialization_failure or deadlock_detected or lock_not_available then
                    exit; -- another session refreshes them, or altered a source
                end;
            end loop;
        elsif pgtrickle_internal.pgt_any_due(v_tables) then
            begin
                foreach v_table in array v_tables loop
                    perform pgtrickle_internal.pgt_sources_fit(v_table, false);
                end loop;
            exception when lock_not_available then
                null; -- another session is altering a source, which is found below again
            end;
            commit;
            set transaction isolation level repeatable read;
            begin
                foreach v_table in array v_tables loop
                    perform pgtrickle_internal.pgt_tick(v_table, true);
                end loop;
            exception when serialization_failure or deadlock_detected or lock_not_available then
                null; -- another session refreshes them, or altered a source: the next tick
            end;
        end if;
        call pgtrickle_internal.pgt_commit(p_commits);
    end loop;
    if v_at_commit then
        if p_commits then
            commit;
            set transaction isolation level read committed;
        end if;
        perform pgtrickle_internal.pgt_fall_in_step();
        call pgtrickle_internal.pgt_commit(p_commits);
    end if;
    perform pgtrickle_internal.pgt_prune();
    call pgtrickle_internal.pgt_commit(p_commits);
    if v_immediate then
        perform pgtrickle_internal.pgt_tidy_marks();
        call pgtrickle_internal.pgt_commit(p_commits);
    end if;
end;
$procedure$;
