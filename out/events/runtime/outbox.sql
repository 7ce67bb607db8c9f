-- Module outbox of the runtime of Sluice 0.1.0, as extension pgtrickle has it: the same for everyone. Do not edit.

-- The outboxes that the extension can have, one row each, as in the spec; pgt_outbox_config shows those that are enabled.
create table pgtrickle_internal.pgt_outboxes (
    outbox_name           text not null primary key,
    kind                  text not null check (kind in ('event', 'stream_table')),
    stream_table          text, -- schema.name, of its kind
    pgt_name              text, -- its name alone
    pgt_id                uuid, -- the same for one name in every database
    immediate             boolean not null default false, -- of a stream table in immediate mode
    outbox_schema         name not null,
    outbox_table_name     name not null,
    delta_rows_table_name name,
    latest_view_name      name,
    ordering_key          name,
    retention             interval,
    inline_threshold_rows integer,
    on_full_refresh       text,
    idle_after            interval,
    idle_policy           text not null default 'alert' check (idle_policy in ('alert', 'archive', 'evict')),
    function_prefix       name,    -- begins the names of its own functions: _ids, _visible, and those that its kind has
    publication           name,
    asked                 boolean not null default true, -- for from the start, rather than enabled at run time
    key_lock              integer, -- first key of the advisory locks that mark keys of an ordered outbox
    default_table_name    name,    -- of one with segments: what lies beyond them
    archive_table_name    name,
    tick_notifies         boolean not null default false -- of new rows; refreshes notify of theirs
);

-- The enabled outboxes, one row each.
--
-- full_refresh_due: the next row is the whole stream table, as changes were not written. notified_id: rows up to there were notified.
-- seen_id, seen_at: the highest id that a tick knew to be drawn, and when. moved_xid: ids that were drawn in another cluster may be drawn
-- again by transactions up to there; null: none.
-- advanced_at: when a tick set the sequence from advanced_from to advanced_to, as it was behind; came_late: rows published meanwhile.
-- last_drained_at: when retention last deleted rows; last_drained_count: how many; null: a whole segment.
create table pgtrickle_internal.pgt_outbox_state (
    outbox_name        text        not null primary key,
    enabled_at         timestamptz not null default now(),
    retention_hours    integer,
    full_refresh_due   boolean     not null default true,
    notified_id        bigint      not null default 0,
    seen_id            bigint      not null default 0,
    seen_at            timestamptz not null default '-infinity',
    moved_xid          xid8,
    storage_critical   boolean     not null default false,
    advanced_at        timestamptz,
    advanced_from      bigint,
    advanced_to        bigint,
    came_late          bigint,
    last_drained_at    timestamptz,
    last_drained_count bigint
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000);

-- The enabled outboxes of the extension.
create view pgtrickle.pgt_outbox_config with (security_barrier) as
select o.outbox_name, o.kind, o.stream_table, o.pgt_name, o.pgt_id, o.immediate, o.outbox_schema, o.outbox_table_name,
       o.delta_rows_table_name, o.latest_view_name, o.ordering_key, s.enabled_at,
       coalesce(make_interval(hours => s.retention_hours), o.retention) as retention, -- null: setting outbox_retention_hours
       o.inline_threshold_rows, o.on_full_refresh, o.idle_after, o.idle_policy, s.advanced_at, s.advanced_from, s.advanced_to,
       s.came_late, s.seen_id, s.last_drained_at, s.last_drained_count
from pgtrickle_internal.pgt_outboxes o
join pgtrickle_internal.pgt_outbox_state s on s.outbox_name = o.outbox_name
where (not exists (select from pgtrickle_internal.pgt_spec s where s.name = 'own_readers') or (
    select has_column_privilege(to_regclass(format('%I.%I', r.outbox_schema, r.outbox_table_name)), 'created_at', 'select')
    from pgtrickle_internal.pgt_outboxes r
    where r.outbox_name = o.outbox_name
));
comment on view pgtrickle.pgt_outbox_config is 'The enabled outboxes of the extension. (Sluice: pgtrickle in pgtrickle)';

-- The consumer groups of the spec, one row each: attach() and enable_outbox create those that are missing.
create table pgtrickle_internal.pgt_outbox_groups (
    group_name        text not null primary key,
    outbox_name       text not null,
    auto_offset_reset text not null,
    max_attempts      integer
);

-- Numbers of consumer groups.
create sequence pgtrickle_internal.pgt_group_no as integer;

-- The consumer groups of the extension, one row each. No table refers to it by a foreign key: restores load tables in any order.
--
-- group_no: the group in the lease log. start_id: claim checks up to there need no acknowledgement.
create table pgtrickle.pgt_consumer_groups (
    group_name        text        not null primary key,
    group_id          uuid        not null unique default gen_random_uuid(),
    group_no          integer     not null unique default nextval('pgtrickle_internal.pgt_group_no'::regclass),
    outbox_name       text        not null,
    auto_offset_reset text        not null check (auto_offset_reset in ('latest', 'earliest')),
    max_attempts      integer     check (max_attempts > 0),
    start_id          bigint      not null,
    created_at        timestamptz not null default now(),
    paused_at         timestamptz,
    resumed_at        timestamptz,
    idle              boolean     not null default false, -- the alert was given
    held_since        timestamptz,                        -- of the transaction that the last alert named, as it held the group
    passes_over       boolean     not null default false, -- polls with event types may have left rows to others
    ordered           boolean                             -- null until attach() looks; if polls looked it up, it would take 2 % of them
);
comment on table pgtrickle.pgt_consumer_groups is 'The consumer groups of the extension, one row each. (Sluice: pgtrickle in pgtrickle)';

-- Leases of each consumer group, one row per granted batch; the newest row of a lane is the group's cursor there.
--
-- lane: 0, or the hash of the ordering key. cur: the highest id looked at. floor_no: no row below it is open. ids: the ids of the row.
-- state: leased (due if until has passed), gap (ids drawn but not visible), held (ordered rows that wait for a gap), done.
-- xids: transactions that a gap or held row waits for; null if unknown. vxids: virtual ids of publishers that had no transaction id yet.
-- until: end of the lease, or when to look for a gap's publishers. lost: its consumer may not commit it any more. lease_id: one per poll.
-- Polls append, so their cost does not depend on old transactions. A foreign key would lock the group's row in each poll.
create table pgtrickle_internal.pgt_lease_log (
    group_no     integer        not null,
    lane         smallint       not null default 0,
    no           bigint         not null,
    cur          bigint         not null,
    floor_no     bigint         not null,
    state        text           not null,
    ids          int8multirange not null,
    lease_id     bigint,
    xids         xid8[],
    vxids        text[],
    consumer_id  text,
    until        timestamptz not null default '-infinity',
    attempts     integer     not null default 0,
    leased_at    timestamptz not null default clock_timestamp(),
    committed_at timestamptz,
    committed_id bigint,
    lost         boolean     not null default false,
    primary key (group_no, lane, no)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- The consumers of each group. What they were granted and have committed is in the lease log.
create table pgtrickle_internal.pgt_consumers (
    group_no      integer     not null,
    consumer_id   text        not null,
    registered_at timestamptz not null default clock_timestamp(),
    heartbeat_at  timestamptz,
    healthy       boolean     not null default true, -- as the last alert said
    primary key (group_no, consumer_id)
) with (fillfactor = 50);

-- Claim checks that a group has read to the end: retention keeps the others.
create table pgtrickle.pgt_consumer_claim_check_acks (
    group_name  text        not null,
    outbox_name text        not null,
    outbox_id   bigint      not null,
    consumed_at timestamptz not null default clock_timestamp(),
    primary key (outbox_name, outbox_id, group_name)
);
comment on table pgtrickle.pgt_consumer_claim_check_acks is
    'Claim checks that a group has read to the end. (Sluice: pgtrickle in pgtrickle)';

-- Rows that polls with event types have passed over: for polls that ask for their type, or for any. A row for some of one type.
create table pgtrickle_internal.pgt_passed_rows (
    group_no   integer        not null,
    first_id   bigint         not null,
    event_type text           not null,
    ids        int8multirange not null,
    row_count  bigint         not null,
    attempts   integer        not null, -- how often they were granted
    primary key (group_no, first_id)
) with (fillfactor = 50);
create index pgt_passed_rows_type on pgtrickle_internal.pgt_passed_rows (group_no, event_type, first_id);

-- Dead letters of groups: rows that they rejected or did not commit in max_attempts attempts. They stay in the outbox; replay_dead_letters
-- gives them back.
create table pgtrickle.pgt_consumer_dead_letters (
    group_name   text        not null,
    id           bigint      not null,
    outbox_name  text        not null,
    consumer_id  text,
    created_at   timestamptz not null,
    event_type   text,
    aggregate_id text,
    headers      jsonb,
    payload      jsonb       not null,
    attempts     integer     not null,
    error        text,
    dead_at      timestamptz not null default clock_timestamp(),
    primary key (group_name, id)
);
comment on table pgtrickle.pgt_consumer_dead_letters is 'Dead letters of groups. (Sluice: pgtrickle in pgtrickle)';

-- The last id drawn for an outbox, 0 if none; its last visible id; and when the first row above an id was published. Null if there is none.
-- Reads the outbox and its sequence.
create function pgtrickle_internal.pgt_outbox_ids(
    p_outbox text, p_above bigint default 0, out drawn_id bigint, out last_id bigint, out next_at timestamptz
)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_own name := (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_outbox);
begin
    drawn_id := 0;
    if v_own is not null then
        execute format('select * from %I.%I($1)', 'pgtrickle_internal', v_own || '_ids')
        into drawn_id, last_id, next_at
        using p_above;
    end if;
end;
$function$;

-- The ids among p_ids that an outbox shows, the first p_limit; null if none. Reads the outbox.
create function pgtrickle_internal.pgt_outbox_visible(p_outbox text, p_ids int8multirange, p_limit integer default null)
    returns int8multirange
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_own name := (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_outbox);
    v_ids int8multirange;
begin
    if v_own is not null then
        execute format('select * from %I.%I($1, $2)', 'pgtrickle_internal', v_own || '_visible')
        into v_ids
        using p_ids, p_limit;
    end if;
    return v_ids;
end;
$function$;

-- The transactions that may still publish to an outbox: those that hold the lock of an insert on it, taken before an id is drawn.
-- Where its sequence caches ids, 'cache' stands for all later ones of sessions that have such ids. Reads pg_locks, pg_sequence. xid is null
-- until there is one; marks: those of the keys published to an ordered outbox.
create function pgtrickle_internal.pgt_publishers(p_outbox text)
    returns table (vxid text, xid xid8, pid integer, marks int4multirange)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_next   bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    v_tables oid[];
    v_ids    regclass;
    v_keys   oid;
begin
    select array(select p.relid::oid from pg_partition_tree(t.id) p) || t.id::oid, pg_get_serial_sequence(t.id::text, 'id')::regclass,
        o.key_lock::oid
    into v_tables, v_ids, v_keys
    from pgtrickle_internal.pgt_outboxes o
    cross join lateral (select to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name)) as id) t
    where o.outbox_name = p_outbox;
    if exists (select from pg_sequence q where q.seqcache > 1 and q.seqrelid = v_ids) then
        vxid := 'cache';
        return next;
    end if;
    return query
    with locks as materialized (
        select l.virtualtransaction, l.locktype, l.mode, l.relation, l.database, l.transactionid, l.pid, l.classid, l.objid, l.objsubid
        from pg_locks l
        where l.granted
    )
    select w.virtualtransaction, x.no::text::xid8, w.pid, k.marks
    from (
        select distinct l.virtualtransaction, l.pid
        from locks l
        where l.locktype = 'relation'
          and l.relation = any (v_tables)
          and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and l.pid is distinct from pg_backend_pid()
    ) w
    -- A lock has 32 bits of a number: the number nearest to the next one is meant. The lowest is the transaction's, others are of its
    -- savepoints.
    cross join lateral (
        select min(v_next + (l.transactionid::text::bigint - v_next % 4294967296 + 6442450944) % 4294967296 - 2147483648) as no
        from locks l
        where l.virtualtransaction = w.virtualtransaction and l.locktype = 'transactionid' and l.mode = 'ExclusiveLock'
    ) x
    cross join lateral (
        select range_agg(int4range(l.objid::bigint::integer, l.objid::bigint::integer, '[]')) as marks
        from locks l
        where l.virtualtransaction = w.virtualtransaction and l.locktype = 'advisory' and l.classid = v_keys and l.objsubid = 2
    ) k;
end;
$function$;

-- The last of the next rows of an ordered outbox after an id, p_limit at most, and their number. Reads the outbox.
-- Fails for others: a poll that began before an upgrade took the order away must not move the group.
create function pgtrickle_internal.pgt_outbox_next(p_outbox text, p_after bigint, p_limit integer, out last_id bigint, out row_count bigint)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_own name;
begin
    select o.function_prefix into v_own
    from pgtrickle_internal.pgt_outboxes o
    where o.outbox_name = p_outbox and o.ordering_key is not null;
    if not found then
        raise exception using
            errcode = '40001',
            message = format('outbox %s was altered meanwhile', p_outbox),
            detail = 'An upgrade renamed it or took its order away.',
            hint = 'Poll again.';
    end if;
    execute format('select * from %I.%I($1, $2)', 'pgtrickle_internal', v_own || '_next')
    into last_id, row_count
    using p_after, p_limit;
end;
$function$;

-- The visible ids of an ordered outbox after one and up to another, and of gaps and held rows that may have changed, with key hashes.
-- Reads the outbox, pgt_lease_log.
create function pgtrickle_internal.pgt_lanes_seen(
    p_group pgtrickle.pgt_consumer_groups, p_floor_no bigint, p_after bigint, p_upto bigint, out ids bigint[],
    out hashes bigint[], out gaps bigint[], out held bigint[], out snapshot pg_snapshot
)
    language plpgsql
    stable -- so all is of the caller's snapshot: a row that is seen is seen with all that came before it under the same lock
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_own name := (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_group.outbox_name);
    v_ids int8multirange;
begin
    snapshot := pg_current_snapshot();
    select array_agg(distinct l.no) filter (where l.state = 'gap'), array_agg(distinct l.no) filter (where l.state = 'held'), range_agg(r)
    into gaps, held, v_ids
    from pgtrickle_internal.pgt_lease_log l
    cross join lateral unnest(l.ids) r
    where l.group_no = p_group.group_no and l.lane = 0 and l.no >= p_floor_no and l.state in ('gap', 'held')
      and (l.xids is null or exists (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))));
    v_ids := int8multirange(int8range(p_after, p_upto, '(]')) + coalesce(v_ids, '{}');
    execute format('select * from %I.%I($1)', 'pgtrickle_internal', v_own || '_hashes')
    into ids, hashes
    using v_ids;
end;
$function$;

-- The first id of a lane between two and the number of rows, estimated beyond a thousand, without p_apart. Reads the outbox.
create function pgtrickle_internal.pgt_lane_waiting(
    p_outbox text, p_lane smallint, p_after bigint, p_upto bigint, p_apart int8multirange[], out next_id bigint, out waiting bigint
)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_own name := (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_outbox and o.ordering_key is not
        null);
    v_ids int8multirange;
begin
    if v_own is not null then -- the planner may call it before a condition that the outbox is ordered
        execute format('select * from %I.%I($1, $2, $3, 1000, $4)', 'pgtrickle_internal', v_own || '_lane')
        into v_ids
        using p_lane, p_after, p_upto, p_apart;
    end if;
    next_id := lower(v_ids);
    waiting := pgtrickle_internal.pgt_count_ids(v_ids);
    if waiting = 1000 then
        waiting := waiting * (p_upto - next_id + 1) / (upper(v_ids) - next_id);
    end if;
end;
$function$;

-- The enabled outbox of this name, table name, or stream table name with or without schema.
-- Reads pgt_outbox_config.
create function pgtrickle_internal.pgt_outbox_name(p_outbox text)
    returns text
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_names text[] := array(
        select c.outbox_name
        from pgtrickle.pgt_outbox_config c
        where p_outbox in (c.outbox_name, c.outbox_table_name, c.stream_table, c.pgt_name)
        order by (c.outbox_name = p_outbox) desc, c.outbox_name
    );
begin
    if cardinality(v_names) = 0 then
        raise exception using errcode = '42704', message = 'outbox not enabled for stream table: ' || coalesce(p_outbox, '<null>'),
            detail = 'The extension has no enabled outbox of this name.',
            hint = coalesce('Its outboxes: ' || (select string_agg(c.outbox_name, ', ' order by c.outbox_name) from
                pgtrickle.pgt_outbox_config c) ||
                '.', 'pgtrickle.enable_outbox gives a stream table one.');
    elsif cardinality(v_names) > 1 and v_names[1] <> p_outbox then
        raise exception using errcode = '22023', message = 'p_outbox: more than one outbox is called ' || p_outbox,
            detail = 'They are ' || array_to_string(v_names, ', ') || '.', hint = 'Write the name with its schema.';
    end if;
    return v_names[1];
end;
$function$;

-- The newest row of each lane of a group's lease log. Reads pgt_lease_log. PostgreSQL inlines it, so it has no SET clause and every name
-- has its schema.
create function pgtrickle_internal.pgt_lease_heads(p_group pgtrickle.pgt_consumer_groups)
    returns table (lane smallint, cur bigint, floor_no bigint, no bigint)
    language sql
    stable
as $function$
    select h.lane, h.cur, h.floor_no, h.no
    from pg_catalog.generate_series(0, 16) x (lane)
    cross join lateral (
        select l.*
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no operator(pg_catalog.=) p_group.group_no and l.lane operator(pg_catalog.=) x.lane
        order by l.no desc
        limit 1
    ) h
    where x.lane operator(pg_catalog.=) 0 or p_group.ordered
$function$;

-- The state of a group: what it has committed without a gap, what it has not committed, and how much of that is leased.
-- Reads pgt_lease_log, the outbox. Counts a thousand rows of gaps and of the backlog; beyond, ids, also of rollbacks.
create function pgtrickle_internal.pgt_group_state(
    p_group pgtrickle.pgt_consumer_groups, out committed_offset bigint, out max_id bigint, out lag_rows bigint, out leased_rows bigint
)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set jit = off
as $function$
declare
    v_cur   bigint;
    v_floor bigint;
    v_ids   int8multirange;
    v_seen  int8multirange;
    v_apart int8multirange[];
begin
    max_id := coalesce((pgtrickle_internal.pgt_outbox_ids(p_group.outbox_name)).last_id, 0);
    select min(h.cur) filter (where h.lane = 0), min(h.floor_no) filter (where h.lane = 0), min(lower(l.ids)) - 1,
           coalesce(sum(r.ids), 0)::bigint, coalesce(sum(r.ids) filter (where l.state = 'leased' and l.until > clock_timestamp()),
               0)::bigint
    into v_cur, v_floor, committed_offset, lag_rows, leased_rows
    from pgtrickle_internal.pgt_lease_heads(p_group) h
    left join pgtrickle_internal.pgt_lease_log l on l.group_no = p_group.group_no and l.lane = h.lane and l.no >= h.floor_no and l.state <>
        'done'
    left join lateral (select sum(upper(x) - lower(x))::bigint as ids from unnest(l.ids) x where l.state <> 'gap') r on true;
    -- Where a transaction of a gap has ended since it was looked at, its rows may be there.
    select int8multirange(int8range(v_cur, greatest(max_id, v_cur), '(]')) + coalesce(range_agg(r), '{}') into v_ids
    from pgtrickle_internal.pgt_lease_log l
    cross join lateral unnest(l.ids) r
    where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_floor and l.state = 'gap' and
        (l.xids is null or exists (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))));
    v_seen := pgtrickle_internal.pgt_outbox_visible(p_group.outbox_name, v_ids, 1000);
    lag_rows := lag_rows + pgtrickle_internal.pgt_count_ids(v_seen);
    if pgtrickle_internal.pgt_count_ids(v_seen) = 1000 then
        lag_rows := lag_rows + pgtrickle_internal.pgt_count_ids(v_ids * int8multirange(int8range(upper(v_seen), null)));
    end if;
    if p_group.ordered then
        -- Lanes stand where they stand; from a thousand rows on each is estimated.
        select array_agg(l.ids) into v_apart
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_floor and l.state in ('gap', 'held');
        select least(committed_offset, min(n.next_id) - 1), lag_rows + coalesce(sum(n.waiting), 0)::bigint
        into committed_offset, lag_rows
        from pgtrickle_internal.pgt_lease_heads(p_group) h
        cross join lateral pgtrickle_internal.pgt_lane_waiting(p_group.outbox_name, h.lane, h.cur, v_cur, v_apart) n
        where h.lane > 0;
    end if;
    select least(committed_offset, min(p.first_id) - 1), lag_rows + coalesce(sum(p.row_count), 0)::bigint into committed_offset, lag_rows
    from pgtrickle_internal.pgt_passed_rows p
    where p.group_no = p_group.group_no;
    committed_offset := least(v_cur, committed_offset);
end;
$function$;

-- The id up to which every group has committed an outbox, which retention may delete; without groups, all.
-- Reads pgt_consumer_groups, pgt_lease_log, the outbox. p_idle: idle groups count although their rows are archived.
create function pgtrickle_internal.pgt_safe_point(p_outbox text, p_idle boolean)
    returns bigint
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select coalesce(min(s.committed_offset), 9223372036854775807)
    from pgtrickle.pgt_consumer_groups g
    join pgtrickle_internal.pgt_outboxes o on o.outbox_name = g.outbox_name
    cross join lateral pgtrickle_internal.pgt_group_state(g) s
    where g.outbox_name = p_outbox and (p_idle or not (g.idle and o.idle_policy = 'archive'))
$function$;

-- Whether every group is past some ids of an outbox, first to before next, and none of them is a dead letter; or p_force.
-- Reads pgt_lease_log, pgt_consumer_dead_letters.
create function pgtrickle_internal.pgt_outbox_done(p_outbox text, p_first_id bigint, p_next_id bigint, p_force boolean)
    returns boolean
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    -- Of one snapshot: a row that is replayed or rejected meanwhile is among one of them.
    select p_force or pgtrickle_internal.pgt_safe_point(p_outbox, false) >= p_next_id - 1 and not exists (
        select
        from pgtrickle.pgt_consumer_dead_letters d
        join pgtrickle.pgt_consumer_groups g on g.group_name = d.group_name
        where g.outbox_name = p_outbox and d.id >= p_first_id and d.id < p_next_id
    )
$function$;

-- Gives a stream table an outbox with the spec's groups of it. It gets the rows that are there, and then the changes of each refresh.
-- Writes pgt_outbox_state, pgt_consumer_groups; makes the outbox's tables and notifies pgtrickle_outbox_new.
-- From stream_tables in the spec.
--
-- p_retention_hours: how long rows are kept that all groups have consumed, 0 forever; null: as the spec or the settings have it.
create function pgtrickle.enable_outbox(p_name text, p_retention_hours integer default null)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_table     text;
    v_outbox    record;
    v_filled    boolean;
    v_published bigint;
    v_refresh   uuid; -- that the rows are of
begin
    if 'stream' <> all (pgtrickle_internal.pgt_modules()) then
        raise exception using errcode = '42704', message = 'stream table not found: ' || coalesce(p_name, '<null>'),
            detail = 'The extension has no stream tables.', hint = 'Add one to stream_tables in the spec, and upgrade.';
    end if;
    v_table := pgtrickle_internal.pgt_stream_table_name(p_name);
    if p_retention_hours not between 0 and 10000000 then
        raise exception using errcode = '22023', message = 'p_retention_hours must be between 0 and 10000000',
            detail = format('It is %s, for stream table %s.', p_retention_hours, v_table),
            hint = '0 keeps rows forever; leave it out for setting outbox_retention_hours.';
    end if;
    perform pgtrickle_internal.pgt_check_origin();
    select o.outbox_name, o.outbox_table_name, o.immediate, o.function_prefix into v_outbox from pgtrickle_internal.pgt_outboxes o where
        o.stream_table = v_table;
    if not found then
        if to_regclass('pgtrickle_internal.pgt_created_stream_tables') is not null then
            perform from pgtrickle_internal.pgt_created_stream_tables c where c.stream_table = v_table;
            if found then
                raise exception using errcode = '22023', message = 'outbox requires a stream table of the spec: ' || p_name,
                    detail = format('create_stream_table made %s, and no functions publish its changes.', v_table),
                    hint = '"sluice spec pull" writes it as a part of the spec: put it there with outbox: true, and upgrade.';
            end if;
        end if;
        if exists (select from pgtrickle_internal.pgt_stream_table_config c where c.stream_table = v_table and c.all_rows is not null) then
            raise exception using errcode = '22023', message = 'outbox requires a stream table without LIMIT: ' || p_name,
                detail = format('All rows of %s are stored, and their changes are not those of the first ones.', v_table),
                hint = 'Give it outbox: true in the spec: the first rows are then stored, and found again on each refresh.';
        end if;
        if exists (select from pgtrickle_internal.pgt_stream_table_config c where c.stream_table = v_table and c.refresh_mode <>
            'immediate') then
            raise exception using errcode = '22023', message = 'outbox requires outbox: true in the spec: ' || p_name,
                detail = format('No functions publish the changes of %s.', v_table),
                hint = 'Or name outboxes under extension: imperative, and any stream table can be given one.';
        end if;
        raise exception using errcode = '22023', message = 'stream table in immediate mode cannot have an outbox: ' || p_name,
            detail = format('Each statement that changes %s would write an outbox row.', v_table),
            hint = 'Give it another refresh_mode in the spec, or outbox: {immediate: true}.';
    end if;
    -- Not while it is refreshed; a refresh whose snapshot is older fails, as it would not see the outbox.
    update pgtrickle_internal.pgt_stream_table_state s
    set checked_at = s.checked_at
    where s.stream_table = v_table
    returning s.seen is not null into v_filled;
    insert into pgtrickle_internal.pgt_outbox_state (outbox_name, retention_hours)
    values (v_outbox.outbox_name, p_retention_hours)
    on conflict (outbox_name) do nothing;
    if not found then
        raise exception using errcode = '42710', message = 'outbox already enabled for stream table: ' || p_name,
            detail = format('Its table is %I.%I.', 'pgtrickle', v_outbox.outbox_table_name),
            hint = 'pgtrickle.disable_outbox drops it, with what nobody has consumed.';
    end if;
    execute format('select %I.%I()', 'pgtrickle_internal', v_outbox.function_prefix || '_make');
    perform pgtrickle.create_consumer_group(g.group_name, g.outbox_name, g.auto_offset_reset, g.max_attempts)
    from (select s.* from pgtrickle_internal.pgt_outbox_groups s where s.outbox_name = v_outbox.outbox_name order by s.group_name) g;
    if v_outbox.immediate then
        perform pgtrickle_internal.pgt_attach_stream_table(v_table); -- for the triggers on its rows
    end if;
    if v_filled and (select s.value from pgtrickle_internal.pgt_setting('outbox_enabled') s) = 'on'
        -- else tick() publishes it: this snapshot may lack what others wrote meanwhile
        and (not v_outbox.immediate or current_setting('transaction_isolation') = 'read committed')
    then
        v_refresh := coalesce((
            select h.refresh_id
            from pgtrickle.pgt_refresh_history h
            where h.stream_table = v_table and h.error is null
            order by h.started_at desc
            limit 1
        ), gen_random_uuid());
        execute format('select %I.%I($1)', 'pgtrickle_internal', v_outbox.function_prefix || '_tell') into v_published using v_refresh;
    end if;
    if v_published is not null then
        perform pg_notify('pgtrickle_outbox_new', v_outbox.outbox_table_name);
    end if;
end;
$function$;
comment on function pgtrickle.enable_outbox(text, int4) is
    'Gives a stream table an outbox with the spec''s groups of it. (Sluice: pgtrickle in pgtrickle)';

-- Takes the outbox from a stream table: drops its tables, with what nobody has consumed, and its consumer groups.
-- Writes pgt_outbox_state, pgt_consumer_groups; drops the outbox's tables.
-- From stream_tables in the spec.
create function pgtrickle.disable_outbox(p_name text, p_if_exists boolean default false)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_table  text;
    v_outbox text;
    v_group  text;
begin
    if 'stream' <> all (pgtrickle_internal.pgt_modules()) then
        raise exception using errcode = '42704', message = 'stream table not found: ' || coalesce(p_name, '<null>'),
            detail = 'The extension has no stream tables.', hint = 'Add one to stream_tables in the spec, and upgrade.';
    end if;
    v_table := pgtrickle_internal.pgt_stream_table_name(p_name);
    v_outbox := (select o.outbox_name from pgtrickle_internal.pgt_outboxes o where o.stream_table = v_table);
    -- Not while it is refreshed; a refresh whose snapshot is older fails, as it would still see the outbox.
    update pgtrickle_internal.pgt_stream_table_state s set checked_at = s.checked_at where s.stream_table = v_table;
    delete from pgtrickle_internal.pgt_outbox_state s where s.outbox_name = v_outbox;
    if not found then
        if p_if_exists then
            raise notice 'stream table % has no outbox, skipping', p_name;
            return;
        end if;
        raise exception using errcode = '42704', message = 'outbox not enabled for stream table: ' || p_name,
            detail = format('Stream table %s has no outbox.', v_table), hint = 'p_if_exists => true takes that for done.';
    end if;
    for v_group in select g.group_name from pgtrickle.pgt_consumer_groups g where g.outbox_name = v_outbox order by g.group_name loop
        raise notice 'consumer group % goes with the outbox', v_group;
        perform pgtrickle.drop_consumer_group(v_group);
    end loop;
    execute format('select %I.%I()', 'pgtrickle_internal',
        (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = v_outbox) || '_unmake');
end;
$function$;
comment on function pgtrickle.disable_outbox(text, bool) is 'Takes the outbox from a stream table. (Sluice: pgtrickle in pgtrickle)';

-- Whether a group has not acknowledged a claim check yet. Reads pgt_consumer_groups, pgt_consumer_claim_check_acks.
create function pgtrickle_internal.pgt_awaits_ack(p_outbox text, p_id bigint)
    returns boolean
    language sql
    stable
as $function$
    select exists (
        select
        from pgtrickle.pgt_consumer_groups g
        where g.outbox_name operator(pg_catalog.=) p_outbox and g.start_id operator(pg_catalog.<) p_id
          and not exists (
              select
              from pgtrickle.pgt_consumer_claim_check_acks a
              where a.outbox_name operator(pg_catalog.=) p_outbox and a.outbox_id operator(pg_catalog.=) p_id
                and a.group_name operator(pg_catalog.=) g.group_name
          )
    )
$function$;

-- Records that a group has read the rows of a claim check. Idempotent.
-- Reads the outbox; writes pgt_consumer_claim_check_acks.
create function pgtrickle.outbox_rows_consumed(p_stream_table text, p_outbox_id bigint, p_group text default null)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_outbox text := pgtrickle_internal.pgt_outbox_name(p_stream_table);
    v_table  regclass;
    v_check  boolean; -- null if retention has deleted it: then nothing has to be noted
    v_groups text[] := array(select g.group_name from pgtrickle.pgt_consumer_groups g where g.outbox_name = v_outbox);
begin
    if p_group is not null and (pgtrickle_internal.pgt_group(p_group)).outbox_name <> v_outbox then
        raise exception using errcode = '22023', message = 'p_group does not consume this outbox: ' || p_group,
            detail = 'Outbox ' || v_outbox || '.', hint = 'Its groups: ' || array_to_string(v_groups, ', ') || '.';
    elsif p_group is null and cardinality(v_groups) <> 1 then
        raise exception using errcode = '22023', message = 'p_group must not be null',
            detail = format('Outbox %s has %s groups.', v_outbox, cardinality(v_groups)), hint = 'Say whose acknowledgement it is.';
    elsif p_outbox_id is null then
        raise exception using errcode = '22023', message = 'p_outbox_id must not be null',
            detail = 'Outbox ' || v_outbox || '.', hint = 'Give the id of the claim check.';
    end if;
    select to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name)) into v_table
    from pgtrickle_internal.pgt_outboxes o
    where o.outbox_name = v_outbox and o.kind = 'stream_table';
    v_check := false;
    if v_table is not null then
        execute format('select e.is_claim_check from %s e where e.id = $1', v_table) into v_check using p_outbox_id;
    end if;
    if not coalesce(v_check, p_outbox_id between 1 and (pgtrickle_internal.pgt_outbox_ids(v_outbox)).drawn_id) then
        raise exception using errcode = '22023', message = 'p_outbox_id is no claim check: ' || p_outbox_id,
            detail = 'Outbox ' || v_outbox || '.', hint = 'Give the id of a row whose is_claim_check is true.';
    end if;
    insert into pgtrickle.pgt_consumer_claim_check_acks (group_name, outbox_name, outbox_id)
    select coalesce(p_group, v_groups[1]), v_outbox, p_outbox_id
    where v_check
    on conflict do nothing;
end;
$function$;
comment on function pgtrickle.outbox_rows_consumed(text, int8, text) is
    'Records that a group has read the rows of a claim check. (Sluice: pgtrickle in pgtrickle)';

-- Deletes one batch of an outbox: rows past their retention that every group has committed. Returns how many.
-- Reads pgt_outbox_config, pgt_lease_log, pgt_consumer_dead_letters; deletes from the outbox, pgt_consumer_claim_check_acks; notes it in
-- pgt_outbox_state.
-- p_continues: a batch before it was of the same pass.
-- Keeps dead letters and unacknowledged claim checks, unless setting outbox_force_retention is on.
create function pgtrickle_internal.pgt_outbox_drain(p_outbox text, p_batch_size integer, p_continues boolean default false)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_force  boolean := (select s.value from pgtrickle_internal.pgt_setting('outbox_force_retention') s) = 'on';
    v_outbox record;
    v_table  regclass;
    v_more   boolean;
    v_keep   interval;
    v_before timestamptz;
    v_upto   bigint;
    v_dead   int8multirange;
    v_ids    bigint[];
    v_count  bigint;
begin
    select to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name)),
           coalesce(o.retention, make_interval(hours =>
               (select s.value from pgtrickle_internal.pgt_setting('outbox_retention_hours') s)::integer))
    into v_table, v_keep
    from pgtrickle.pgt_outbox_config o
    where o.outbox_name = p_outbox;
    v_before := now() - v_keep;
    select o.outbox_schema, o.default_table_name, o.archive_table_name, o.function_prefix, o.idle_policy into v_outbox
    from pgtrickle_internal.pgt_outboxes o
    where o.outbox_name = p_outbox;
    if v_outbox.default_table_name is not null then
        execute format('select %I.%I()', 'pgtrickle_internal', v_outbox.function_prefix || '_segment');
        v_table := to_regclass(format('%I.%I', v_outbox.outbox_schema, v_outbox.default_table_name));
    end if;
    if v_table is null or v_keep <= interval '0' then -- not enabled, or without retention
        return 0::bigint;
    end if;
    if v_outbox.default_table_name is not null then
        execute format('select %I.%I($1, $2)', 'pgtrickle_internal', v_outbox.function_prefix || '_retire') into v_more using v_before,
            v_force;
        if v_more then
            update pgtrickle_internal.pgt_outbox_state s set last_drained_at = clock_timestamp(), last_drained_count = null where
                s.outbox_name = p_outbox;
            return p_batch_size::bigint; -- there may be more
        end if;
    end if;
    -- In one snapshot: a row that is rejected or replayed meanwhile is a dead letter or not committed.
    select coalesce(min(s.committed_offset), 9223372036854775807), coalesce((
               select range_agg(int8range(d.id, d.id, '[]'))
               from pgtrickle.pgt_consumer_dead_letters d
               where d.outbox_name = p_outbox and not v_force
           ), '{}')
    into v_upto, v_dead
    from pgtrickle.pgt_consumer_groups g
    cross join lateral pgtrickle_internal.pgt_group_state(g) s
    where g.outbox_name = p_outbox and not v_force
      and not (g.idle and v_outbox.idle_policy = 'archive');
    -- Ids come in the order of time, but for transactions that took long: so the first rows are those that are old, or none is.
    execute format($$
        select array(
            select w.id
            from (select false as is_claim_check) absent -- the column that outboxes of events lack
            cross join lateral (
                select id, created_at
                from %1$s
                where id <= $1 and not id <@ $2 and not (is_claim_check and %2$I.pgt_awaits_ack($5, id))
                order by id
                limit $3 + 1000::bigint
            ) w
            where w.created_at < $4
            order by w.id
            limit $3
        )$$, v_table, 'pgtrickle_internal')
    into v_ids
    using v_upto, v_dead, p_batch_size, v_before, case when not v_force then p_outbox end;
    if v_outbox.archive_table_name is not null then
        execute format($$
            insert into %I.%I (id, created_at, event_type, aggregate_id, payload, headers)
            select e.id, e.created_at, e.event_type, e.aggregate_id, e.payload, e.headers
            from %s e
            where e.id = any ($1) and e.id > $2$$, v_outbox.outbox_schema, v_outbox.archive_table_name, v_table)
        using v_ids, pgtrickle_internal.pgt_safe_point(p_outbox, true);
    end if;
    execute format('delete from %s e where e.id = any ($1)', v_table) using v_ids;
    get diagnostics v_count = row_count;
    update pgtrickle_internal.pgt_outbox_state s
    set last_drained_at = clock_timestamp(), last_drained_count = v_count + case when p_continues then s.last_drained_count else 0 end
    where s.outbox_name = p_outbox and v_count > 0;
    delete from pgtrickle.pgt_consumer_claim_check_acks a where a.outbox_name = p_outbox and a.outbox_id = any (v_ids);
    return v_count;
end;
$function$;

-- Creates the publication of an outbox, or adds the outbox's table to one that a restore left empty.
-- Reads pg_publication, pgt_version_history. Fails if another owner has a publication of this name.
create function pgtrickle_internal.pgt_publication(p_name name, p_table regclass, p_segmented boolean)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set client_min_messages = error
as $function$
declare
    v_found record;
begin
    select p.pubowner::regrole as owner,
           exists (select from pg_publication_rel r where r.prpubid = p.oid and r.prrelid = p_table) as has_table,
           not p.puballtables and not exists (select from pg_publication_rel r where r.prpubid = p.oid) and (
               p.pubowner = (select x.relowner from pg_class x where x.oid = p_table) or exists
                   (select from pgtrickle_internal.pgt_version_history h where h.row_xmin is distinct from h.xmin::text)
           ) as is_left
    into v_found
    from pg_publication p
    where p.pubname = p_name;
    if v_found.is_left then
        if pg_has_role(v_found.owner, 'usage') then
            execute format('alter publication %I add table %s', p_name, p_table);
        end if;
    elsif v_found.has_table is not true and has_database_privilege(current_database(), 'create') then
        execute format('create publication %I for table %s with (publish = ''insert'', publish_via_partition_root = %L)',
            p_name, p_table, case when p_segmented then 'on' else 'off' end);
    end if;
end;
$function$;

-- The state of one outbox, or of all.
-- Reads the outboxes.
create function pgtrickle.outbox_status(p_name text default null)
    returns table (
        pgt_name text, outbox_table text, enabled_at timestamptz, retention_hours numeric, row_count bigint, oldest_row_at timestamptz,
        newest_row_at timestamptz, total_bytes bigint, claim_check_pending_count bigint, storage_status text,
        last_drained_at timestamptz, last_drained_count bigint
    )
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_name  text := case when p_name is not null then pgtrickle_internal.pgt_outbox_name(p_name) end;
    v_table regclass;
begin
    for v_name, pgt_name, v_table, outbox_table, enabled_at, retention_hours, total_bytes, storage_status, last_drained_at,
        last_drained_count in
        select c.outbox_name, coalesce(c.pgt_name, c.outbox_name), t.name::regclass, t.name, c.enabled_at,
               coalesce(trim_scale(extract(epoch from c.retention)::numeric / 3600),
                   (select s.value from pgtrickle_internal.pgt_setting('outbox_retention_hours') s)::numeric),
               z.bytes, case when z.bytes > (select s.value from pgtrickle_internal.pgt_setting('outbox_storage_critical_mb') s)::bigint *
                   1024 * 1024 then 'degraded' else 'ok' end,
               c.last_drained_at, c.last_drained_count
        from pgtrickle.pgt_outbox_config c
        cross join lateral (select format('%I.%I', c.outbox_schema, c.outbox_table_name) as name) t
        cross join lateral (
            select coalesce(sum(case
                   when r.relkind = 'p' then (select sum(pg_total_relation_size(p.relid)) from pg_partition_tree(r.oid) p)
                   else pg_total_relation_size(r.oid)
               end), 0)::bigint as bytes
        from pg_namespace n
        join pg_class r on r.relnamespace = n.oid and r.relname in (c.outbox_table_name, c.delta_rows_table_name)
        where n.nspname = c.outbox_schema
        ) z
        where c.outbox_name = v_name or v_name is null
        order by c.outbox_name
    loop
        execute format($$
            select count(*), min(e.created_at), max(e.created_at), count(*) filter (where e.is_claim_check and %I.pgt_awaits_ack($1, e.id))
            from (select false as is_claim_check) absent -- the column that outboxes of events lack
            cross join lateral (select id, created_at, is_claim_check from %s) e$$, 'pgtrickle_internal', v_table)
        into row_count, oldest_row_at, newest_row_at, claim_check_pending_count
        using v_name;
        return next;
    end loop;
end;
$function$;
comment on function pgtrickle.outbox_status(text) is 'The state of one outbox, or of all. (Sluice: pgtrickle in pgtrickle)';

-- Notifies outboxes that have new rows of applications; alerts, once, those larger than setting outbox_storage_critical_mb.
-- Reads the outboxes; writes pgt_outbox_state; notifies pgtrickle_outbox_new, pg_trickle_alert. Skips a locked state.
create function pgtrickle_internal.pgt_watch_outboxes()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set jit = off
as $function$
declare
    v_outbox record;
    v_most   bigint := (select s.value from pgtrickle_internal.pgt_setting('outbox_storage_critical_mb') s)::bigint * 1024 * 1024;
    v_at     timestamptz := clock_timestamp(); -- before the sequence is read, as in pgt_watch_sequences
begin
    for v_outbox in
        select c.outbox_name, c.outbox_table_name, z.bytes, i.drawn_id, n.last_id, n.last_id > s.notified_id as has_news,
               z.bytes > v_most as is_critical, s.storage_critical as was_critical
        from pgtrickle_internal.pgt_outboxes c
        join pgtrickle_internal.pgt_outbox_state s on s.outbox_name = c.outbox_name
        cross join lateral pgtrickle_internal.pgt_outbox_ids(c.outbox_name) i
        cross join lateral (
            select coalesce(sum(case
                   when r.relkind = 'p' then (select sum(pg_total_relation_size(p.relid)) from pg_partition_tree(r.oid) p)
                   else pg_total_relation_size(r.oid)
               end), 0)::bigint as bytes
        from pg_namespace n
        join pg_class r on r.relnamespace = n.oid and r.relname in (c.outbox_table_name, c.delta_rows_table_name)
        where n.nspname = c.outbox_schema
        ) z
        cross join lateral (select case when c.tick_notifies then i.last_id end as last_id) n
        where s.storage_critical <> (z.bytes > v_most) or n.last_id > s.notified_id or i.drawn_id > s.seen_id and s.moved_xid is null
        for update of s skip locked
    loop
        update pgtrickle_internal.pgt_outbox_state s
        set notified_id = greatest(s.notified_id, v_outbox.last_id), storage_critical = v_outbox.is_critical,
            seen_id = case when s.moved_xid is null then greatest(s.seen_id, v_outbox.drawn_id) else s.seen_id end,
            seen_at = case when s.moved_xid is null and v_outbox.drawn_id > s.seen_id then v_at else s.seen_at end
        where s.outbox_name = v_outbox.outbox_name;
        if v_outbox.has_news then
            perform pg_notify('pgtrickle_outbox_new', v_outbox.outbox_table_name);
        end if;
        if v_outbox.is_critical and not v_outbox.was_critical then
            perform pg_notify('pg_trickle_alert', jsonb_build_object(
                'type', 'outbox_storage_critical', 'outbox', v_outbox.outbox_name, 'total_bytes', v_outbox.bytes
            )::text);
        end if;
    end loop;
end;
$function$;

-- A consumer group by its name. Refuses a consumer without a name, and in p_function a snapshot without what others were granted meanwhile.
-- Reads pgt_consumer_groups. attach() makes the groups of the spec, and may not have run yet.
create function pgtrickle_internal.pgt_group(p_group text, p_consumer text default 'any', p_function text default null)
    returns pgtrickle.pgt_consumer_groups
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group pgtrickle.pgt_consumer_groups;
begin
    if not exists (select from pgtrickle_internal.pgt_version_history) then
        perform pgtrickle_internal.pgt_check_origin();
    end if;
    select g.* into v_group from pgtrickle.pgt_consumer_groups g where g.group_name = p_group;
    if not found then
        raise exception using errcode = '42704', message = 'consumer group not found: ' || coalesce(p_group, '<null>'),
            detail = 'The extension has no consumer group of this name.',
            hint = 'pgtrickle.create_consumer_group makes one.';
    elsif coalesce(p_consumer, '') = '' or octet_length(p_consumer) > 255 then
        raise exception using errcode = '22023', message = 'p_consumer must have 1 to 255 bytes',
            detail = 'Its name identifies a consumer within its group.',
            hint = 'Use a name that stays the same across restarts, such as the host or the number of a replica.';
    elsif p_function is not null and current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = '25001', message = p_function || ' must run in a READ COMMITTED transaction',
            detail = format('This one is %s: it would not see what other consumers were granted.',
                upper(current_setting('transaction_isolation'))),
            hint = 'Call it in a transaction of its own; only the work needs another isolation level.';
    end if;
    return v_group;
end;
$function$;

-- The consumer groups that another transaction polls or changes just now, what holds them and since when, as far as that is visible.
-- is_long: for twice setting poll_wait_ms, half of which it may itself have waited. In plpgsql: planning takes 5 times as long as running.
create function pgtrickle_internal.pgt_held_groups()
    returns table (group_no integer, vxid text, holder text, since timestamptz, is_long boolean)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return query
        with locks as materialized (
            select l.objid::bigint::integer as group_no, l.pid, l.virtualtransaction, l.granted, l.waitstart
            from pg_locks l
            where l.locktype = 'advisory' and l.classid = (-303097264)::oid and l.objsubid = 2
              and l.database = (select d.oid from pg_database d where d.datname = current_database())
        )
        select l.group_no, l.virtualtransaction, coalesce('pid ' || l.pid, 'prepared transaction ' || quote_literal(x.gid)), s.since,
               s.since < clock_timestamp() - make_interval(secs =>
                   (select p.value from pgtrickle_internal.pgt_setting('poll_wait_ms') p)::double precision / 500)
        from locks l
        left join pg_stat_activity a on a.pid = l.pid
        left join pg_prepared_xacts x on x.transaction in (
            select t.transactionid from pg_locks t where t.virtualtransaction = l.virtualtransaction and t.locktype = 'transactionid' and
                l.pid is null
        )
        cross join lateral (select min(w.waitstart) as since from locks w where w.group_no = l.group_no and not w.granted) w
        cross join lateral (select coalesce(x.prepared, a.xact_start, w.since) as since) s -- the last is seen by all
        where l.granted and l.pid is distinct from pg_backend_pid();
end;
$function$;

-- Takes the lock of a consumer group, for which polls, seeks and releases wait. GroupBusy if that takes longer than setting poll_wait_ms,
-- or false if p_polls and others merely come and go: it may poll again, when fewer do so.
--
-- A transaction that stays open after its poll would stop the group without a word.
create function pgtrickle_internal.pgt_lock_group(p_group_no integer, p_group text, p_polls boolean default false)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_patience text := current_setting('lock_timeout');
    v_most     integer;
    v_was      text; -- the transaction that held it after half of the time
    v_vxid     text;
    v_holder   text;
    v_since    timestamptz;
begin
    if pg_try_advisory_xact_lock(-303097264, p_group_no) then
        return true;
    end if;
    v_most := (select s.value from pgtrickle_internal.pgt_setting('poll_wait_ms') s)::integer;
    v_most := least(nullif(extract(epoch from v_patience::interval) * 1000, 0), v_most)::integer;
    for v_half in 1..2 loop
        v_was := v_vxid;
        begin
            perform set_config('lock_timeout', greatest(v_most / 2, 1)::text, true);
            perform pg_advisory_xact_lock(-303097264, p_group_no);
            perform set_config('lock_timeout', v_patience, true);
            return true;
        exception when lock_not_available then
            select h.vxid, h.holder, h.since into v_vxid, v_holder, v_since from pgtrickle_internal.pgt_held_groups() h where h.group_no =
                p_group_no;
        end;
    end loop;
    if p_polls and (v_vxid <> v_was) is not false then
        return false;
    end if;
    raise exception using errcode = '55P03',
        message = format('group %s is held by another poll: %s since %s', p_group, coalesce(v_holder, 'others'),
            coalesce(v_since::text, 'some time')),
        detail = format('Waited for %s ms.', v_most),
        hint = 'Commit right after poll_outbox. Setting idle_in_transaction_session_timeout ends sessions that do not. Try again.';
end;
$function$;

-- The number of ids in ranges. Like others that polls call, it is no function in SQL, which PostgreSQL would plan in each transaction.
create function pgtrickle_internal.pgt_count_ids(p_ids int8multirange)
    returns bigint
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return (select coalesce(sum(upper(r) - lower(r)), 0)::bigint from unnest(p_ids) r);
end;
$function$;

-- Puts rows into the dead letters of a group. Returns how many. Reads the outbox; writes pgt_consumer_dead_letters.
create function pgtrickle_internal.pgt_dead_letter(
    p_group pgtrickle.pgt_consumer_groups, p_ids int8multirange, p_consumer text, p_attempts integer, p_error text
)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_events boolean;
    v_table  regclass;
    v_count  bigint;
begin
    select o.kind = 'event', format('%I.%I', o.outbox_schema, o.outbox_table_name)::regclass into v_events, v_table
    from pgtrickle_internal.pgt_outboxes o
    where o.outbox_name = p_group.outbox_name;
    execute format($$
        insert into %I.pgt_consumer_dead_letters (
            group_name, id, outbox_name, consumer_id, created_at, event_type, aggregate_id, headers, payload, attempts, error
        )
        select $1, e.id, $2, $3, e.created_at, %s, e.payload, $4, left($5, 1000)
        from unnest($6) r
        cross join lateral (
        select o.*
        from %s o
        where o.id operator(pg_catalog.>=) pg_catalog.lower(r) and o.id operator(pg_catalog.<) pg_catalog.upper(r)
        order by o.id
        limit pg_catalog.upper(r) operator(pg_catalog.-) pg_catalog.lower(r)
        ) e
        on conflict (group_name, id) do update
            set consumer_id = excluded.consumer_id, attempts = excluded.attempts, error = excluded.error, dead_at = excluded.dead_at
        $$, 'pgtrickle', case when v_events then 'e.event_type, e.aggregate_id, e.headers' else 'null, null, null' end, v_table)
    using p_group.group_name, p_group.outbox_name, p_consumer, p_attempts, p_error, p_ids;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

-- Takes p_visible out of gaps p_gaps, adds gap p_new, and notes which transactions can publish what is left; drops what none can.
-- Writes pgt_lease_log; returns its newest number.
--
-- p_snapshot: from before p_visible was read, null if gaps were not read to their ends. p_xids, p_vxids: the publishers before that, after
-- ids were drawn up to p_drawn; null if they were not looked for. One without a transaction id may have drawn an id: until none of the
-- first such ones is left, all is looked at again.
create function pgtrickle_internal.pgt_narrow_gaps(
    p_group_no integer, p_floor_no bigint, p_last_no bigint, p_cur bigint, p_now timestamptz, p_gaps bigint[], p_new int8multirange,
    p_visible int8multirange, p_snapshot pg_snapshot, p_drawn bigint, p_xids xid8[], p_vxids text[]
)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_count integer;
    v_merge boolean := p_last_no - p_floor_no > 16 and ( -- small gaps that wait for the same transactions become one
        select count(*) > 8
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group_no and l.lane = 0 and l.no >= p_floor_no and l.state = 'gap' and pg_column_size(l.ids) < 8000
    );
begin
    with closed as (
        update pgtrickle_internal.pgt_lease_log l
        set state = 'done'
        where l.group_no = p_group_no and l.lane = 0 and l.no >= p_floor_no and l.state = 'gap' and (
            l.no = any (p_gaps) and (p_drawn is not null or l.xids is not null or l.ids && p_visible)
            or v_merge and l.xids is not null and pg_column_size(l.ids) < 8000
        )
        returning l.ids, l.xids, l.vxids, l.until, l.leased_at, coalesce(p_snapshot is not null and l.no = any (p_gaps), false) as looked_at
    ),
    gaps as materialized (
        select g.ids - p_visible as ids, x.xids, v.vxids, g.leased_at,
               case
                   when x.xids is not null then 'infinity'
                   when upper(g.ids) - 1 > p_drawn then p_now + interval '1 second' -- the row above them was inserted with its id
                   when p_drawn is not null then p_now + interval '20 milliseconds'
                   else g.until
               end as until
        from (
            select c.* from closed c
            union all
            select p_new, null, null, p_now + interval '20 milliseconds', p_now, true
        ) g
        cross join lateral (
            select case
                when g.looked_at and g.xids is null and upper(g.ids) - 1 <= p_drawn
                    then array(select x from unnest(coalesce(g.vxids, p_vxids)) x where x = any (p_vxids))
                else g.vxids
            end as vxids
            offset 0 -- evaluated once
        ) v
        cross join lateral (
            select case
                when not g.looked_at then g.xids
                when g.xids is not null then array(select x from unnest(g.xids) x where not pg_visible_in_snapshot(x, p_snapshot))
                when v.vxids = '{}' then p_xids
            end as xids
        ) x
    )
    insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids, xids, vxids, until, leased_at)
    select p_group_no, p_last_no + row_number() over (), p_cur, p_floor_no, 'gap', range_agg(r), g.xids, g.vxids, min(g.until),
        min(g.leased_at)
    from gaps g
    cross join lateral unnest(g.ids) r
    where g.xids is distinct from '{}'
    group by g.xids, g.vxids;
    get diagnostics v_count = row_count;
    return p_last_no + v_count;
end;
$function$;

-- The visible ids of gaps that may have changed and of p_rows rows after p_cur up to p_upto, p_limit at most; null if none. Notes gaps in
-- between.
-- Reads the outbox, pg_locks; writes pgt_lease_log. Looks for publishers, unless an older gap will do so soon.
create function pgtrickle_internal.pgt_settle(
    p_group_no integer, p_outbox text, p_floor_no bigint, p_last_no bigint, p_cur bigint, p_upto bigint, p_rows bigint,
    p_now timestamptz, p_limit integer, out ids int8multirange, out last_no bigint, out cur bigint
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_gaps     bigint[];
    v_ids      int8multirange := int8multirange();
    v_next     int8multirange := int8multirange(int8range(p_cur, coalesce(p_upto, p_cur), '(]'));
    v_look     boolean := p_upto - p_cur > p_rows;
    v_drawn    bigint;
    v_xids     xid8[];
    v_vxids    text[];
    v_snapshot pg_snapshot;
begin
    select array_agg(distinct l.no), coalesce(range_agg(r), '{}'),
           coalesce(bool_or(l.until <= p_now), false) or v_look and not coalesce(bool_or(l.xids is null), false)
    into v_gaps, v_ids, v_look
    from pgtrickle_internal.pgt_lease_log l
    cross join lateral unnest(l.ids) r
    where l.group_no = p_group_no and l.lane = 0 and l.no >= p_floor_no and l.state = 'gap' and
        (l.xids is null or exists (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))));
    if v_look then
        v_drawn := (pgtrickle_internal.pgt_outbox_ids(p_outbox)).drawn_id;
        select coalesce(array_agg(p.xid order by p.xid) filter (where p.xid is not null), '{}'),
               coalesce(array_agg(p.vxid order by p.vxid) filter (where p.xid is null), '{}')
        into v_xids, v_vxids
        from pgtrickle_internal.pgt_publishers(p_outbox) p;
    end if;
    -- Later than the look for publishers: one that is not among them and has published has committed it.
    v_snapshot := pg_current_snapshot();
    ids := pgtrickle_internal.pgt_outbox_visible(p_outbox, v_ids + v_next, p_limit);
    if pgtrickle_internal.pgt_count_ids(ids) >= p_limit then
        v_next := v_next * int8multirange(int8range(null, upper(ids), '()')); -- only so far has been looked
        v_snapshot := case when not isempty(v_next) then v_snapshot end;
    end if;
    cur := coalesce(upper(v_next) - 1, p_cur);
    last_no := pgtrickle_internal.pgt_narrow_gaps(
        p_group_no, p_floor_no, p_last_no, cur, p_now, v_gaps, v_next, coalesce(ids, '{}'), v_snapshot, v_drawn, v_xids, v_vxids
    );
end;
$function$;

-- Grants a consumer the first p_limit rows of its own lease (p_held) or of the lowest one that is due; the others are due. From half of
-- their attempts on it is one row, which distinguishes the one that kills its consumer from those granted together with it.
-- Reads the outbox; writes pgt_lease_log, pgt_consumer_dead_letters. ids: null if there is none, empty while it commits its own lease.
create function pgtrickle_internal.pgt_grant_again(
    p_group pgtrickle.pgt_consumer_groups, p_lane smallint, p_floor_no bigint, p_held boolean, p_consumer text, p_limit integer,
    p_now timestamptz, p_until timestamptz, out ids int8multirange, out attempts integer
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_lease  pgtrickle_internal.pgt_lease_log;
    v_held   boolean := p_held;
    v_locks  tid[];
    v_before int8multirange := int8multirange(int8range(null, null));
begin
    loop
        select l.* into v_lease
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = p_lane and l.no >= p_floor_no and l.state = 'leased'
          and (l.until <= p_now or v_held and l.consumer_id = p_consumer and not l.lost)
        order by v_held and (l.consumer_id = p_consumer and not l.lost) is true desc, lower(l.ids)
        limit 1
        for update skip locked; -- not one that its consumer commits at this moment
        if v_held and (v_lease.consumer_id = p_consumer and not v_lease.lost) is not true then
            ids := '{}';
            return;
        end if;
        exit when v_lease.no is null;
        if p_lane > 0 and not v_held then
            -- A lane is granted in order: not past rows whose consumer commits them at this moment.
            exit when exists (
                select
                from pgtrickle_internal.pgt_lease_log l
                where l.group_no = p_group.group_no and l.lane = p_lane and l.no >= p_floor_no
                  and l.state = 'leased' and lower(l.ids) < lower(v_lease.ids)
            );
            -- A consumer commits all of its lanes together, so it loses all of its leases, or none if it commits one at this moment.
            -- They end when they would have ended.
            v_locks := pgtrickle_internal.pgt_lock_leases(p_group, case when not v_lease.lost then v_lease.consumer_id end);
            exit when v_locks is null;
            update pgtrickle_internal.pgt_lease_log l set lost = true where l.ctid = any (v_locks);
            -- Nor past dead letters that came back.
            v_before := (
                select int8multirange(int8range(null, min(lower(l.ids))))
                from pgtrickle_internal.pgt_lease_log l
                where l.group_no = p_group.group_no and l.lane = p_lane and l.no >= p_floor_no and l.state = 'leased' and l.no <> v_lease.no
            );
        end if;
        attempts := v_lease.attempts + 1;
        if attempts > p_group.max_attempts then
            perform pgtrickle_internal.pgt_dead_letter(
                p_group, v_lease.ids, v_lease.consumer_id, v_lease.attempts, format('not committed; attempts: %s', v_lease.attempts)
            );
        else
            ids := pgtrickle_internal.pgt_outbox_visible(p_group.outbox_name, v_lease.ids * v_before, case when v_lease.attempts >=
                (p_group.max_attempts + 1) / 2 then 1 else p_limit end);
            -- the first of them are deleted by force, and what came back is next
            if ids is null and not isempty(v_lease.ids - v_before) then
                update pgtrickle_internal.pgt_lease_log l
                set ids = l.ids - v_before
                where l.group_no = p_group.group_no and l.lane = p_lane and l.no = v_lease.no;
                continue;
            end if;
        end if;
        update pgtrickle_internal.pgt_lease_log l
        set state = 'done', lease_id = null, lost = l.lost or coalesce(l.consumer_id <> p_consumer, false)
        where l.group_no = p_group.group_no and l.lane = p_lane and l.no = v_lease.no;
        exit when ids is not null;
        v_held := false; -- it was rejected after p_max_attempts, or deleted by force
    end loop;
    insert into pgtrickle_internal.pgt_lease_log (group_no, lane, no, cur, floor_no, state, ids, lease_id, consumer_id, until, attempts)
    select p_group.group_no, p_lane, h.no + g.no, h.cur, p_floor_no, 'leased', g.ids, g.lease_id, g.consumer_id, g.until, g.attempts
    from (
        select l.no, l.cur
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = p_lane
        order by l.no desc
        limit 1
    ) h
    cross join (
        values (1, pgt_grant_again.ids, pg_current_xact_id()::text::bigint, p_consumer, p_until, pgt_grant_again.attempts),
               (2, v_lease.ids - pgt_grant_again.ids, null, null, '-infinity', v_lease.attempts)
    ) g (no, ids, lease_id, consumer_id, until, attempts)
    where not isempty(g.ids);
end;
$function$;

-- Locks the leases of a consumer in all lanes. Null if it commits, rejects or extends one at this moment. Locks rows of pgt_lease_log.
create function pgtrickle_internal.pgt_lock_leases(p_group pgtrickle.pgt_consumer_groups, p_consumer text)
    returns tid[]
    language sql
    set search_path = pg_catalog, pg_temp
as $function$
    with held as materialized (
        select l.ctid as at
        from pgtrickle_internal.pgt_lease_heads(p_group) h
        join pgtrickle_internal.pgt_lease_log l on l.group_no = p_group.group_no and l.lane = h.lane and l.no >= h.floor_no
        where l.state = 'leased' and l.consumer_id = p_consumer and not l.lost
    ),
    locked as materialized (
        select l.ctid as at from pgtrickle_internal.pgt_lease_log l where l.ctid = any (array(select h.at from held h)) for update skip
            locked
    )
    select case when (select count(*) from locked) = (select count(*) from held) then array(select f.at from locked f) end
$function$;

-- Makes rows of an ordered outbox due that their lanes have passed, each in its lane. Reads the outbox; writes pgt_lease_log.
create function pgtrickle_internal.pgt_give_back_lanes(p_group pgtrickle.pgt_consumer_groups, p_ids int8multirange)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_own    name := (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_group.outbox_name);
    v_ids    bigint[];
    v_hashes bigint[];
begin
    execute format('select * from %I.%I($1)', 'pgtrickle_internal', v_own || '_hashes') into v_ids, v_hashes using p_ids;
    insert into pgtrickle_internal.pgt_lease_log (group_no, lane, no, cur, floor_no, state, ids)
    select p_group.group_no, h.lane, h.no + 1, h.cur, h.floor_no, 'leased', range_agg(int8range(e.id, e.id, '[]'))
    from unnest(v_ids, v_hashes) e (id, hash)
    join pgtrickle_internal.pgt_lease_heads(p_group) h on h.lane = (1 operator(pg_catalog.+) (e.hash operator(pg_catalog.&) 15))::smallint
        and h.cur >= e.id
    group by h.lane, h.no, h.cur, h.floor_no;
end;
$function$;

-- Moves the watermark of an ordered outbox, up to which ids were looked at. apart: ids in gaps and rows that would pass one of their key.
-- Reads the outbox, pg_locks; writes lane 0 of pgt_lease_log.
--
-- A publisher marks each key before it commits. A row is held while a transaction that marked its key runs and may own a lower id. All is
-- read in one snapshot: a publisher that locks the row behind a key commits after all earlier rows of that key.
create function pgtrickle_internal.pgt_watermark(
    p_group pgtrickle.pgt_consumer_groups, p_now timestamptz, p_batch_size integer, out water bigint, out apart int8multirange[]
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_head    record;
    v_open    record;
    v_no      bigint;
    v_upto    bigint;
    v_rows    bigint;
    v_drawn   bigint;
    v_xids    xid8[];
    v_vxids   text[];
    v_marks   int4multirange[];
    v_seen    record;
    v_visible int8multirange;
    v_free    int8multirange;
    v_held    record;
begin
    select l.no, l.cur, l.floor_no into v_head
    from pgtrickle_internal.pgt_lease_log l
    where l.group_no = p_group.group_no and l.lane = 0
    order by l.no desc
    limit 1;
    if not found then -- dropped while this one waited
        perform pgtrickle_internal.pgt_group(p_group.group_name);
        return;
    end if;
    select coalesce(min(l.no), v_head.no + 1) as floor_no,
           count(*) > 0 as there,
           bool_or(l.xids is null or exists (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))))
               as due
    into v_open
    from pgtrickle_internal.pgt_lease_log l
    where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_head.floor_no and l.state <> 'done';
    v_no := v_head.no;
    water := v_head.cur;
    select n.last_id, n.row_count into v_upto, v_rows from
        pgtrickle_internal.pgt_outbox_next(p_group.outbox_name, water, greatest(p_batch_size, 1000)) n;
    v_upto := coalesce(v_upto, water);

    if v_rows > 0 and not v_open.there and v_upto - water = v_rows then
        v_no := v_no + 1; -- none is missing
        insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids) values
            (p_group.group_no, v_no, v_upto, v_no + 1, 'done', '{}');
    elsif v_rows > 0 or v_open.due then
        v_drawn := (pgtrickle_internal.pgt_outbox_ids(p_group.outbox_name)).drawn_id;
        select coalesce(array_agg(p.xid order by p.xid) filter (where p.xid is not null), '{}'),
               coalesce(array_agg(p.vxid order by p.vxid) filter (where p.xid is null), '{}'),
               coalesce(array_agg(p.marks order by p.xid) filter (where p.xid is not null), '{}')
        into v_xids, v_vxids, v_marks
        from pgtrickle_internal.pgt_publishers(p_group.outbox_name) p;
        select s.* into v_seen from pgtrickle_internal.pgt_lanes_seen(p_group, v_open.floor_no, water, v_upto) s;
        v_visible := coalesce((select range_agg(int8range(i, i, '[]')) from unnest(v_seen.ids) i), '{}');
        v_no := pgtrickle_internal.pgt_narrow_gaps(
            p_group.group_no, v_open.floor_no, v_no, v_upto, p_now, v_seen.gaps, int8multirange(int8range(water, v_upto, '(]')),
            v_visible, v_seen.snapshot, v_drawn, v_xids, v_vxids
        );
        select coalesce(range_agg(int8range(s.id, s.id, '[]')), '{}') as ids, array_agg(distinct p.xid) as xids
        into v_held
        from unnest(v_seen.ids, v_seen.hashes) s (id, hash)
        join unnest(v_xids, v_marks) p (xid, marks) on p.marks @> (s.hash operator(pg_catalog.>>) 4 operator(pg_catalog.&) 127)::integer
            and p.marks @> (128 operator(pg_catalog.+) (s.hash operator(pg_catalog.>>) 11 operator(pg_catalog.&) 127))::integer
        where not pg_visible_in_snapshot(p.xid, v_seen.snapshot)
          and exists (
              select
              from pgtrickle_internal.pgt_lease_log l
              where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_open.floor_no and l.state = 'gap'
                and lower(l.ids) < s.id and (l.xids is null or p.xid = any (l.xids))
          );
        if not isempty(v_held.ids) then
            v_no := v_no + 1;
            insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids, xids, until)
            values (p_group.group_no, v_no, v_upto, v_open.floor_no, 'held', v_held.ids, v_held.xids, 'infinity');
        end if;
        update pgtrickle_internal.pgt_lease_log l set state = 'done' where l.group_no = p_group.group_no and l.lane = 0 and l.no >=
            v_open.floor_no and l.no = any (v_seen.held);
        v_free := v_visible - v_held.ids - int8multirange(int8range(water, null, '()'));
        if not isempty(v_free) then
            perform pgtrickle_internal.pgt_give_back_lanes(p_group, v_free);
        end if;
        if v_no = v_head.no and v_upto > water then
            v_no := v_no + 1;
            insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids) values
                (p_group.group_no, v_no, v_upto, v_open.floor_no, 'done', '{}');
        end if;
    end if;
    if v_no - v_open.floor_no > 64 then
        update pgtrickle_internal.pgt_lease_log l
        set no = v_no + 1, cur = v_upto, floor_no = v_open.floor_no + 1
        where l.ctid = (
            select o.ctid
            from pgtrickle_internal.pgt_lease_log o
            where o.group_no = p_group.group_no and o.lane = 0 and o.no = v_open.floor_no and o.state <> 'done'
            for update skip locked -- not one that its consumer commits at this moment
        );
        v_no := v_no + found::integer;
    end if;
    water := v_upto;
    apart := ( -- few, which may be large: to make one of them would sort all of their ranges
        select array_agg(l.ids)
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_open.floor_no and l.state in ('gap', 'held')
    );
end;
$function$;

-- Grants a consumer rows of an ordered outbox: its own leases again, or the next rows of lanes that nobody holds; nulls if there are none.
-- Reads the outbox, pg_locks; writes pgt_lease_log, pgt_consumer_dead_letters.
--
-- A lane has the keys of one hash. One consumer at a time has it, in id order up to the watermark, so rows of one key stay in order.
-- A row that is granted alone comes without rows of other lanes.
create function pgtrickle_internal.pgt_grant_lanes(
    p_group pgtrickle.pgt_consumer_groups, p_consumer text, p_batch_size integer, p_now timestamptz, p_until timestamptz,
    out ids int8multirange[], out attempts integer[]
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_first integer := floor(random() * 16)::integer;
    v_lane  smallint;
    v_held  tid[];
    v_water record;
    v_head  record;
    v_open  record;
    v_ids   int8multirange;
    v_tries integer;
    v_left  integer := p_batch_size;
    v_half  integer := (p_group.max_attempts + 1) / 2;
begin
    v_held := pgtrickle_internal.pgt_lock_leases(p_group, p_consumer);
    if v_held is null then -- it commits some at this moment
        return;
    end if;
    for v_open in
        select l.no, l.lane, n.first_no, l.attempts >= v_half as alone
        from pgtrickle_internal.pgt_lease_log l
        cross join lateral (
            select min(o.no) as first_no
            from pgtrickle_internal.pgt_lease_log o
            where o.group_no = l.group_no and o.lane = l.lane and o.no >= l.floor_no and o.state = 'leased'
        ) n
        where l.ctid = any (v_held)
        order by lower(l.ids)
    loop
        if v_left <= 0 or v_open.alone and ids is not null then -- due for any consumer
            update pgtrickle_internal.pgt_lease_log l
            set lost = true, until = '-infinity'
            where l.group_no = p_group.group_no and l.lane = v_open.lane and l.no = v_open.no;
            continue;
        end if;
        select g.ids, g.attempts into v_ids, v_tries
        from pgtrickle_internal.pgt_grant_again(p_group, v_open.lane, v_open.first_no, true, p_consumer, v_left, p_now, p_until) g;
        continue when v_ids is null;
        ids := ids || v_ids;
        attempts := attempts || v_tries;
        v_left := case when v_tries > v_half then 0 else (v_left - pgtrickle_internal.pgt_count_ids(v_ids))::integer end;
    end loop;
    if ids is not null then
        return;
    end if;
    -- Nothing new while the sequence is behind what a tick has seen, after a failover: what the next one gives back comes first.
    select case when i.drawn_id >= s.seen_id then w.water else 0 end as water, w.apart, o.function_prefix into v_water
    from pgtrickle_internal.pgt_watermark(p_group, p_now, p_batch_size) w
    cross join pgtrickle.pgt_outbox_config s
    join pgtrickle_internal.pgt_outboxes o on o.outbox_name = s.outbox_name
    cross join lateral pgtrickle_internal.pgt_outbox_ids(p_group.outbox_name) i
    where s.outbox_name = p_group.outbox_name;

    for v_step in 1..16 loop
        v_lane := ((v_first + v_step) % 16 + 1)::smallint;
        select l.no, l.cur, l.floor_no into v_head
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = v_lane
        order by l.no desc
        limit 1;
        select coalesce(min(l.no), v_head.no + 1) as first_no,
               bool_or(l.until > p_now) as busy,
               count(*) > 0 as due,
               bool_or(l.attempts >= v_half) as alone
        into v_open
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = v_lane and l.no >= v_head.floor_no and l.state = 'leased';
        continue when v_open.busy or v_open.alone and ids is not null;

        v_ids := null;
        if v_open.due then
            select g.ids, g.attempts into v_ids, v_tries
            from pgtrickle_internal.pgt_grant_again(p_group, v_lane, v_open.first_no, false, p_consumer, v_left, p_now, p_until) g;
            -- One that is committed just now keeps the lane.
            continue when v_ids is null and exists (
                select
                from pgtrickle_internal.pgt_lease_log l
                where l.group_no = p_group.group_no and l.lane = v_lane and l.no >= v_head.floor_no and l.state = 'leased'
            );
        end if;
        if v_ids is null then
            v_tries := 1;
            execute format('select * from %I.%I($1, $2, $3, $4, $5)', 'pgtrickle_internal', v_water.function_prefix || '_lane')
            into v_ids
            using v_lane, v_head.cur, v_water.water, v_left, v_water.apart;
            continue when v_ids is null;
            insert into pgtrickle_internal.pgt_lease_log
                (group_no, lane, no, cur, floor_no, state, ids, lease_id, consumer_id, until, attempts)
            values (
                p_group.group_no, v_lane, v_head.no + 1, upper(v_ids) - 1, v_head.no + 1, 'leased', v_ids,
                    pg_current_xact_id()::text::bigint,
                p_consumer, p_until, v_tries
            );
        end if;
        ids := ids || v_ids;
        attempts := attempts || v_tries;
        v_left := (v_left - pgtrickle_internal.pgt_count_ids(v_ids))::integer;
        exit when v_left <= 0 or v_tries > v_half;
    end loop;
end;
$function$;

-- Commits what a consumer was granted of an ordered outbox up to an id. Returns the highest id committed now, null if none.
-- Writes pgt_lease_log.
create function pgtrickle_internal.pgt_commit_lanes(p_group pgtrickle.pgt_consumer_groups, p_consumer text, p_offset bigint, p_lease_id
    bigint)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_upto  int8multirange := int8multirange(int8range(null, p_offset, '(]'));
    v_head  record;
    v_ended bigint;
    v_last  bigint;
begin
    for v_head in select h.lane, h.floor_no from pgtrickle_internal.pgt_lease_heads(p_group) h where h.lane > 0 loop
        -- One lane at a time, by the key: all at once, the whole log may be read.
        for v_ended in
            update pgtrickle_internal.pgt_lease_log l
            set state = case when upper(l.ids) <= p_offset + 1 then 'done' else 'leased' end,
                ids = case when upper(l.ids) <= p_offset + 1 then l.ids else l.ids - v_upto end,
                committed_at = clock_timestamp(),
                committed_id = upper(l.ids * v_upto) - 1
            where l.group_no = p_group.group_no and l.lane = v_head.lane and l.no >= v_head.floor_no
              and l.state = 'leased' and l.consumer_id = p_consumer and not l.lost and lower(l.ids) <= p_offset
              and (p_lease_id is null or l.lease_id = p_lease_id)
            returning l.committed_id
        loop
            v_last := greatest(v_last, v_ended);
        end loop;
    end loop;
    return v_last;
end;
$function$;

-- Makes rows due that a group has passed, with no attempts counted. Reads the outbox; writes pgt_lease_log. Under the group's lock.
create function pgtrickle_internal.pgt_give_back(p_group pgtrickle.pgt_consumer_groups, p_ids int8multirange)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if p_group.ordered then
        perform pgtrickle_internal.pgt_give_back_lanes(p_group, p_ids);
        return;
    end if;
    insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids)
    select h.group_no, h.no + 1, h.cur, h.floor_no, 'leased', p_ids
    from pgtrickle_internal.pgt_lease_log h
    where h.group_no = p_group.group_no and h.lane = 0
    order by h.no desc
    limit 1;
end;
$function$;

-- Whether others that poll at this moment leave something for a poll of p_limit rows. Reads the outbox, pgt_lease_log.
--
-- After a notification all consumers poll for the same few rows. Those that come too late would wait for the group's lock one after the
-- other, each to see that nothing is left: of 50 whose commits take a millisecond to arrive, half were back after 8 ms instead of 41.
create function pgtrickle_internal.pgt_is_left(p_group_no integer, p_outbox text, p_consumer text, p_limit integer)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $function$
declare
    v_ahead bigint;
begin
    for v_try in 1..50 loop
        select (pgtrickle_internal.pgt_outbox_ids(p_outbox)).last_id - h.cur into v_ahead
        from (
            select l.cur, l.floor_no
            from pgtrickle_internal.pgt_lease_log l
            where l.group_no = p_group_no and l.lane = 0
            order by l.no desc
            limit 1
        ) h
        where not exists (
            select
            from pgtrickle_internal.pgt_lease_log l
            where l.group_no = p_group_no and l.lane = 0 and l.no >= h.floor_no and (
                l.state = 'leased' and (l.consumer_id = p_consumer or l.until <= clock_timestamp())
                or l.state = 'gap' and (l.xids is null or exists
                    (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))))
            )
        );
        exit when not found or v_ahead > p_limit;
        if coalesce(v_ahead, 0) <= 0 then
            return false;
        end if;
        exit when pg_try_advisory_xact_lock(-303097264, p_group_no);
        perform pg_sleep(0.001);
    end loop;
    return true;
end;
$function$;

-- Keeps rows for polls that ask for their event type, or for none. Reads the outbox; writes pgt_passed_rows.
--
-- Few rows join those that are there, so that the table stays small where each poll passes over one or two.
create function pgtrickle_internal.pgt_pass_over(p_group pgtrickle.pgt_consumer_groups, p_ids int8multirange, p_attempts integer)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
as $function$
declare
    v_own  name := (select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_group.outbox_name);
    v_type text;
    v_ids  int8multirange;
    v_rows bigint;
begin
    for v_type, v_ids, v_rows in execute format('select * from %I.%I($1)', 'pgtrickle_internal', v_own || '_types') using p_ids loop
        update pgtrickle_internal.pgt_passed_rows p
        set first_id = lower(p.ids + v_ids), ids = p.ids + v_ids, row_count = p.row_count + v_rows
        where p.group_no = p_group.group_no and p.attempts = p_attempts and p.row_count < 100 and p.first_id = (
            select max(o.first_id)
            from pgtrickle_internal.pgt_passed_rows o
            where o.group_no = p_group.group_no and o.event_type = v_type
        );
        continue when found;
        insert into pgtrickle_internal.pgt_passed_rows (group_no, first_id, event_type, ids, row_count, attempts)
        values (p_group.group_no, lower(v_ids), v_type, v_ids, v_rows, p_attempts);
    end loop;
end;
$function$;

-- Sorts rows of a group's outbox by event type until there are some of p_event_types: those that the consumer holds, those that are due,
-- and what comes next. False if the consumer commits what it holds at this moment. Reads the outbox, pg_locks; writes pgt_lease_log,
-- pgt_passed_rows, pgt_consumer_groups.
create function pgtrickle_internal.pgt_sort_rows(p_group pgtrickle.pgt_consumer_groups, p_event_types text[], p_consumer text, p_now
    timestamptz)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $function$
declare
    v_no     bigint;
    v_cur    bigint;
    v_floor  bigint;
    v_lease  record;
    v_next   int8multirange;
    v_sorted record;
begin
    if not exists (select from pgtrickle_internal.pgt_outboxes o where o.outbox_name = p_group.outbox_name and o.kind = 'event' and
        o.ordering_key is null) or p_event_types = '{}' or array_position(p_event_types, null) is not null then
        raise exception using errcode = '22023', message = 'p_event_types must name types of an outbox of events without an order',
            detail = format('Outbox %s, types %s.', p_group.outbox_name, p_event_types),
            hint = 'Leave it out for all rows, as consumers of an ordered outbox and of the changes of a stream table do.';
    end if;
    select l.no, l.cur, l.floor_no into v_no, v_cur, v_floor
    from pgtrickle_internal.pgt_lease_log l
    where l.group_no = p_group.group_no and l.lane = 0
    order by l.no desc
    limit 1;
    for v_lease in
        select l.no, l.ids, l.attempts
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_floor and l.state = 'leased'
          and (l.until <= p_now or l.consumer_id = p_consumer and not l.lost)
        for update skip locked
    loop
        perform pgtrickle_internal.pgt_pass_over(p_group, v_lease.ids, v_lease.attempts);
        update pgtrickle_internal.pgt_lease_log l
        set state = 'done', lease_id = null, lost = l.lost or l.consumer_id is not null
        where l.group_no = p_group.group_no and l.lane = 0 and l.no = v_lease.no;
    end loop;
    if exists (
        select
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_floor and l.state = 'leased'
          and l.consumer_id = p_consumer and not l.lost
    ) then
        return false;
    end if;
    -- Polls see in the row of their group, which they read anyway, whether to look for rows that were passed over: to look costs them 5 %.
    update pgtrickle.pgt_consumer_groups g set passes_over = true where g.group_no = p_group.group_no and not g.passes_over;
    loop
        exit when exists (
            select
            from pgtrickle_internal.pgt_passed_rows p
            where p.group_no = p_group.group_no and p.event_type = any (p_event_types)
        );
        v_next := pgtrickle_internal.pgt_outbox_visible(p_group.outbox_name, int8multirange(int8range(v_cur, 9223372036854775807, '()')),
            1000);
        exit when v_next is null and not exists (
            select
            from pgtrickle_internal.pgt_lease_log l
            where l.group_no = p_group.group_no and l.lane = 0 and l.no >= v_floor and l.state = 'gap'
              and (l.xids is null or exists (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))))
        );
        select s.ids, s.last_no, s.cur into v_sorted
        from pgtrickle_internal.pgt_settle(
            p_group.group_no, p_group.outbox_name, v_floor, v_no, v_cur, upper(v_next) - 1, pgtrickle_internal.pgt_count_ids(v_next),
            p_now, 1000
        ) s;
        perform pgtrickle_internal.pgt_pass_over(p_group, v_sorted.ids, 0);
        v_no := v_sorted.last_no + 1;
        v_cur := v_sorted.cur;
        insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids)
        values (p_group.group_no, v_no, v_cur, v_floor, 'done', '{}');
        exit when v_next is null;
    end loop;
    return true;
end;
$function$;

-- Grants a consumer the first p_limit rows that polls with event types passed over, of p_event_types or, if that is null, of any.
-- Reads the outbox; writes pgt_lease_log, pgt_passed_rows, pgt_consumer_groups, pgt_consumer_dead_letters.
-- Null if there are none. All were granted equally often before.
create function pgtrickle_internal.pgt_grant_passed(
    p_group pgtrickle.pgt_consumer_groups, p_floor_no bigint, p_event_types text[], p_consumer text, p_limit integer,
    p_until timestamptz, out ids int8multirange, out attempts integer
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $function$
declare
    v_passed record;
    v_ids    int8multirange;
    v_rest   int8multirange;
    v_left   integer := p_limit;
begin
    while v_left > 0 loop
        if p_event_types is null then
            select p.first_id, p.ids, p.attempts + 1 as attempts into v_passed
            from pgtrickle_internal.pgt_passed_rows p
            where p.group_no = p_group.group_no
            order by p.first_id
            limit 1;
        else
            select p.first_id, p.ids, p.attempts + 1 as attempts into v_passed
            from unnest(p_event_types) t (event_type)
            cross join lateral (
                select o.*
                from pgtrickle_internal.pgt_passed_rows o
                where o.group_no = p_group.group_no and o.event_type = t.event_type
                order by o.first_id
                limit 1
            ) p
            order by p.first_id
            limit 1;
        end if;
        exit when v_passed.first_id is null or v_passed.attempts <> pgt_grant_passed.attempts;
        v_left := case when v_passed.attempts > (p_group.max_attempts + 1) / 2 then 1 else v_left end;
        v_rest := '{}';
        if v_passed.attempts > p_group.max_attempts then
            perform pgtrickle_internal.pgt_dead_letter(
                p_group, v_passed.ids, null, v_passed.attempts - 1, format('not committed; attempts: %s', v_passed.attempts - 1)
            );
        else
            v_ids := pgtrickle_internal.pgt_outbox_visible(p_group.outbox_name, v_passed.ids, v_left);
            if v_ids is not null then -- else deleted by force
                ids := coalesce(ids, '{}') + v_ids;
                attempts := v_passed.attempts;
                v_left := (v_left - pgtrickle_internal.pgt_count_ids(v_ids))::integer;
                v_rest := case when v_left = 0 then v_passed.ids * int8multirange(int8range(upper(v_ids), null)) else '{}' end;
            end if;
        end if;
        update pgtrickle_internal.pgt_passed_rows p
        set first_id = lower(v_rest), ids = v_rest, row_count = pgtrickle_internal.pgt_count_ids(v_rest)
        where p.group_no = p_group.group_no and p.first_id = v_passed.first_id and not isempty(v_rest);
        delete from pgtrickle_internal.pgt_passed_rows p
        where p.group_no = p_group.group_no and p.first_id = v_passed.first_id and isempty(v_rest);
    end loop;
    if p_event_types is null and ids is null then
        update pgtrickle.pgt_consumer_groups g set passes_over = false where g.group_no = p_group.group_no;
    end if;
    insert into pgtrickle_internal.pgt_lease_log (group_no, no, cur, floor_no, state, ids, lease_id, consumer_id, until, attempts)
    select h.group_no, h.no + 1, h.cur, p_floor_no, 'leased', pgt_grant_passed.ids, pg_current_xact_id()::text::bigint, p_consumer, p_until,
           pgt_grant_passed.attempts
    from pgtrickle_internal.pgt_lease_log h
    where h.group_no = p_group.group_no and h.lane = 0 and pgt_grant_passed.ids is not null
    order by h.no desc
    limit 1;
end;
$function$;

-- Restarts a group behind an id that was drawn, or, if null, with every row that commits from now on, whatever its id. Returns the offset.
-- Reads the outbox, pg_locks; writes pgt_lease_log, pgt_consumer_groups, pgt_consumer_claim_check_acks.
create function pgtrickle_internal.pgt_start(p_group pgtrickle.pgt_consumer_groups, p_offset bigint)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_no      bigint;
    v_last    bigint;
    v_start   bigint;
    v_ahead   boolean; -- of the ids that were drawn
    v_seen    int8multirange;
    v_table   regclass;
    v_ordered boolean := (select o.ordering_key is not null from pgtrickle_internal.pgt_outboxes o where o.outbox_name =
        p_group.outbox_name);
begin
    perform pgtrickle_internal.pgt_lock_group(p_group.group_no, p_group.group_name);
    delete from pgtrickle_internal.pgt_passed_rows p where p.group_no = p_group.group_no;
    update pgtrickle_internal.pgt_lease_log l
    set state = 'done', lost = l.lost or l.consumer_id is not null
    where l.group_no = p_group.group_no and l.state <> 'done';
    select coalesce(max(l.no), 0) into v_no from pgtrickle_internal.pgt_lease_log l where l.group_no = p_group.group_no;

    select least(p_offset, greatest(o.drawn_id, o.last_id)), p_offset is null and o.last_id > o.drawn_id into v_last, v_ahead
    from pgtrickle_internal.pgt_outbox_ids(p_group.outbox_name) o;
    v_start := v_last;
    insert into pgtrickle_internal.pgt_lease_log (group_no, lane, no, cur, floor_no, state, ids)
    select p_group.group_no, x.lane, v_no + 1, v_last, v_no + 2, 'done', '{}'
    from generate_series(0, case when v_ordered then 16 else 0 end) x (lane);
    if v_ahead or p_offset is null and exists (select from pgtrickle_internal.pgt_publishers(p_group.outbox_name)) then
        -- Ids up to here that are not to be seen may still come.
        v_seen := (pgtrickle_internal.pgt_settle(
            p_group.group_no, p_group.outbox_name, v_no + 2, v_no + 1, 0, v_last, 0, clock_timestamp(), null
        )).ids;
        select coalesce(min(lower(l.ids)) - 1, v_last) into v_start
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.lane = 0 and l.state = 'gap';
    end if;

    -- What is skipped needs no acknowledgement; what comes again does, and what comes late.
    update pgtrickle.pgt_consumer_groups g set start_id = v_start, ordered = v_ordered where g.group_no = p_group.group_no;
    delete from pgtrickle.pgt_consumer_claim_check_acks a where a.group_name = p_group.group_name and a.outbox_id > v_start;
    v_table := (
        select to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name))
        from pgtrickle_internal.pgt_outboxes o
        where o.outbox_name = p_group.outbox_name and o.kind = 'stream_table'
    );
    if v_table is not null then
        execute format($$
            insert into %I.pgt_consumer_claim_check_acks (group_name, outbox_name, outbox_id)
            select $1, $2, e.id
            from %s e
            where e.id > $3 and e.id <@ $4 and e.is_claim_check
            on conflict do nothing -- somebody is acknowledging it
            $$, 'pgtrickle', v_table)
        using p_group.group_name, p_group.outbox_name, v_start, v_seen;
    end if;
    return v_last;
end;
$function$;

-- Creates a consumer group: it begins with rows that commit from now on (latest) or with all rows (earliest). Returns its id.
-- Writes pgt_consumer_groups, pgt_lease_log.
create function pgtrickle.create_consumer_group(
    p_group text, p_outbox text, p_auto_offset_reset text default 'latest', p_max_attempts integer default null
)
    returns uuid
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_outbox text;
    v_group  pgtrickle.pgt_consumer_groups;
begin
    if (octet_length(p_group) between 1 and 63 and p_auto_offset_reset in ('latest', 'earliest')) is not true or p_max_attempts < 1 then
        raise exception using errcode = '22023',
            message = 'p_group must have 1 to 63 bytes, p_auto_offset_reset be latest or earliest, p_max_attempts be 1 or more',
            detail = format('Consumer group %L, p_auto_offset_reset %L, p_max_attempts %L.', p_group, p_auto_offset_reset, p_max_attempts),
            hint = 'latest is what commits from now on, earliest all rows; p_max_attempts null is any number.';
    end if;
    perform pgtrickle_internal.pgt_check_origin();
    v_outbox := pgtrickle_internal.pgt_outbox_name(p_outbox);
    insert into pgtrickle.pgt_consumer_groups (group_name, outbox_name, auto_offset_reset, max_attempts, start_id)
    values (p_group, v_outbox, p_auto_offset_reset, p_max_attempts, 0)
    on conflict (group_name) do nothing
    returning * into v_group;
    if found then
        perform pgtrickle_internal.pgt_start(v_group, case p_auto_offset_reset when 'earliest' then 0 end);
    else
        select g.* into v_group from pgtrickle.pgt_consumer_groups g where g.group_name = p_group;
    end if;
    if (v_group.outbox_name, v_group.auto_offset_reset, v_group.max_attempts) is distinct from
        (v_outbox, p_auto_offset_reset, p_max_attempts) then
        raise exception using errcode = '42710', message = 'consumer group already exists: ' || p_group,
            detail = format('It consumes %s, %s, with max_attempts %s.', v_group.outbox_name, v_group.auto_offset_reset,
                coalesce(v_group.max_attempts::text, 'null')),
            hint = 'Choose another name, or drop_consumer_group first, which forgets where it stands.';
    end if;
    return v_group.group_id;
end;
$function$;
comment on function pgtrickle.create_consumer_group(text, text, text, int4) is 'Creates a consumer group. (Sluice: pgtrickle in pgtrickle)';

-- Drops a consumer group: with its leases, dead letters and acknowledgements. The outbox stays as it is.
-- Writes pgt_consumer_groups and all tables that refer to it.
create function pgtrickle.drop_consumer_group(p_group text, p_if_exists boolean default false)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group integer;
begin
    if p_if_exists and not exists (select from pgtrickle.pgt_consumer_groups g where g.group_name = p_group) then
        return;
    end if;
    v_group := (pgtrickle_internal.pgt_group(p_group)).group_no;
    -- Polls that run end first, and those that wait find nothing.
    perform pgtrickle_internal.pgt_lock_group(v_group, p_group);
    delete from pgtrickle_internal.pgt_lease_log l where l.group_no = v_group;
    delete from pgtrickle_internal.pgt_passed_rows p where p.group_no = v_group;
    delete from pgtrickle_internal.pgt_consumers c where c.group_no = v_group;
    delete from pgtrickle.pgt_consumer_dead_letters d where d.group_name = p_group;
    delete from pgtrickle.pgt_consumer_claim_check_acks a where a.group_name = p_group;
    delete from pgtrickle.pgt_consumer_groups g where g.group_no = v_group;
end;
$function$;
comment on function pgtrickle.drop_consumer_group(text, bool) is 'Drops a consumer group. (Sluice: pgtrickle in pgtrickle)';

-- Grants a consumer rows, for poll_outbox(), whose settings it runs with: those of sets, with the attempts of each; or if is_whole all
-- beyond first_id up to last_id, which come for the first time. The name of the outbox is null if there are none. Each statement costs as
-- much as tens of rows.
-- Reads the outbox; writes pgt_lease_log, pgt_consumers, pgt_passed_rows.
create function pgtrickle_internal.pgt_grant(
    p_group text, p_consumer text, p_batch_size integer, p_visibility_seconds integer, p_event_types text[],
    out outbox_name text, out is_whole boolean, out first_id bigint, out last_id bigint, out sets int8multirange[], out attempts integer[],
    out lease_id bigint
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group record;
    v_now   timestamptz;
    v_head  record;
    v_next  record;
    v_no    bigint;
    v_floor bigint;
    v_rows  bigint;
    v_ids   int8multirange;
    v_tries integer;
    v_until timestamptz;
begin
    -- What every poll does is in few statements; what only some do is in functions.
    -- The lock is taken with the group, if it is free: what other consumers were granted is read after it.
    select g.group_no, g.outbox_name, g.paused_at, g.passes_over, g.ordered,
           exists (select from pgtrickle_internal.pgt_consumers c where c.group_no = g.group_no and c.consumer_id = p_consumer) as known,
           pg_try_advisory_xact_lock(-303097264, g.group_no) as locked
    into v_group
    from pgtrickle.pgt_consumer_groups g
    where g.group_name = p_group;
    if v_group.known is not true or current_setting('transaction_isolation') <> 'read committed' then
        perform pgtrickle_internal.pgt_group(p_group, p_consumer, 'poll_outbox');
    end if;
    if p_batch_size is null or p_batch_size < 1 or p_visibility_seconds is null or p_visibility_seconds < 1 then
        raise exception using errcode = '22023', message = 'p_batch_size, p_visibility_seconds: each must be 1 or more',
            detail = 'Consumer group ' || p_group || '.',
            hint = 'Give the most rows to be granted, and how long they take to process.';
    -- attach() made it just now or has yet to look, or it is paused
    elsif v_group.group_no is null or v_group.ordered is null or v_group.paused_at is not null then
        return;
    elsif not v_group.locked then -- another consumer polls
        if v_group.known and p_event_types is null and not v_group.passes_over and not v_group.ordered
           and not pgtrickle_internal.pgt_is_left(v_group.group_no, v_group.outbox_name, p_consumer, p_batch_size) then
            return;
        end if;
        if not pgtrickle_internal.pgt_lock_group(v_group.group_no, p_group, true) then
            return;
        end if;
    end if;
    v_now := clock_timestamp();
    v_until := v_now + make_interval(secs => p_visibility_seconds);
    if p_event_types is not null and not pgtrickle_internal.pgt_sort_rows(pgtrickle_internal.pgt_group(p_group), p_event_types, p_consumer,
        v_now) then
        return; -- it commits what it holds at this moment
    end if;

    if v_group.ordered then
        select g.ids, g.attempts into sets, attempts
        from pgtrickle_internal.pgt_grant_lanes(pgtrickle_internal.pgt_group(p_group), p_consumer, p_batch_size, v_now, v_until) g;
    else
        select h.no, h.cur, o.* into v_head
        from (
            select l.no, l.cur, l.floor_no
            from pgtrickle_internal.pgt_lease_log l
            where l.group_no = v_group.group_no and l.lane = 0
            order by l.no desc
            limit 1
        ) h
        cross join lateral (
            select coalesce(min(l.no), h.no + 1) as floor_no,
                   coalesce(bool_or(l.state = 'leased' and l.consumer_id = p_consumer), false) as held,
                   coalesce(bool_or(l.state = 'leased' and l.until <= v_now), false) as due,
                   coalesce(bool_or(l.state = 'gap' and (l.xids is null or exists
                       (select from unnest(l.xids) x where pg_visible_in_snapshot(x, (select pg_current_snapshot()))))), false) as gaps
            from pgtrickle_internal.pgt_lease_log l
            where l.group_no = v_group.group_no and l.lane = 0 and l.no >= h.floor_no and l.state <> 'done'
        ) o;
        if v_head.no is null then -- the group was dropped while this one waited
            perform pgtrickle_internal.pgt_group(p_group);
        end if;
        v_no := v_head.no;
        first_id := v_head.cur;
        v_floor := v_head.floor_no;
        if v_no - v_floor > 64 then
            update pgtrickle_internal.pgt_lease_log l
            set no = v_no + 1, cur = v_head.cur, floor_no = v_floor + 1
            where l.ctid = (
                select o.ctid
                from pgtrickle_internal.pgt_lease_log o
                where o.group_no = v_group.group_no and o.lane = 0 and o.no = v_floor and o.state <> 'done'
                for update skip locked -- not one that its consumer commits at this moment
            );
            v_no := v_no + found::integer;
            v_floor := v_floor + found::integer;
        end if;
        if (v_head.held or v_head.due) and p_event_types is null then
            select g.ids, g.attempts into v_ids, v_tries
            from pgtrickle_internal.pgt_grant_again(
                pgtrickle_internal.pgt_group(p_group), 0::smallint, v_floor, v_head.held, p_consumer, p_batch_size, v_now, v_until
            ) g;
        end if;
        if v_ids is null and (v_group.passes_over or p_event_types is not null) then
            select g.ids, g.attempts into v_ids, v_tries
            from pgtrickle_internal.pgt_grant_passed(pgtrickle_internal.pgt_group(p_group), v_floor, p_event_types, p_consumer,
                p_batch_size, v_until) g;
        end if;
        if v_ids is null and p_event_types is null then
            -- What comes next, and what has come of gaps.
            v_tries := 1;
            v_next := pgtrickle_internal.pgt_ids_after(v_group.outbox_name, v_head.cur, p_batch_size);
            last_id := v_next.last_id;
            v_rows := v_next.row_count;
            if not v_head.gaps and last_id - v_head.cur = v_rows then
                is_whole := true;
                v_ids := int8multirange(int8range(v_head.cur, last_id, '(]'));
            elsif v_head.gaps or v_rows > 0 then
                select s.ids, s.last_no, s.cur into v_ids, v_no, last_id
                from pgtrickle_internal.pgt_settle(
                    v_group.group_no, v_group.outbox_name, v_floor, v_no, v_head.cur, last_id, v_rows, v_now, p_batch_size
                ) s;
            end if;
            if v_ids is null and v_head.cur > (pgtrickle_internal.pgt_outbox_ids(v_group.outbox_name)).drawn_id then
                raise warning 'the sequence of outbox % is behind id %, up to which group % was granted: tick() has to put it right',
                    v_group.outbox_name, v_head.cur, p_group;
            elsif v_ids is not null then
                insert into pgtrickle_internal.pgt_lease_log
                    (group_no, no, cur, floor_no, state, ids, lease_id, consumer_id, until, attempts)
                values (
                    v_group.group_no, v_no + 1, last_id, v_floor, 'leased', v_ids, pg_current_xact_id()::text::bigint, p_consumer, v_until,
                        v_tries
                );
            end if;
        end if;
    end if;
    if not v_group.known then
        insert into pgtrickle_internal.pgt_consumers (group_no, consumer_id)
        select v_group.group_no, p_consumer -- unless another open transaction does so
        where pg_try_advisory_xact_lock(hashtextextended('sluice consumer of -303097264 ' || v_group.group_no || ' ' || p_consumer, 0))
        on conflict do nothing;
    end if;

    if sets is null and v_ids is null then
        return;
    elsif sets is null and is_whole is null then
        sets := array[v_ids];
        attempts := array[v_tries];
    end if;
    lease_id := pg_current_xact_id_if_assigned()::text::bigint;
    outbox_name := v_group.outbox_name;
end;
$function$;

-- Polls for no more rows than have as much text as payload and headers, but always one, and gives the others back. See poll_outbox().
create function pgtrickle_internal.pgt_poll_bytes(
    p_group text, p_consumer text, p_batch_size integer, p_visibility_seconds integer, p_event_types text[], p_max_bytes bigint
)
    returns table (
        id bigint, created_at timestamptz, event_type text, aggregate_id text, headers jsonb, inserted_count integer,
        deleted_count integer, is_claim_check boolean, payload jsonb, attempts integer, lease_id bigint
    )
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_rows  bigint := 0::bigint;
    v_bytes bigint := 0::bigint;
    v_over  bigint[] := array[]::bigint[]; -- ids of rows beyond p_max_bytes
begin
    if p_max_bytes < 1 then
        raise exception using errcode = '22023', message = 'p_max_bytes must be 1 or more',
            detail = 'Consumer group ' || p_group || '.', hint = 'Leave it out for as many rows as p_batch_size says, whatever their size.';
    end if;
    for id, created_at, event_type, aggregate_id, headers, inserted_count, deleted_count, is_claim_check, payload, attempts, lease_id in
        select p.* from pgtrickle.poll_outbox(p_group, p_consumer, p_batch_size, p_visibility_seconds, p_event_types) p
    loop
        v_bytes := v_bytes + octet_length(concat(payload, headers));
        if v_bytes > p_max_bytes and v_rows > 0 then
            v_over := v_over || id;
        else
            v_rows := v_rows + 1;
            return next;
        end if;
    end loop;
    if cardinality(v_over) > 0 then
        perform pgtrickle.release_rows(p_group, p_consumer, v_over);
    end if;
end;
$function$;

-- Raises LeaseLost if a consumer has lost its lease p_lease_id or, if that is null, holds nothing of p_ids and has not committed them
-- before.
-- Reads pgt_lease_log.
--
-- Without a lease's id, a commit is taken for a repeated one, which is no error, if a commit reached as far and no lease was granted since.
create function pgtrickle_internal.pgt_require_lease(p_group pgtrickle.pgt_consumer_groups, p_consumer text, p_lease_id bigint, p_ids
    int8multirange)
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if p_lease_id is not null and not exists (
        select
        from pgtrickle_internal.pgt_lease_log l
        where l.group_no = p_group.group_no and l.consumer_id = p_consumer and l.lease_id = p_lease_id
          and (l.state = 'leased' or l.committed_at is not null) and not l.lost
    ) or p_lease_id is null and not exists (
        select
        from pgtrickle_internal.pgt_lease_log c
        where c.group_no = p_group.group_no and c.consumer_id = p_consumer and not c.lost and c.committed_id >= upper(p_ids) - 1
          and not exists (
              select
              from pgtrickle_internal.pgt_lease_log l
              where l.group_no = p_group.group_no
                and (
                    l.state = 'leased' and (l.ids @> (upper(p_ids) - 1) or l.consumer_id = p_consumer and l.leased_at > c.committed_at)
                    or l.lost and l.consumer_id = p_consumer and l.ids && p_ids
                        and (l.leased_at > c.committed_at or c.committed_id > upper(p_ids) - 1 and
                            (c.state = 'done' and c.ids @> (upper(p_ids) - 1)) is not true)
                )
          )
    ) then
        raise exception using errcode = '55000',
            message = format('lease lost: consumer %s of group %s', p_consumer, p_group.group_name),
            detail = 'It holds none of these rows: its time ran out, the group was moved, its name has polled again, or it never had them.',
            hint = 'Roll back the work. If it took too long, take a longer visibility timeout, or call extend_lease.';
    end if;
end;
$function$;

-- Takes rows, null for all, out of the leases of a consumer, or only out of lease p_lease_id. Returns them for each lease.
-- Reads and writes pgt_lease_log; reads pgt_passed_rows. LeaseLost if the consumer neither holds one nor has committed it.
create function pgtrickle_internal.pgt_take_rows(
    p_group pgtrickle.pgt_consumer_groups, p_consumer text, p_ids bigint[], p_lease_id bigint, p_commits boolean
)
    returns table (lane smallint, ids int8multirange, attempts integer)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_left  int8multirange := coalesce( -- not found yet
        (select range_agg(int8range(least(i.id, 9223372036854775806), least(i.id, 9223372036854775806), '[]')) from unnest(p_ids) i (id)
            where i.id is not null), '{}'
    );
    v_lease record;
begin
    for v_lease in
        select l.lane, l.no, l.ids, l.attempts
        from pgtrickle_internal.pgt_lease_heads(p_group) h
        join pgtrickle_internal.pgt_lease_log l on l.group_no = p_group.group_no and l.lane = h.lane and l.no >= h.floor_no
        where l.state = 'leased' and l.consumer_id = p_consumer and not l.lost and (p_ids is null or l.ids && v_left)
          and (p_lease_id is null or l.lease_id = p_lease_id)
        order by l.lane, l.no
        for update of l
    loop
        lane := v_lease.lane;
        ids := case when p_ids is null then v_lease.ids else v_lease.ids * v_left end;
        attempts := v_lease.attempts;
        if lane > 0 and not p_commits then -- later rows of a key do not pass those that are given back
            ids := v_lease.ids * int8multirange(int8range(lower(ids), null));
        end if;
        update pgtrickle_internal.pgt_lease_log l
        set ids = case when isempty(l.ids - pgt_take_rows.ids) then l.ids else l.ids - pgt_take_rows.ids end,
            state = case when isempty(l.ids - pgt_take_rows.ids) then 'done' else 'leased' end,
            committed_at = case when p_commits then clock_timestamp() else l.committed_at end,
            committed_id = case when p_commits then upper(pgt_take_rows.ids) - 1 else l.committed_id end
        where l.group_no = p_group.group_no and l.lane = v_lease.lane and l.no = v_lease.no;
        v_left := v_left - ids;
        return next;
    end loop;
    if exists (
        select
        from pgtrickle_internal.pgt_lease_heads(p_group) h
        join pgtrickle_internal.pgt_lease_log l on l.group_no = p_group.group_no and l.lane = h.lane and l.no >= h.floor_no
        where l.state = 'leased' and l.ids && v_left
    ) or not isempty(v_left) and exists (
        select from pgtrickle_internal.pgt_passed_rows p where p.group_no = p_group.group_no and p.ids && v_left
    ) then
        perform pgtrickle_internal.pgt_require_lease(p_group, p_consumer, -1, null); -- others have them
    elsif p_lease_id is null and not isempty(v_left) or p_lease_id is not null and v_lease.no is null then
        perform pgtrickle_internal.pgt_require_lease(p_group, p_consumer, p_lease_id, v_left);
    end if;
end;
$function$;

-- Commits rows up to an id: those that a consumer holds. Returns the highest id committed now. LeaseLost if it holds none, but 0 if it has
-- committed this id before, with a warning where it has committed a higher one.
-- Writes pgt_lease_log. With p_lease_id, which poll_outbox returned, LeaseLost also if the consumer's name has polled again since.
create function pgtrickle.commit_offset(p_group text, p_consumer text, p_last_offset bigint, p_lease_id bigint default null)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $function$
declare
    v_offset bigint := least(p_last_offset, 9223372036854775806); -- one more must be a number
    v_upto   int8multirange := int8multirange(int8range(null, v_offset, '(]'));
    v_group  integer;
    v_floor  bigint;
    v_ended  bigint;
    v_last   bigint;
begin
    if p_last_offset is null then
        raise exception using errcode = '22023', message = 'p_last_offset must not be null',
            detail = format('Consumer group %s, consumer %s.', p_group, p_consumer),
            hint = 'Give the id of the last row that was handled.';
    end if;
    select g.group_no, n.floor_no into v_group, v_floor
    from pgtrickle.pgt_consumer_groups g
    cross join lateral (
        select l.floor_no from pgtrickle_internal.pgt_lease_log l where l.group_no = g.group_no and l.lane = 0 order by l.no desc limit 1
    ) n
    where g.group_name = p_group;
    -- A poll that moves a lease to the log's head meanwhile moves it above this floor, too.
    for v_ended in -- one, as a rule: a loop costs less than an aggregate
        update pgtrickle_internal.pgt_lease_log l
        set state = case when upper(l.ids) <= v_offset + 1 then 'done' else 'leased' end,
            ids = case when upper(l.ids) <= v_offset + 1 then l.ids else l.ids - v_upto end,
            committed_at = clock_timestamp(),
            committed_id = upper(l.ids * v_upto) - 1
        where l.group_no = v_group and l.lane = 0 and l.no >= v_floor
          and l.state = 'leased' and l.consumer_id = p_consumer and lower(l.ids) <= v_offset
          and (p_lease_id is null or l.lease_id = p_lease_id)
        returning l.committed_id
    loop
        v_last := greatest(v_last, v_ended);
    end loop;
    if v_last is null then
        v_last := pgtrickle_internal.pgt_commit_lanes(pgtrickle_internal.pgt_group(p_group, p_consumer), p_consumer, v_offset, p_lease_id);
    end if;
    if v_last is null then
        perform pgtrickle_internal.pgt_require_lease(pgtrickle_internal.pgt_group(p_group, p_consumer), p_consumer, p_lease_id, v_upto);
        if exists (
            select from pgtrickle_internal.pgt_lease_log l
            where l.group_no = v_group and l.consumer_id = p_consumer and l.committed_id > v_offset and
                (p_lease_id is null or l.lease_id = p_lease_id)
        ) then
            raise warning 'nothing is committed: consumer % of group % has committed a higher id than % before', p_consumer, p_group,
                p_last_offset;
        end if;
    end if;
    return coalesce(v_last, 0);
end;
$function$;
comment on function pgtrickle.commit_offset(text, text, int8, int8) is 'Commits rows up to an id. (Sluice: pgtrickle in pgtrickle)';

-- Acknowledges leased rows: in any order. Returns how many. LeaseLost if the consumer neither holds one nor has committed it.
-- Writes pgt_lease_log. With p_lease_id, which poll_outbox returned, LeaseLost also if the consumer's name has polled again since.
create function pgtrickle.ack_rows(p_group text, p_consumer text, p_ids bigint[], p_lease_id bigint default null)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group pgtrickle.pgt_consumer_groups := pgtrickle_internal.pgt_group(p_group, p_consumer, 'ack_rows');
begin
    return (
        select coalesce(sum(pgtrickle_internal.pgt_count_ids(t.ids)), 0)::bigint
        from pgtrickle_internal.pgt_take_rows(v_group, p_consumer, coalesce(p_ids, '{}'), p_lease_id, true) t
    );
end;
$function$;
comment on function pgtrickle.ack_rows(text, text, int8[], int8) is 'Acknowledges leased rows. (Sluice: pgtrickle in pgtrickle)';

-- Makes leased rows dead letters. Returns how many. Locks only the consumer's own leases.
-- Reads the outbox; writes pgt_lease_log, pgt_consumer_dead_letters. LeaseLost as in ack_rows.
create function pgtrickle.reject_rows(p_group text, p_consumer text, p_ids bigint[], p_error text, p_lease_id bigint default null)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group pgtrickle.pgt_consumer_groups := pgtrickle_internal.pgt_group(p_group, p_consumer, 'reject_rows');
begin
    return (
        select coalesce(sum(pgtrickle_internal.pgt_dead_letter(v_group, t.ids, p_consumer, t.attempts, p_error)), 0)::bigint
        from pgtrickle_internal.pgt_take_rows(v_group, p_consumer, coalesce(p_ids, '{}'), p_lease_id, true) t
    );
end;
$function$;
comment on function pgtrickle.reject_rows(text, text, int8[], text, int8) is
    'Makes leased rows dead letters. (Sluice: pgtrickle in pgtrickle)';

-- Gives rows back: leased ones of a consumer, null for all, to be granted again after p_delay. Returns how many.
-- Writes pgt_lease_log, pgt_consumer_dead_letters. LeaseLost as in ack_rows.
--
-- With p_error it was an attempt; rows that had all their attempts become dead letters. Of an ordered outbox all that the consumer holds
-- behind a row in its lane is given back with it, which was no attempt. Polls of the group wait until the transaction ends.
create function pgtrickle.release_rows(
    p_group text, p_consumer text, p_ids bigint[] default null, p_delay interval default '0', p_error text default null,
    p_lease_id bigint default null
)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group pgtrickle.pgt_consumer_groups := pgtrickle_internal.pgt_group(p_group, p_consumer, 'release_rows');
    v_given int8multirange;
    v_back  int8multirange;
    v_rows  record;
    v_count bigint := 0::bigint;
begin
    if (p_delay >= interval '0') is not true then
        raise exception using errcode = '22023', message = 'p_delay must be zero or more',
            detail = format('Consumer group %s, consumer %s.', p_group, p_consumer),
            hint = 'Give the time after which the rows are granted again.';
    end if;
    perform pgtrickle_internal.pgt_lock_group(v_group.group_no, p_group);
    v_given := (
        select coalesce(range_agg(int8range(i.id, i.id, '[]')), '{}')
        from unnest(p_ids) i (id)
        where i.id < 9223372036854775807
        having p_ids is not null and p_error is not null -- no attempt of any: they stay together
    );
    for v_rows in
        select t.lane, t.attempts, t.ids as taken, t.ids * coalesce(v_given, t.ids) as ids, t.ids - coalesce(v_given, t.ids) as behind
        from pgtrickle_internal.pgt_take_rows(v_group, p_consumer, p_ids, p_lease_id, false) t
    loop
        v_count := v_count + pgtrickle_internal.pgt_count_ids(v_rows.taken);
        v_back := v_rows.ids;
        if p_error is not null and v_rows.attempts >= v_group.max_attempts then
            perform pgtrickle_internal.pgt_dead_letter(v_group, v_rows.ids, p_consumer, v_rows.attempts, p_error);
            v_back := '{}';
        end if;
        insert into pgtrickle_internal.pgt_lease_log (group_no, lane, no, cur, floor_no, state, ids, until, attempts)
        select h.group_no, h.lane, h.no + b.no, h.cur, h.floor_no, 'leased', b.ids, b.until, b.attempts
        from (
            select l.group_no, l.lane, l.no, l.cur, l.floor_no
            from pgtrickle_internal.pgt_lease_log l
            where l.group_no = v_group.group_no and l.lane = v_rows.lane
            order by l.no desc
            limit 1
        ) h
        cross join (
            values (1, v_back, case when p_delay > interval '0' then clock_timestamp() + p_delay else '-infinity' end,
                    v_rows.attempts - (p_error is null)::integer),
                   (2, v_rows.behind, '-infinity', v_rows.attempts - 1)
        ) b (no, ids, until, attempts)
        where not isempty(b.ids);
    end loop;
    return v_count;
end;
$function$;
comment on function pgtrickle.release_rows(text, text, int8[], "interval", text, int8) is
    'Gives rows back. (Sluice: pgtrickle in pgtrickle)';

-- Takes a consumer out of its group: gives back all that it holds, and no alert expects it any more. A poll brings it in again.
-- Writes pgt_lease_log, pgt_consumers.
create function pgtrickle.leave_group(p_group text, p_consumer text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle.release_rows(p_group, p_consumer);
    delete from pgtrickle_internal.pgt_consumers c
    using pgtrickle.pgt_consumer_groups g
    where g.group_name = p_group and c.group_no = g.group_no and c.consumer_id = p_consumer;
end;
$function$;
comment on function pgtrickle.leave_group(text, text) is 'Takes a consumer out of its group. (Sluice: pgtrickle in pgtrickle)';

-- Gives dead letters back to their group: due at once with no attempts counted, if the outbox still has them. Returns how many.
-- Reads the outbox; writes pgt_consumer_dead_letters, pgt_lease_log.
create function pgtrickle.replay_dead_letters(p_group text, p_ids bigint[] default null)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group pgtrickle.pgt_consumer_groups := pgtrickle_internal.pgt_group(p_group, p_function => 'replay_dead_letters');
    v_ids   int8multirange;
    v_count bigint;
begin
    perform pgtrickle_internal.pgt_lock_group(v_group.group_no, p_group);
    select pgtrickle_internal.pgt_outbox_visible(v_group.outbox_name, range_agg(int8range(d.id, d.id, '[]'))) into v_ids
    from pgtrickle.pgt_consumer_dead_letters d
    where d.group_name = p_group and (p_ids is null or d.id = any (p_ids));
    delete from pgtrickle.pgt_consumer_dead_letters d where d.group_name = p_group and v_ids @> d.id;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform pgtrickle_internal.pgt_give_back(v_group, v_ids);
    end if;
    return v_count;
end;
$function$;
comment on function pgtrickle.replay_dead_letters(text, int8[]) is
    'Gives dead letters back to their group. (Sluice: pgtrickle in pgtrickle)';

-- Deletes dead letters of a group: those of p_ids, or all. Returns how many. Writes pgt_consumer_dead_letters.
create function pgtrickle.discard_group_dead_letters(p_group text, p_ids bigint[] default null)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_count bigint;
begin
    perform pgtrickle_internal.pgt_group(p_group, p_function => 'discard_group_dead_letters');
    delete from pgtrickle.pgt_consumer_dead_letters d where d.group_name = p_group and (p_ids is null or d.id = any (p_ids));
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;
comment on function pgtrickle.discard_group_dead_letters(text, int8[]) is
    'Deletes dead letters of a group. (Sluice: pgtrickle in pgtrickle)';

-- Extends all leases of a consumer: to now plus the extension, never to an earlier time. Returns that time, or now if it has no lease.
-- Writes pgt_lease_log. With p_lease_id, which poll_outbox returned, LeaseLost if that lease was lost.
create function pgtrickle.extend_lease(p_group text, p_consumer text, p_extension_seconds integer default 30, p_lease_id bigint default
    null)
    returns timestamptz
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group pgtrickle.pgt_consumer_groups := pgtrickle_internal.pgt_group(p_group, p_consumer);
    v_now   timestamptz := clock_timestamp();
    v_until timestamptz;
begin
    if p_extension_seconds is null or p_extension_seconds < 1 then
        raise exception using errcode = '22023', message = 'p_extension_seconds must be 1 or more',
            detail = 'Consumer group ' || p_group || ', consumer ' || p_consumer || '.',
            hint = 'Give how many seconds the work still takes.';
    end if;
    with extended as (
        update pgtrickle_internal.pgt_lease_log l
        set until = greatest(l.until, v_now + make_interval(secs => p_extension_seconds))
        where l.group_no = v_group.group_no and l.state = 'leased' and l.consumer_id = p_consumer and not l.lost and l.until > v_now
          and (p_lease_id is null or l.lease_id = p_lease_id)
        returning l.until
    )
    select max(e.until) into v_until from extended e;
    if v_until is null and p_lease_id is not null then
        perform pgtrickle_internal.pgt_require_lease(v_group, p_consumer, p_lease_id, null);
    end if;
    return coalesce(v_until, v_now);
end;
$function$;
comment on function pgtrickle.extend_lease(text, text, int4, int8) is 'Extends all leases of a consumer. (Sluice: pgtrickle in pgtrickle)';

-- Moves a group to an offset: the next row is the first above it; 0 is the beginning, null the end, as is any id not drawn yet. Ends all
-- leases. Returns the offset.
-- Reads the outbox; writes pgt_lease_log, pgt_consumer_dead_letters; notifies pg_trickle_alert.
create function pgtrickle.seek_offset(p_group text, p_consumer text, p_new_offset bigint)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group  pgtrickle.pgt_consumer_groups := pgtrickle_internal.pgt_group(p_group, p_consumer, 'seek_offset');
    v_offset bigint;
begin
    if p_new_offset < 0 then
        raise exception using errcode = '22023', message = 'p_new_offset must be zero or more',
            detail = 'Consumer group ' || p_group || ', offset ' || p_new_offset || '.', hint = '0 is the beginning, null the end.';
    end if;
    v_offset := pgtrickle_internal.pgt_start(v_group, p_new_offset);
    -- Dead letters that come again anyway are none any more.
    delete from pgtrickle.pgt_consumer_dead_letters d
    where d.group_name = p_group and d.id > v_offset
      and pgtrickle_internal.pgt_outbox_visible(v_group.outbox_name, int8multirange(int8range(d.id, d.id, '[]'))) is not null;
    perform pg_notify('pg_trickle_alert', jsonb_build_object(
        'type', 'consumer_seeked', 'group', p_group, 'consumer', left(p_consumer, 1000), 'outbox', v_group.outbox_name, 'offset', v_offset
    )::text);
    return v_offset;
end;
$function$;
comment on function pgtrickle.seek_offset(text, text, int8) is 'Moves a group to an offset. (Sluice: pgtrickle in pgtrickle)';

-- Records that a consumer is alive: at most once in ten seconds. Does not touch its leases.
-- Writes pgt_consumers.
create function pgtrickle.consumer_heartbeat(p_group text, p_consumer text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_group integer := (pgtrickle_internal.pgt_group(p_group, p_consumer)).group_no;
begin
    if not exists (select from pgtrickle_internal.pgt_consumers c where c.group_no = v_group and c.consumer_id = p_consumer) then
        insert into pgtrickle_internal.pgt_consumers (group_no, consumer_id)
        select v_group, p_consumer -- unless another open transaction does so
        where pg_try_advisory_xact_lock(hashtextextended('sluice consumer of -303097264 ' || v_group || ' ' || p_consumer, 0))
        on conflict do nothing;
    end if;
    update pgtrickle_internal.pgt_consumers c
    set heartbeat_at = clock_timestamp()
    where c.ctid = (
        select k.ctid
        from pgtrickle_internal.pgt_consumers k
        where k.group_no = v_group and k.consumer_id = p_consumer
          and (k.heartbeat_at is null or k.heartbeat_at < clock_timestamp() - interval '10 seconds')
        for update skip locked -- another session records one at this moment
    );
end;
$function$;
comment on function pgtrickle.consumer_heartbeat(text, text) is 'Records that a consumer is alive. (Sluice: pgtrickle in pgtrickle)';

-- Pauses a group: polls return nothing. Commits continue.
-- Writes pgt_consumer_groups.
create function pgtrickle.pause_group(p_group text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle_internal.pgt_group(p_group);
    update pgtrickle.pgt_consumer_groups g set paused_at = coalesce(g.paused_at, clock_timestamp()) where g.group_name = p_group;
end;
$function$;
comment on function pgtrickle.pause_group(text) is 'Pauses a group. (Sluice: pgtrickle in pgtrickle)';

-- Resumes a paused group.
-- Writes pgt_consumer_groups.
create function pgtrickle.resume_group(p_group text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle_internal.pgt_group(p_group);
    update pgtrickle.pgt_consumer_groups g
    set paused_at = null, resumed_at = clock_timestamp() -- it was not idle
    where g.group_name = p_group and g.paused_at is not null;
end;
$function$;
comment on function pgtrickle.resume_group(text) is 'Resumes a paused group. (Sluice: pgtrickle in pgtrickle)';

-- The consumers of each group and how far each has committed. A union: a join would read the log once for each consumer of a new table.
create view pgtrickle.pgt_consumer_offsets with (security_barrier) as
select g.outbox_name, g.group_name, c.consumer_id, c.last_offset, c.last_commit_at, c.last_heartbeat_at
from (
    select x.group_no, x.consumer_id, coalesce(max(x.committed_id), 0) as last_offset, max(x.committed_at) as last_commit_at,
           max(x.active_at) as last_heartbeat_at
    from (
        select l.group_no, l.consumer_id, l.committed_id, l.committed_at, greatest(l.leased_at, l.committed_at) as active_at, false as
            is_known
        from pgtrickle_internal.pgt_lease_log l
        where l.consumer_id is not null
        union all
        select k.group_no, k.consumer_id, null as committed_id, null as committed_at, greatest(k.heartbeat_at, k.registered_at), true
        from pgtrickle_internal.pgt_consumers k
    ) x
    group by x.group_no, x.consumer_id
    having bool_or(x.is_known)
) c
join pgtrickle.pgt_consumer_groups g on g.group_no = c.group_no
where (not exists (select from pgtrickle_internal.pgt_spec s where s.name = 'own_readers') or (
    select has_column_privilege(to_regclass(format('%I.%I', r.outbox_schema, r.outbox_table_name)), 'created_at', 'select')
    from pgtrickle_internal.pgt_outboxes r
    where r.outbox_name = g.outbox_name
));
comment on view pgtrickle.pgt_consumer_offsets is
    'The consumers of each group and how far each has committed. (Sluice: pgtrickle in pgtrickle)';

-- Leases of consumers: also those that have expired and were not granted again yet.
create view pgtrickle.pgt_consumer_leases with (security_barrier) as
select g.outbox_name, g.group_name, l.consumer_id, lower(l.ids) as first_id, upper(l.ids) - 1 as last_id, l.leased_at,
       l.until as visibility_until, l.attempts
from pgtrickle_internal.pgt_lease_log l
join pgtrickle.pgt_consumer_groups g on g.group_no = l.group_no
where l.state = 'leased' and l.consumer_id is not null and not l.lost
  and (not exists (select from pgtrickle_internal.pgt_spec s where s.name = 'own_readers') or (
    select has_column_privilege(to_regclass(format('%I.%I', r.outbox_schema, r.outbox_table_name)), 'created_at', 'select')
    from pgtrickle_internal.pgt_outboxes r
    where r.outbox_name = g.outbox_name
));
comment on view pgtrickle.pgt_consumer_leases is 'Leases of consumers. (Sluice: pgtrickle in pgtrickle)';

-- Leases that have not expired.
create view pgtrickle.pgt_consumer_active_leases as
select l.outbox_name as outbox, l.group_name, l.consumer_id, l.first_id, l.last_id, l.leased_at, l.visibility_until, l.attempts
from pgtrickle.pgt_consumer_leases l
where l.visibility_until > clock_timestamp();
comment on view pgtrickle.pgt_consumer_active_leases is 'Leases that have not expired. (Sluice: pgtrickle in pgtrickle)';

-- The consumers of each group. Healthy: heartbeat, lease or commit within a minute.
create view pgtrickle.pgt_consumer_status as
select o.outbox_name as outbox, o.group_name, o.consumer_id, o.last_offset, o.last_commit_at, o.last_heartbeat_at,
       o.last_heartbeat_at > clock_timestamp() - interval '60 seconds' as healthy
from pgtrickle.pgt_consumer_offsets o;
comment on view pgtrickle.pgt_consumer_status is 'The consumers of each group. (Sluice: pgtrickle in pgtrickle)';

-- How far each group is behind its outbox.
create view pgtrickle.pgt_consumer_group_lag with (security_barrier) as
select g.outbox_name as outbox, g.group_name, s.committed_offset, s.max_id, s.lag_rows,
       (select count(*) from pgtrickle_internal.pgt_consumers c where c.group_no = g.group_no) as consumer_count, s.leased_rows
from pgtrickle.pgt_consumer_groups g
cross join lateral pgtrickle_internal.pgt_group_state(g) s
where (not exists (select from pgtrickle_internal.pgt_spec s where s.name = 'own_readers') or (
    select has_column_privilege(to_regclass(format('%I.%I', r.outbox_schema, r.outbox_table_name)), 'created_at', 'select')
    from pgtrickle_internal.pgt_outboxes r
    where r.outbox_name = g.outbox_name
));
comment on view pgtrickle.pgt_consumer_group_lag is 'How far each group is behind its outbox. (Sluice: pgtrickle in pgtrickle)';

-- How far a group is behind, or all: the consumers, and what the group has not committed. A group without consumers has one row.
-- Reads pgt_lease_log, pgt_consumers, the outbox.
create function pgtrickle.consumer_lag(p_group text default null)
    returns table (
        group_name text, consumer_id text, last_offset bigint, lag_rows bigint, last_heartbeat timestamptz,
        heartbeat_age_seconds numeric, healthy boolean
    )
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- else it is planned for each call, which takes three times as long as running it
    set jit = off
as $function$
begin
    if p_group is not null then
        perform pgtrickle_internal.pgt_group(p_group);
    end if;
    return query
    with states as materialized ( -- once for each group, not for each of its consumers
        select g.group_name, s.committed_offset, s.lag_rows
        from pgtrickle.pgt_consumer_groups g
        cross join lateral pgtrickle_internal.pgt_group_state(g) s
        where g.group_name = p_group or p_group is null
    )
    select s.group_name, c.consumer_id, coalesce(c.last_offset, s.committed_offset), s.lag_rows, c.last_heartbeat_at,
           round(extract(epoch from clock_timestamp() - c.last_heartbeat_at)::numeric, 3), c.healthy
    from states s
    left join pgtrickle.pgt_consumer_status c on c.group_name = s.group_name
    order by s.group_name, c.consumer_id;
end;
$function$;
comment on function pgtrickle.consumer_lag(text) is 'How far a group is behind, or all. (Sluice: pgtrickle in pgtrickle)';

-- Deletes finished rows of the lease log, but for the latest of each consumer. Keeps lost leases for a day.
-- Writes pgt_lease_log.
create function pgtrickle_internal.pgt_trim_leases()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- one lane at a time, by the key, whatever is known of the table
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $function$
declare
    v_head record;
begin
    for v_head in
        select g.group_no, h.lane, least(h.floor_no - 256, h.no) as upto
        from pgtrickle.pgt_consumer_groups g
        cross join lateral pgtrickle_internal.pgt_lease_heads(g) h
        where h.floor_no > 256
    loop
        delete from pgtrickle_internal.pgt_lease_log l
        where l.group_no = v_head.group_no and l.lane = v_head.lane and l.no = any (array(
            select d.no
            from (
                select o.no, o.consumer_id, not o.lost or o.leased_at < clock_timestamp() - interval '1 day' as is_over,
                       o.no = max(o.no) over consumer or o.committed_at = max(o.committed_at) over consumer
                           or o.committed_id = max(o.committed_id) over consumer as is_latest
                from pgtrickle_internal.pgt_lease_log o
                where o.group_no = v_head.group_no and o.lane = v_head.lane and o.no < v_head.upto and o.state = 'done'
                window consumer as (partition by o.consumer_id)
            ) d
            where d.is_over and (d.is_latest is not true or not exists (
                select from pgtrickle_internal.pgt_consumers c where c.group_no = v_head.group_no and c.consumer_id = d.consumer_id
            ))
        ));
    end loop;
end;
$function$;

-- Alerts consumers silent for a minute, once; deletes those silent for long without a running lease; alerts or evicts idle groups,
-- and alerts, once, a transaction that holds a group for longer than setting poll_wait_ms.
-- Writes pgt_consumers, pgt_consumer_groups; notifies pg_trickle_alert. Skips rows that an open transaction has locked.
create function pgtrickle_internal.pgt_watch_consumers()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set jit = off
    set lock_timeout = '100ms'
as $function$
declare
    v_alert jsonb;
    v_idle  record;
    v_held  record;
    v_stale interval := make_interval(days =>
        (select s.value from pgtrickle_internal.pgt_setting('consumer_stale_offset_threshold_days') s)::integer);
    v_dead  interval := case when (select s.value from pgtrickle_internal.pgt_setting('consumer_cleanup_enabled') s) = 'on' then
        least(v_stale, make_interval(hours => (select s.value from pgtrickle_internal.pgt_setting('consumer_dead_threshold_hours')
            s)::integer)) end;
begin
    for v_alert in
        with seen as materialized (
            select c.group_no, c.healthy as was_healthy, d.dead, s.*
            from pgtrickle.pgt_consumer_status s
            join pgtrickle.pgt_consumer_groups g on g.group_name = s.group_name
            join pgtrickle_internal.pgt_consumers c on c.group_no = g.group_no and c.consumer_id = s.consumer_id
            cross join lateral (
                select coalesce(s.last_heartbeat_at < clock_timestamp() - v_dead, false) and not exists (
                    select
                    from pgtrickle_internal.pgt_lease_log l
                    where l.group_no = c.group_no and l.consumer_id = c.consumer_id and l.state = 'leased' and not l.lost
                      and l.until > clock_timestamp()
                ) as dead
            ) d
            where (c.healthy <> s.healthy or d.dead)
              and greatest(c.heartbeat_at, c.registered_at) <= s.last_heartbeat_at -- no heartbeat meanwhile
            for update of c skip locked
        ),
        forgotten as (
            delete from pgtrickle_internal.pgt_consumers c using seen s where s.dead and c.group_no = s.group_no and c.consumer_id =
                s.consumer_id
        ),
        noted as (
            update pgtrickle_internal.pgt_consumers c
            set healthy = s.healthy
            from seen s
            where not s.dead and c.group_no = s.group_no and c.consumer_id = s.consumer_id
        )
        select jsonb_build_object(
            'type', 'consumer_unhealthy', 'outbox', s.outbox, 'group', left(s.group_name, 63), 'consumer', left(s.consumer_id, 1000),
            'last_heartbeat_at', s.last_heartbeat_at
        )
        from seen s
        where s.was_healthy and not s.healthy
        union all
        select jsonb_build_object(
            'type', 'consumer_reaped', 'outbox', s.outbox, 'group', left(s.group_name, 63), 'consumer', left(s.consumer_id, 1000),
            'last_offset', s.last_offset
        )
        from seen s
        where s.dead
    loop
        perform pg_notify('pg_trickle_alert', v_alert::text);
    end loop;

    for v_held in
        select g.group_no, g.group_name, g.outbox_name, h.holder, h.since
        from pgtrickle_internal.pgt_held_groups() h
        join pgtrickle.pgt_consumer_groups g on g.group_no = h.group_no
        where h.is_long and g.held_since is distinct from h.since
        for update of g skip locked
    loop
        update pgtrickle.pgt_consumer_groups g set held_since = v_held.since where g.group_no = v_held.group_no;
        perform pg_notify('pg_trickle_alert', jsonb_build_object(
            'type', 'consumer_group_held', 'outbox', v_held.outbox_name, 'group', left(v_held.group_name, 63), 'holder', v_held.holder,
            'since', v_held.since
        )::text);
    end loop;

    -- A group is idle if it had something to consume and no activity for some time; polls that find nothing leave no trace.
    for v_idle in
        select w.group_no, w.group_name, w.outbox_name, o.idle_policy, s.lag_rows, i.idle
        from pgtrickle.pgt_consumer_groups w
        join pgtrickle_internal.pgt_outboxes o on o.outbox_name = w.outbox_name
        cross join lateral (select clock_timestamp() - coalesce(o.idle_after, v_stale) as since) t
        cross join lateral (
            select w.paused_at is null and greatest(w.created_at, w.resumed_at) < t.since
               and not exists (
                   select
                   from pgtrickle_internal.pgt_consumers c
                   where c.group_no = w.group_no and greatest(c.heartbeat_at, c.registered_at) > t.since
               ) as is_quiet
            offset 0
        ) q
        left join lateral (select s.* from pgtrickle_internal.pgt_group_state(w) s where q.is_quiet offset 0) s on true -- it costs most
        cross join lateral (
            select q.is_quiet and s.lag_rows > 0
               and not exists (
                   select
                   from pgtrickle_internal.pgt_lease_log l
                   where l.group_no = w.group_no and l.state <> 'gap' and greatest(l.leased_at, l.committed_at) > t.since
               )
               and coalesce((pgtrickle_internal.pgt_outbox_ids(w.outbox_name, s.committed_offset)).next_at < t.since, false) as idle
        ) i
        where w.idle <> i.idle
        for update of w skip locked
    loop
        if v_idle.idle and v_idle.idle_policy = 'evict' then
            begin
                perform pgtrickle_internal.pgt_start(pgtrickle_internal.pgt_group(v_idle.group_name), null);
            exception when lock_not_available then
                continue; -- a consumer polls or commits after all: the next pass looks again
            end;
        end if;
        update pgtrickle.pgt_consumer_groups g set idle = v_idle.idle where g.group_no = v_idle.group_no;
        continue when not v_idle.idle;
        perform pg_notify('pg_trickle_alert', jsonb_build_object(
            'type', 'consumer_group_idle', 'outbox', v_idle.outbox_name, 'group', left(v_idle.group_name, 63),
            'lag_rows', v_idle.lag_rows, 'policy', v_idle.idle_policy
        )::text);
    end loop;
end;
$function$;

-- Puts right the sequences of outboxes that cache numbers, or that are behind what groups were granted; alerts, and notes it for status.
-- Reads pg_sequence, the outboxes; writes pgt_outbox_state, pgt_lease_log. What others lock is left to the next tick.
--
-- A session would hand out numbers from its cache when groups have passed them: until the cache is off they are gaps (pgt_publishers), and
-- ALTER SEQUENCE empties the caches of all sessions. A sequence is behind after a failover by logical replication, which carries none: its
-- next events would have ids that groups have passed.
create function pgtrickle_internal.pgt_watch_sequences()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '100ms'
    set jit = off
as $function$
declare
    v_outbox record;
    v_group  pgtrickle.pgt_consumer_groups;
    v_ids    int8multirange;
    v_upto   bigint; -- ids up to there may have come late; null: none
    v_passed bigint;
    v_since  timestamptz; -- the group had passed them
    v_rows   bigint;
    v_drawn  bigint;
    v_used   bigint;
    v_at     timestamptz; -- before the sequence was read: what is published later, with an id that was seen, comes late
begin
    for v_outbox in
        select o.outbox_name, t.name, q.seqrelid::regclass as ids, q.seqcache, i.drawn_id, greatest(i.last_id, g.cur) as used_id,
            s.seen_id, s.seen_at, s.moved_xid
        from pgtrickle_internal.pgt_outboxes o
        left join pgtrickle_internal.pgt_outbox_state s on s.outbox_name = o.outbox_name
        cross join lateral (select to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name)) as name) t
        join pg_sequence q on q.seqrelid = pg_get_serial_sequence(t.name::text, 'id')::regclass
        cross join lateral pgtrickle_internal.pgt_outbox_ids(o.outbox_name) i
        cross join lateral (
            select max(h.cur) as cur
            from pgtrickle.pgt_consumer_groups c
            cross join lateral pgtrickle_internal.pgt_lease_heads(c) h
            where c.outbox_name = o.outbox_name and h.lane = 0
              and h.cur < 4611686018427387904 -- a seek to the last number, which was taken as it was, would exhaust the sequence
        ) g
        where q.seqcache > 1 or i.drawn_id < greatest(i.last_id, g.cur) or s.moved_xid < pg_snapshot_xmin(pg_current_snapshot())
    loop
        begin
            if v_outbox.seqcache > 1 or v_outbox.drawn_id < v_outbox.used_id then
                execute format('lock table %s in share row exclusive mode', v_outbox.name); -- publishers end first
            end if;
            if v_outbox.seqcache > 1 then
                execute format('alter sequence %s cache 1', v_outbox.ids);
            end if;
            v_at := clock_timestamp();
            select i.drawn_id, greatest(i.drawn_id, i.last_id, v_outbox.used_id) into v_drawn, v_used
            from pgtrickle_internal.pgt_outbox_ids(v_outbox.outbox_name) i;
            -- Events with ids that a group had passed before they were published come to it after all. Where publishers have drawn past the
            -- used ids, these are ids that a tick of the other cluster has seen, and who drew them has ended.
            v_upto := case when v_drawn < v_used then v_drawn when v_outbox.moved_xid is not null then v_outbox.seen_id end;
            v_rows := 0;
            for v_group in select c.* from pgtrickle.pgt_consumer_groups c where c.outbox_name = v_outbox.outbox_name and v_upto > 0 order
                by c.group_no loop
                perform pgtrickle_internal.pgt_lock_group(v_group.group_no, v_group.group_name);
                select p.id, min(l.leased_at) filter (where l.cur >= p.id) into v_passed, v_since
                from (select least(max(l.cur), v_upto) as id from pgtrickle_internal.pgt_lease_log l where l.group_no = v_group.group_no
                    and l.lane = 0) p
                join pgtrickle_internal.pgt_lease_log l on l.group_no = v_group.group_no and l.lane = 0
                group by p.id;
                execute format($sql$
                    select range_agg(int8range(e.id, e.id, '[]'))
                    from %s e
                    where e.id <= $1 and e.created_at > greatest($2, case when e.id <= $3 then $4 end)
                    $sql$, v_outbox.name)
                into v_ids
                using v_passed, v_since, v_outbox.seen_id, v_outbox.seen_at;
                v_ids := v_ids - coalesce((
                    select range_agg(r)
                    from pgtrickle_internal.pgt_lease_log l
                    cross join lateral unnest(l.ids) r
                    where l.group_no = v_group.group_no and l.state <> 'done'
                ), '{}');
                continue when v_ids is null or isempty(v_ids);
                delete from pgtrickle.pgt_consumer_claim_check_acks a where a.group_name = v_group.group_name and v_ids @> a.outbox_id;
                perform pgtrickle_internal.pgt_give_back(v_group, v_ids);
                v_rows := greatest(v_rows, pgtrickle_internal.pgt_count_ids(v_ids));
            end loop;
            update pgtrickle_internal.pgt_outbox_state s
            set moved_xid = null, seen_at = v_at
            where s.outbox_name = v_outbox.outbox_name and v_upto is not null;
            continue when v_upto is not null and v_drawn = v_used and v_rows = 0 and v_outbox.seqcache = 1;
            if v_upto is not null then
                perform setval(v_outbox.ids, v_used) where v_drawn < v_used;
                update pgtrickle_internal.pgt_outbox_state s
                set advanced_at = s.seen_at, advanced_from = v_drawn, advanced_to = v_used, came_late = v_rows
                where s.outbox_name = v_outbox.outbox_name;
            end if;
        exception when lock_not_available then
            update pgtrickle_internal.pgt_outbox_state s set moved_xid = pg_current_xact_id() where s.outbox_name = v_outbox.outbox_name;
            continue;
        end;
        perform pg_notify('pg_trickle_alert', jsonb_build_object(
            'type', 'outbox_sequence_repaired', 'outbox', v_outbox.outbox_name, 'cache', v_outbox.seqcache, 'drawn_id', v_drawn,
            'used_id', v_used, 'late_rows', v_rows
        )::text);
    end loop;
end;
$function$;

-- Creates what outboxes and consumer groups of the spec lack.
create function pgtrickle_internal.pgt_attach_outboxes()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_outbox record;
begin
    insert into pgtrickle_internal.pgt_outbox_state (outbox_name, full_refresh_due)
    select o.outbox_name, o.kind = 'stream_table' from pgtrickle_internal.pgt_outboxes o where o.asked
    on conflict (outbox_name) do nothing;
    for v_outbox in
        select o.outbox_name, o.kind, o.function_prefix, o.publication, o.default_table_name is not null as has_segments,
               to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name)) as id
        from pgtrickle_internal.pgt_outboxes o
        join pgtrickle_internal.pgt_outbox_state s on s.outbox_name = o.outbox_name
        order by o.kind, o.outbox_name
    loop
        if v_outbox.kind = 'stream_table' then
            execute format('select %I.%I()', 'pgtrickle_internal', v_outbox.function_prefix || '_make');
        else
            perform pgtrickle_internal.pgt_publication(v_outbox.publication, v_outbox.id, v_outbox.has_segments);
        end if;
        if v_outbox.has_segments then
            execute format('select %I.%I()', 'pgtrickle_internal', v_outbox.function_prefix || '_segment');
        end if;
    end loop;
    insert into pgtrickle.pgt_consumer_groups (group_name, outbox_name, auto_offset_reset, max_attempts, start_id)
    select g.group_name, g.outbox_name, g.auto_offset_reset, g.max_attempts, 0
    from pgtrickle_internal.pgt_outbox_groups g
    order by g.group_name
    on conflict (group_name) do nothing;
    update pgtrickle.pgt_consumer_groups g
    set ordered = o.ordering_key is not null
    from pgtrickle_internal.pgt_outboxes o
    where o.outbox_name = g.outbox_name and g.ordered is null;
    perform pgtrickle_internal.pgt_start(g, case g.auto_offset_reset when 'earliest' then 0 end)
    from pgtrickle.pgt_consumer_groups g
    where not exists (select from pgtrickle_internal.pgt_lease_log l where l.group_no = g.group_no);
end;
$function$;

-- Drops the outboxes of stream tables, and publications of event outboxes.
create function pgtrickle_internal.pgt_detach_outboxes()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_found record;
begin
    perform pgtrickle.drop_consumer_group(g.group_name)
    from pgtrickle.pgt_consumer_groups g
    join pgtrickle_internal.pgt_outboxes o on o.outbox_name = g.outbox_name and o.kind = 'stream_table';
    delete from pgtrickle_internal.pgt_outbox_state s
    using pgtrickle_internal.pgt_outboxes o
    where o.outbox_name = s.outbox_name and o.kind = 'stream_table';
    for v_found in select o.function_prefix from pgtrickle_internal.pgt_outboxes o where o.kind = 'stream_table' order by o.outbox_name loop
        execute format('select %I.%I()', 'pgtrickle_internal', v_found.function_prefix || '_unmake');
    end loop;
    for v_found in
        select distinct p.pubname
        from pgtrickle_internal.pgt_outboxes o
        join pg_publication p on p.pubname = o.publication
        join pg_publication_rel r on r.prpubid = p.oid and r.prrelid = to_regclass(format('%I.%I', o.outbox_schema, o.outbox_table_name))
    loop
        execute format('drop publication %I', v_found.pubname);
    end loop;
end;
$function$;

-- Forgets what only the cluster knew that data was restored from.
create function pgtrickle_internal.pgt_restore_outboxes()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    -- Publishers of the other cluster do not run here: the next poll looks for publishers again.
    update pgtrickle_internal.pgt_lease_log l
    set xids = null, vxids = null, until = '-infinity'
    where l.state in ('gap', 'held');
    update pgtrickle_internal.pgt_outbox_state s set moved_xid = pg_current_xact_id();
end;
$function$;

-- Watches consumer groups and deletes what outboxes need not keep. See tick(): every name has its schema.
create procedure pgtrickle_internal.pgt_tick_outboxes(p_commits boolean)
    language plpgsql
as $procedure$
declare
    v_rounds   constant integer := case when p_commits then 2147483647 else 100 end; -- one transaction does a bounded part of the work
    v_name     pg_catalog.text;
    v_task     pg_catalog.text;
    v_batch    integer;
    v_interval interval;
    v_rows     bigint;
begin
    if pgtrickle_internal.pgt_take_task('consumer groups', '0') then
        begin
            perform pgtrickle_internal.pgt_watch_sequences();
            perform pgtrickle_internal.pgt_watch_outboxes();
            perform pgtrickle_internal.pgt_watch_consumers();
            perform pgtrickle_internal.pgt_trim_leases();
        exception when others then
            perform pgtrickle_internal.pgt_note_error('consumer groups', 'consumer groups', sqlerrm);
        end;
    end if;
    call pgtrickle_internal.pgt_commit(p_commits);
    v_interval := pg_catalog.make_interval(secs =>
        (select s.value from pgtrickle_internal.pgt_setting('outbox_drain_interval_seconds') s)::double precision);
    foreach v_name in array array(select o.outbox_name from pgtrickle_internal.pgt_outboxes o order by o.outbox_name collate
        pg_catalog."C") loop
        v_task := pg_catalog.concat('retention of outbox ', v_name);
        if pgtrickle_internal.pgt_take_task(v_task, v_interval) then
            v_batch := greatest(1, (select s.value from pgtrickle_internal.pgt_setting('outbox_drain_batch_size') s)::integer);
            for v_round in 1..v_rounds loop
                call pgtrickle_internal.pgt_commit(p_commits);
                begin
                    v_rows := pgtrickle_internal.pgt_outbox_drain(v_name, v_batch, v_round operator(pg_catalog.>) 1);
                exception when others then
                    v_rows := 0;
                    perform pgtrickle_internal.pgt_note_error(v_task, pg_catalog.concat('outbox ', v_name), sqlerrm);
                end;
                exit when v_rows operator(pg_catalog.<) v_batch;
            end loop;
        end if;
        call pgtrickle_internal.pgt_commit(p_commits);
    end loop;
end;
$procedure$;
