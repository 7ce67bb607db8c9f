-- Module inbox of the runtime of Sluice 0.1.0, as extension pgtrickle has it: the same for everyone. Do not edit.

-- The tenant that the session names by pg_trickle.tenant, for an inbox; an error if it names none.
create function pgtrickle_internal.pgt_tenant(p_inbox text)
    returns text
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_tenant text := nullif(current_setting('pg_trickle.tenant', true), '');
begin
    if v_tenant is null then
        raise exception using errcode = '22023', message = 'pg_trickle.tenant must be set',
            detail = 'Inbox ' || p_inbox || ' keeps the messages of tenants apart.',
            hint = 'Begin the transaction with: select set_config(''pg_trickle.tenant'', …, true).';
    elsif strpos(v_tenant, '/') > 0 then
        raise exception using errcode = '22023', message = 'pg_trickle.tenant must not contain a slash: ' || v_tenant,
            detail = 'Inbox ' || p_inbox || ' joins tenant and id of a message by one.', hint = 'Name tenants otherwise.';
    end if;
    return v_tenant;
end;
$function$;

-- The inboxes of which the current role sees the messages of its tenant only: not the owner, nor a monitor who may not read payloads.
-- Reads pgt_inbox_config and the catalog.
create function pgtrickle_internal.pgt_by_tenant()
    returns text[]
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    return array(
        select i.inbox_name
        from pgtrickle.pgt_inbox_config i
        join pg_namespace n on n.nspname = i.inbox_schema
        join pg_class t on t.relnamespace = n.oid and t.relname = i.inbox_table
        where i.tenant_column is not null and row_security_active(t.oid) and (
            has_column_privilege(t.oid, 'payload', 'select')
            or not exists (select from unnest(i.tenant_monitors) m where pg_has_role(to_regrole(quote_ident(m)), 'usage'))
        )
    );
end;
$function$;

-- The inboxes of the extension, one row each.
create table pgtrickle.pgt_inbox_config (
    inbox_name            text        not null primary key,
    inbox_schema          name        not null,
    inbox_table           name        not null,
    is_managed            boolean     not null,
    id_column             name        not null,
    event_type_column     name, -- null: the table has none
    processed_at_column   name        not null,
    retry_count_column    name        not null,
    error_column          name        not null,
    received_at_column    name        not null,
    max_retries           integer     not null,
    max_attempts          integer     not null,
    has_delay             boolean     not null,
    schedule              text        not null,
    due_after             interval,
    last_due              name,
    with_dead_letter      boolean     not null,
    with_stats            boolean     not null,
    processed_retention   interval,
    dead_letter_retention interval,
    degraded_pending_age  interval    not null,
    critical_pending_age  interval    not null,
    degraded_dlq          bigint      not null,
    claim_cursor          name        not null,
    attempts              name[]      not null,
    high_watermark        name        not null,
    created_at            timestamptz not null default now(),
    dedup_window          interval,
    past_ids              name,
    tenant_column         name,
    tenant_monitors       name[], -- who sees the counts of all tenants
    event_id_expression   text, -- over the payload; null: senders give ids
    wire_format           text, -- null: it decodes no documents
    wire_numbers          boolean, -- whether messages take their numbers from documents
    id_columns            name[], -- where an id has several, the first of which is id_column
    rows_schema           name, -- what shows the rows under the names that the table of a managed inbox has: the table, if it is one
    rows_table            name,
    is_imperative         boolean     not null default false, -- create_inbox or enable_inbox_tracking made it
    table_triggers        name[], -- that enable_inbox_tracking added to the table of a user
    table_indexes         name[]
);
comment on table pgtrickle.pgt_inbox_config is 'The inboxes of the extension, one row each. (Sluice: pgtrickle in pgtrickle)';

-- How far claims of an inbox have come where many messages share one received_at: the row with the highest no. Row 0: the inbox is paused.
create table pgtrickle_internal.pgt_inbox_claims (
    inbox_name text   collate "C" not null,
    no         bigint not null generated always as identity,
    last_at    timestamptz,
    last_id    text   collate "C",
    paused_at  timestamptz,
    primary key (inbox_name, no)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- How far the background work of each inbox has come; the row with the highest no counts.
--
-- A row is added rather than updated, so that reading the newest stays one index probe behind an old transaction.
create table pgtrickle_internal.pgt_inbox_progress (
    inbox_name    text        not null,
    no            bigint      not null generated always as identity,
    low_watermark timestamptz not null default '-infinity', -- every pending message received before it is in the retry queue
    counted_at    timestamptz not null default '-infinity', -- deltas count messages received before it; others are counted in the inbox
    folded_no     bigint      not null default 0,           -- no delta up to this number exists or is yet to come
    high_at       timestamptz not null default '-infinity', -- the next counted_at and folded_no, valid once all high_holders have ended
    high_no       bigint      not null default 0,
    high_holders  text[]      not null default '{}',
    noted_at      timestamptz not null default '-infinity',
    cursor_at     timestamptz not null default '-infinity', -- where the cursor of claims was at noted_at
    level_watermarks timestamptz[], -- with priority: before each nothing of the level is pending, or will be; null: not known
    primary key (inbox_name, no)
);

-- Changes of the counts of inboxes, a few rows a statement. Counts are their sums, which tick() replaces the rows by.
--
-- Rows are only added, so writers never wait for each other. A session that adds one that counts holds a lock to write the inbox, so no
-- number below one that was read before those locks (see pgt_inbox_settle) is yet to come once they are released. A dump keeps the counts
-- of deleted messages, which no rebuild finds in the inbox; a restored row may have a number that is drawn again.
create table pgtrickle_internal.pgt_inbox_deltas (
    inbox_name    text        collate "C" not null,
    no            bigint      not null generated always as identity,
    at            timestamptz default clock_timestamp(), -- null in the sums of an event type
    event_type    text,                                  -- null in the sums of a second: finished, calls and duplicates of the last minute
    received_at   timestamptz,
    received      bigint      not null default 0,
    processed     bigint      not null default 0,
    dead_letter   bigint      not null default 0,
    processing_us bigint      not null default 0,
    finished      bigint      not null default 0,
    calls         bigint      not null default 0,
    duplicates    bigint      not null default 0,
    is_expired    boolean     not null default false, -- counts processed messages that retention has deleted
    primary key (inbox_name, no, is_expired)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Messages that inboxes had before, one row for each time that one came again. pgt_inbox_settle replaces rows by sums in pgt_inbox_deltas.
-- A row holds no number, so that a producer that inserts one by hand says no more than by sending a message twice.
create table pgtrickle_internal.pgt_inbox_duplicates (
    inbox_name text        collate "C" not null,
    no         bigint      not null generated always as identity,
    at         timestamptz not null default clock_timestamp(),
    primary key (inbox_name, no)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Pending messages behind the cursor of claims: failed ones that are due again later, replayed, late, and those that a worker gave back.
--
-- It may list messages that are no longer pending; it never lacks one that is pending and received before the low watermark.
create table pgtrickle_internal.pgt_inbox_retry_queue (
    inbox_name  text        collate "C" not null,
    received_at timestamptz not null,
    event_id    text        collate "C" not null,
    due_at      timestamptz not null,
    primary key (inbox_name, received_at, event_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The order in which claims take messages of the retry queue. Partial, so that no look-up of a message takes it: with the statistics of an
-- empty queue it would seem as good as the key.
create index pgt_inbox_retry_due on pgtrickle_internal.pgt_inbox_retry_queue (inbox_name, due_at, event_id) where due_at is not null;

-- Leases of inbox_claim_lease, one row for messages that were leased together. A message is leased while its available_at is the row's
-- until: any other claim, failure or replay changes that. So marks write a row only when none of its messages is leased any more.
--
-- No two leases of an inbox end at the same moment, so that the end tells which one a message is in.
-- attempts: how many leases in a row ended without a mark.
create table pgtrickle_internal.pgt_inbox_leases (
    inbox_name text        collate "C" not null,
    until      timestamptz not null,
    lease_id   bigint      not null,
    attempts   integer     not null,
    event_ids  text[]      collate "C" not null,
    primary key (inbox_name, until)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The ends of a lease, by which marks tell its messages.
create index pgt_inbox_leases_held on pgtrickle_internal.pgt_inbox_leases (inbox_name, lease_id);

-- Leases of messages that were leased before, few and so soon found, also where an old transaction keeps the entries of all leases.
create index pgt_inbox_leases_again on pgtrickle_internal.pgt_inbox_leases (inbox_name, until) where attempts > 1;

-- The dead letters of inboxes, since when they are dead and whether an alert was sent.
--
-- A dump keeps the rows of alerts, which nothing else shows after a restore. Triggers that fire while messages are restored add rows that
-- are not alerted, which do not collide with those of the dump: pgt_inbox_rebuild deletes them.
create table pgtrickle_internal.pgt_inbox_dead (
    inbox_name text        collate "C" not null,
    event_id   text        collate "C" not null,
    alerted    boolean     not null default false,
    dead_at    timestamptz not null default clock_timestamp(),
    primary key (inbox_name, alerted, event_id)
);

-- Batches of messages that retention is about to delete, of inboxes that remember ids longer than messages: see pgt_inbox_retired.
--
-- waits_for: the transactions that may still miss the noted ids; null until somebody looked since the ids were committed.
create table pgtrickle_internal.pgt_inbox_retiring (
    inbox_name text        collate "C" not null,
    no         bigint      not null generated always as identity,
    event_ids  text[]      not null,
    last_at    timestamptz not null, -- where the batch ends in processing order
    last_id    text        collate "C" not null,
    noted_by   xid8        not null default pg_current_xact_id(),
    waits_for  text[],
    primary key (inbox_name, no)
);

-- The inboxes of the extension whose messages are handed out in sequence, one row each.
create table pgtrickle.pgt_inbox_ordering_config (
    inbox_name       text    not null primary key,
    aggregate_column name    not null,
    sequence_column  name    not null,
    mode             text    not null,
    start            bigint,
    on_dead_letter   text    not null,
    gap_alert_after  interval, -- null: setting ordering_gap_alert_seconds
    backlog          name    not null,
    fill             name    not null,
    gaps             name
);
comment on table pgtrickle.pgt_inbox_ordering_config is
    'The inboxes of the extension whose messages are handed out in sequence, one row each. (Sluice: pgtrickle in pgtrickle)';

-- Aggregates of which a transaction above READ COMMITTED took a message off the backlog. It did not see what came behind it meanwhile: a
-- tick looks at that, and deletes the row.
create table pgtrickle_internal.pgt_inbox_wakes (
    inbox_name    text   collate "C" not null,
    no            bigint not null generated always as identity,
    aggregate_key text   collate "C" not null,
    primary key (inbox_name, no)
);

-- The inboxes of the extension that hand out urgent messages first, one row each.
create table pgtrickle.pgt_inbox_priority_config (
    inbox_name      text      not null primary key,
    priority_column name      not null,
    priority_map    jsonb,              -- priority of each value of the column, 999 of all others
    tiers           jsonb,              -- name, min, max, schedule and view of each
    max_wait        interval  not null, -- every fourth claim begins with messages that have been due for longer
    backlog         name      not null,
    fill            name      not null,
    claim_turn      name      not null,
    levels          integer[] not null,
    cursors         name[]    not null
);
comment on table pgtrickle.pgt_inbox_priority_config is
    'The inboxes of the extension that hand out urgent messages first, one row each. (Sluice: pgtrickle in pgtrickle)';

-- The last number of each aggregate that was processed, of inboxes that wait for missing numbers.
--
-- It outlives the retention of processed messages: what was deleted is noted by a row of its own, which a dump keeps. Triggers that fire
-- while messages are restored add rows that do not collide with those.
create table pgtrickle_internal.pgt_inbox_sequences (
    inbox_name    text    collate "C" not null,
    aggregate_key text    collate "C" not null,
    is_expired    boolean not null default false, -- counts messages that were deleted
    last_sequence bigint  not null,
    primary key (inbox_name, aggregate_key, is_expired)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- The partitions of inboxes' tables when their messages were counted last: no trigger fires when one is attached, detached, dropped or
-- truncated.
create table pgtrickle_internal.pgt_inbox_partitions (
    inbox_table text primary key,
    version     text  not null, -- empty: messages of another partition were counted since, which may be gone at the next look
    relations   oid[] not null
);

-- The name of an inbox's own function, in the schema of internal objects; an error if there is no inbox of this name.
-- Functions that users call have one text for all inboxes, and execute what names the inbox's table by this name.
create function pgtrickle_internal.pgt_inbox_function(p_inbox text, p_suffix text)
    returns text
    language plpgsql
    stable
as $function$
declare
    v_name pg_catalog.text := p_inbox operator(pg_catalog.||) p_suffix;
begin
    if pg_catalog.octet_length(pg_catalog.convert_to(v_name, 'UTF8')) operator(pg_catalog.>) 63 then
        v_name := pgtrickle_internal.pgt_derived_name(v_name);
    end if;
    if pg_catalog.to_regproc('pgtrickle_internal.' operator(pg_catalog.||) pg_catalog.quote_ident(v_name)) is null then
        perform pgtrickle_internal.pgt_inbox(p_inbox); -- raises that there is none
    end if;
    return v_name;
end;
$function$;

-- Whether a worker has an aggregate: every aggregate belongs to exactly one, NULL to worker 0.
--
-- Jump consistent hash (Lamping and Veach, 2014), which draws from a hash of the aggregate and the bucket rather than from a generator.
create function pgtrickle.inbox_is_my_partition(p_aggregate_id text, p_worker_id integer, p_total_workers integer)
    returns boolean
    language plpgsql
    immutable
    parallel safe
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_bucket bigint := 0::bigint;
    v_next   bigint := 0::bigint;
begin
    if p_total_workers is null or p_worker_id is null or p_total_workers < 1 or p_worker_id < 0 or p_worker_id >= p_total_workers then
        raise exception using errcode = '22023', message = 'p_worker_id, p_total_workers: not a worker of that many',
            detail = 'Worker ' || coalesce(p_worker_id::text, '<null>') || ' of ' || coalesce(p_total_workers::text, '<null>') || '.',
            hint = 'Workers count from 0 to p_total_workers - 1.';
    elsif p_aggregate_id is null then
        return p_worker_id = 0;
    end if;
    while v_next < p_total_workers loop
        v_bucket := v_next;
        -- (bucket + 1) / u, with u uniform in (0, 1].
        v_next := least(p_total_workers,
            floor((v_bucket + 1) * 2147483648.0::float8 / ((hashtextextended(p_aggregate_id, v_bucket) & 2147483647) + 1)))::bigint;
    end loop;
    return v_bucket = p_worker_id;
end;
$function$;
comment on function pgtrickle.inbox_is_my_partition(text, int4, int4) is
    'Whether a worker has an aggregate. (Sluice: pgtrickle in pgtrickle)';

-- The configuration of an inbox; an error if there is none of this name.
-- Reads pgt_inbox_config.
create function pgtrickle_internal.pgt_inbox(p_inbox text)
    returns pgtrickle.pgt_inbox_config
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox record;
begin
    select c.* into v_inbox from pgtrickle.pgt_inbox_config c where c.inbox_name = p_inbox;
    if not found then
        raise exception using errcode = '42704', message = 'inbox not found: ' || coalesce(p_inbox, '<null>'),
            detail = 'The extension has no inbox of this name.',
            hint = 'Its inboxes: ' || coalesce(
                (select string_agg(c.inbox_name, ', ' order by c.inbox_name collate "C") from pgtrickle.pgt_inbox_config c), 'none'
            ) || '.';
    end if;
    if v_inbox.tenant_column is not null and p_inbox = any (pgtrickle_internal.pgt_by_tenant()) then
        perform pgtrickle_internal.pgt_tenant(p_inbox); -- raises that none is set
    end if;
    return v_inbox;
end;
$function$;

-- Whether no open transaction holds a row whose xmax is p_locker. The planner inlines it, so that neither STRICT nor SET belongs here, and
-- every name has its schema.
--
-- Transactions from id p_next on count as holding it; age() counts back from p_base; the caller's own locks have id p_own or, under a
-- savepoint, a later one. What may be a multixact of shared locks, by its number, identifies no transaction: there the lock is
-- tried, unless the number may be the caller's own, which would get its row again.
create function pgtrickle_internal.pgt_is_free(p_locker xid, p_next bigint, p_base bigint, p_own bigint)
    returns boolean
    language sql
as $function$
    select p_locker operator(pg_catalog.=) '0'::pg_catalog.xid
        or greatest(p_base operator(pg_catalog.-) pg_catalog.age(p_locker), 3) operator(pg_catalog.<) p_next
            and coalesce(pg_catalog.pg_xact_status(
                greatest(p_base operator(pg_catalog.-) pg_catalog.age(p_locker), 3)::pg_catalog.text::pg_catalog.xid8
            ) operator(pg_catalog.<>) 'in progress', true)
        or pg_catalog.mxid_age(p_locker) operator(pg_catalog.>) 0
            and (
                p_own is null
                or greatest(p_base operator(pg_catalog.-) pg_catalog.age(p_locker), 3) operator(pg_catalog.<) p_own
                or greatest(p_base operator(pg_catalog.-) pg_catalog.age(p_locker), 3) operator(pg_catalog.>=)
                    (p_next operator(pg_catalog.+) 1000000)
            )
$function$;

-- What a claim must know of its inbox: that it is paused, that messages are in its retry queue, that every pending message received before
-- the low watermark is among them, and the last message claimed of those that share their received_at with the cursor.
-- Reads pgt_inbox_claims, pgt_inbox_retry_queue, pgt_inbox_progress. The planner inlines it, so that neither STRICT nor SET belongs here,
-- and every name has its schema.
create function pgtrickle_internal.pgt_claim_state(p_inbox text)
    returns table (is_paused boolean, has_retries boolean, low_watermark timestamptz, last_at timestamptz, last_id text)
    language sql
    stable
as $function$
    select exists (
               select from pgtrickle_internal.pgt_inbox_claims p where p.inbox_name operator(pg_catalog.=) p_inbox and p.no
                   operator(pg_catalog.=) 0
           ),
           exists (select from pgtrickle_internal.pgt_inbox_retry_queue q where q.inbox_name operator(pg_catalog.=) p_inbox),
           coalesce((
               select p.low_watermark
               from pgtrickle_internal.pgt_inbox_progress p
               where p.inbox_name operator(pg_catalog.=) p_inbox
               order by p.no desc
               limit 1
           ), '-infinity'),
           m.last_at, m.last_id
    from (select) o
    left join (
        select l.last_at, l.last_id
        from pgtrickle_internal.pgt_inbox_claims l
        where l.inbox_name operator(pg_catalog.=) p_inbox
        order by l.no desc
        limit 1
    ) m on true
$function$;

-- Moves a cursor of claims to a moment, never back: a worker that took long must not send others over all that was claimed meanwhile. The
-- planner inlines it, so that neither STRICT nor SET belongs here, and every name has its schema.
create function pgtrickle_internal.pgt_move_cursor(p_cursor regclass, p_at timestamptz)
    returns bigint
    language sql
as $function$
    select pg_catalog.setval(p_cursor, greatest(
        coalesce(pg_catalog.pg_sequence_last_value(p_cursor), 0),
        greatest(0, extract(epoch from p_at) operator(pg_catalog.*) 1000000)::bigint
    ))
$function$;

-- Where the last claim of this session for a part of the aggregates ended, as pgt_note_part noted it; null if the next one starts at the
-- low watermark.
create function pgtrickle_internal.pgt_claimed_part(p_inbox text, p_worker_id integer, p_total_workers integer, p_now timestamptz)
    returns jsonb
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_part jsonb := nullif(current_setting('pg_trickle.claimed', true), '')::jsonb;
begin
    if v_part @> jsonb_build_object('inbox', p_inbox, 'worker', p_worker_id, 'of', p_total_workers)
            and (v_part ->> 'look_at')::timestamptz > p_now then
        return v_part;
    end if;
    return null;
end;
$function$;

-- Notes in a setting, which a rollback takes back, where a claim that began at p_now for a part of the aggregates ended. p_part: what the
-- claim before it noted.
--
-- A part has no cursor. Reading past what slower workers have left can take long (0.3 s for 300,000 messages); then a session starts where
-- its last claim for the part ended, and at the low watermark a sixteenth of the time.
create function pgtrickle_internal.pgt_note_part(
    p_inbox text, p_worker_id integer, p_total_workers integer, p_part jsonb, p_now timestamptz, p_at timestamptz
)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform set_config('pg_trickle.claimed', jsonb_build_object(
        'inbox', p_inbox, 'worker', p_worker_id, 'of', p_total_workers, 'at', p_at,
        'look_at', coalesce((p_part ->> 'look_at')::timestamptz, p_now + 17 * (clock_timestamp() - p_now) - interval '160 ms')
    )::text, false);
end;
$function$;

-- How long a message took, in whole microseconds, as sums of integers are exact; 0 if it is not processed or a timestamp is infinite.
create function pgtrickle_internal.pgt_processing_us(p_received_at timestamptz, p_processed_at timestamptz)
    returns bigint
    language sql
    immutable
as $function$
    select (case when pg_catalog.isfinite(p_processed_at) and pg_catalog.isfinite(p_received_at) then
        least(greatest(pg_catalog.date_part('epoch', p_processed_at operator(pg_catalog.-) p_received_at), 0), 1e12)
    else 0 end operator(pg_catalog.*) 1000000)::bigint
$function$;

-- The same for a table of a user with times without a time zone, which are those of UTC.
create function pgtrickle_internal.pgt_processing_us(p_received_at timestamptz, p_processed_at timestamp)
    returns bigint
    language sql
    immutable
as $function$
    select pgtrickle_internal.pgt_processing_us(p_received_at, pg_catalog.timezone('UTC', p_processed_at))
$function$;

-- Counts an attempt of a message that a claim has locked and that came back from an earlier claim; false if it became a dead letter by it.
-- Reads pgt_inbox_config; reads and writes the inbox; moves its sequences of attempts.
--
-- A count must outlive the rollback of the transaction that counts. So a few sequences hold counts, each that of one message: from the
-- highest bit the block (30 bits), line (11) and xmin (10) of its row, when it was counted (2) and its attempts (10). A change of the
-- message gives its row another place, so its attempts begin again, and the sequence is free.
create function pgtrickle_internal.pgt_count_attempt(p_inbox text, p_event_id text, p_locker xid)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox    record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table    regclass := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass;
    v_slot     regclass;
    v_version  bigint;
    v_attempts bigint;
    v_is_none  boolean;
begin
    -- The message's own sequence, or one whose message has changed. It is no attempt if the lock is this claim's own, as the row was
    -- changed meanwhile and read again, or of who changed it last; while all sequences count others, this message is counted later.
    execute format($sql$
        select s.slot, m.version, case s.version when m.version then s.attempts + 1 else 1 end,
               $4 in (m.locker, m.made) or (o.ctid is not null and s.version <> m.version)
        from (
            select i.locker, i.made, ((i.place[0]::bigint & 1073741823) << 21) | (i.place[1]::bigint << 10) | (i.xmin_end & 1023) as version
            from (select i.xmax as locker, i.xmin as made, (i.xmin::text::bigint + i.tableoid::bigint) as xmin_end,
                         i.ctid::text::point as place
                  from %1$s i where i.event_id = $1) i
        ) m
        cross join (
            select s.slot, v.value, v.value >> 12 as version, (v.value >> 10) & 3 as counted, v.value & 1023 as attempts,
                   ('(' || (v.value >> 33) || ',' || ((v.value >> 22) & 2047) || ')')::tid as place, (v.value >> 12) & 1023 as xmin_end
            from unnest($2) n
            cross join lateral (select ('pgtrickle_internal.' || quote_ident(n))::regclass as slot) s
            cross join lateral (select coalesce(pg_sequence_last_value(s.slot), 0) as value) v
        ) s
        left join %1$s o on o.ctid = s.place and (o.xmin::text::bigint + o.tableoid::bigint) & 1023 = s.xmin_end
            and o.processed_at is null and o.retry_count < $3
        order by s.version <> m.version, o.ctid is not null, s.attempts
        limit 1
        $sql$, v_table)
    into v_slot, v_version, v_attempts, v_is_none
    using p_event_id, v_inbox.attempts, v_inbox.max_retries, p_locker;
    if v_is_none then
        return true;
    end if;

    perform setval(v_slot, (v_version << 12) | ((floor(extract(epoch from clock_timestamp()) / 1800)::bigint & 3) << 10) |
        least(v_attempts, v_inbox.max_attempts));
    if v_attempts >= v_inbox.max_attempts then
        -- This transaction may be rolled back, too: see pgt_inbox_tick.
        execute format('update %s i set retry_count = greatest(i.retry_count, $2), error = $3 where i.event_id = $1', v_table)
        using p_event_id, v_inbox.max_retries, left('claimed ' || v_inbox.max_attempts || ' times, and neither processed nor failed',
            pgtrickle_internal.pgt_most_of_errors(v_table));
        return false;
    end if;
    return true;
end;
$function$;

-- Recomputes what is derived from an inbox, with writers kept out. Attempts begin anew: places of rows may be others' by now.
-- Reads the inbox; writes pgt_inbox_deltas, pgt_inbox_retry_queue, pgt_inbox_dead, pgt_inbox_progress, its sequences.
create function pgtrickle_internal.pgt_inbox_rebuild(p_inbox text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox    record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table    regclass := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass;
    v_sequence regclass := format('%I.%I', 'pgtrickle_internal', v_inbox.high_watermark)::regclass;
    v_counted  timestamptz;
    v_fill     name;
begin
    execute format('lock table %s in share row exclusive mode', v_table);
    perform from pgtrickle_internal.pgt_tasks t where t.task = 'inbox ' || p_inbox || ': counts' for update;
    delete from pgtrickle_internal.pgt_inbox_deltas d where d.inbox_name = p_inbox and d.event_type is not null and not d.is_expired;
    delete from pgtrickle_internal.pgt_inbox_retiring r where r.inbox_name = p_inbox; -- its transactions may be those of another cluster
    v_counted := to_timestamp(
        setval(v_sequence, greatest(coalesce(pg_sequence_last_value(v_sequence), 0), floor(extract(epoch from clock_timestamp()))::bigint))
    );
    delete from pgtrickle_internal.pgt_inbox_retry_queue q where q.inbox_name = p_inbox;
    delete from pgtrickle_internal.pgt_inbox_dead d where d.inbox_name = p_inbox and not d.alerted;
    execute format($sql$
        with counted as (
            insert into pgtrickle_internal.pgt_inbox_deltas (inbox_name, at, event_type, received, processed, dead_letter, processing_us)
            select $1, null, i.event_type, count(*) filter (where i.received_at < $2), count(i.processed_at),
                   count(*) filter (where i.processed_at is null and i.retry_count >= $3),
                   sum(pgtrickle_internal.pgt_processing_us(i.received_at, i.processed_at))
            from %1$s i
            group by i.event_type
        ),
        -- With the low watermark at the bottom claims find everything that is due; only delayed messages need an entry.
        delayed as (
            insert into pgtrickle_internal.pgt_inbox_retry_queue (inbox_name, received_at, event_id, due_at)
            select $1, i.received_at, i.event_id, %2$s
            from %1$s i
            where i.processed_at is null and i.retry_count < $3 and %2$s is not null
        ),
        gone as (
            delete from pgtrickle_internal.pgt_inbox_dead d
            where d.inbox_name = $1
              and not exists (select from %1$s i where i.event_id = d.event_id and i.processed_at is null and i.retry_count >= $3)
        )
        insert into pgtrickle_internal.pgt_inbox_dead (inbox_name, event_id)
        select $1, i.event_id
        from %1$s i
        where i.processed_at is null and i.retry_count >= $3
          and not exists (select from pgtrickle_internal.pgt_inbox_dead d where d.inbox_name = $1 and d.event_id = i.event_id)
        on conflict do nothing
        $sql$, v_table, case when v_inbox.has_delay then 'i.available_at' else 'null::timestamptz' end)
    using p_inbox, v_counted, v_inbox.max_retries;
    insert into pgtrickle_internal.pgt_inbox_progress (inbox_name, counted_at) values (p_inbox, v_counted);
    perform setval(format('%I.%I', 'pgtrickle_internal', s)::regclass, 0, false) from unnest(v_inbox.claim_cursor || v_inbox.attempts) s;
    for v_fill in select o.fill from pgtrickle.pgt_inbox_ordering_config o where o.inbox_name = p_inbox loop
        execute format('select %I.%I()', 'pgtrickle_internal', v_fill);
    end loop;
    for v_fill in select p.fill from pgtrickle.pgt_inbox_priority_config p where p.inbox_name = p_inbox loop
        execute format('select %I.%I()', 'pgtrickle_internal', v_fill);
    end loop;
end;
$function$;

-- Keeps all that is derived of an inbox exact under update, merge, delete and truncate. The argument is the inbox.
-- Reads the statement's rows, pgt_inbox_config, pgt_inbox_progress; writes pgt_inbox_deltas, pgt_inbox_retry_queue, pgt_inbox_dead.
create function pgtrickle_internal.pgt_inbox_changed()
    returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off -- a plan made for one message would read all of the retry queue for each of many
as $function$
declare
    p_inbox   text := tg_argv[0];
    v_retries integer;
    v_delays  boolean;
    v_counted timestamptz;
    v_pending boolean := false;          -- a message is pending after the update
    v_waits   boolean := false;          -- the update only delays messages
    v_listed  text[];                    -- entries that the retry queue had
    v_was     text[];                    -- messages that were dead letters before the statement
    v_dead    text[] := array[]::text[]; -- messages that are dead letters after it
begin
    select c.max_retries, c.has_delay into v_retries, v_delays from pgtrickle.pgt_inbox_config c where c.inbox_name = p_inbox;
    if tg_op = 'TRUNCATE' then
        perform pgtrickle_internal.pgt_inbox_rebuild(p_inbox);
        return null;
    elsif tg_op = 'DELETE' then
        v_counted := coalesce((
            select p.counted_at from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = p_inbox order by p.no desc limit 1
        ), '-infinity');
        v_was := array(select o.event_id from old_rows o where o.processed_at is null and o.retry_count >= v_retries);
        -- Δ counts = −old rows
        insert into pgtrickle_internal.pgt_inbox_deltas
            (inbox_name, event_type, received_at, received, processed, dead_letter, processing_us)
        select p_inbox, o.event_type, case when o.received_at >= v_counted then o.received_at end, -count(*),
               -count(o.processed_at), -count(*) filter (where o.processed_at is null and o.retry_count >= v_retries),
               -sum(pgtrickle_internal.pgt_processing_us(o.received_at, o.processed_at))
        from old_rows o
        group by 2, 3;
    else
        select exists (select from new_rows n where n.processed_at is null and n.retry_count < v_retries),
               array(select o.event_id from old_rows o where o.processed_at is null and o.retry_count >= v_retries),
               array(select n.event_id from new_rows n where n.processed_at is null and n.retry_count >= v_retries)
        into v_pending, v_was, v_dead;
        -- Nothing changes but when messages are due that have not failed, as by leases.
        if v_pending and v_delays then
            v_waits := not exists (
                    select from new_rows n
                    where (n.processed_at is null and n.retry_count = 0 and n.available_at > clock_timestamp()) is not true
                )
                and not exists (select from old_rows o where o.processed_at is not null or o.retry_count <> 0)
                and not exists (
                    select n.event_id, n.received_at from new_rows n except all select o.event_id, o.received_at from old_rows o
                );
        end if;
        if not v_waits then
            -- Δ counts = new rows ⊎ −old rows. A single message needs no grouping, which would cost as much as all the rest.
            insert into pgtrickle_internal.pgt_inbox_deltas (inbox_name, event_type, processed, dead_letter, processing_us, finished)
            select p_inbox, n.event_type,
                   (n.processed_at is not null)::integer - (o.processed_at is not null)::integer,
                   (n.processed_at is null and n.retry_count >= v_retries)::integer
                       - (o.processed_at is null and o.retry_count >= v_retries)::integer,
                   pgtrickle_internal.pgt_processing_us(n.received_at, n.processed_at)
                       - pgtrickle_internal.pgt_processing_us(o.received_at, o.processed_at),
                   (n.processed_at is not null)::integer - (o.processed_at is not null)::integer
            from new_rows n, old_rows o
            where not exists (select from new_rows offset 1) and n.event_type = o.event_type;
            if not found then
                -- Of the old rows those that were pending add nothing.
                insert into pgtrickle_internal.pgt_inbox_deltas (inbox_name, event_type, processed, dead_letter, processing_us, finished)
                select p_inbox, c.event_type,
                       coalesce(sum(c.mult) filter (where c.processed_at is not null), 0),
                       coalesce(sum(c.mult) filter (where c.processed_at is null and c.retry_count >= v_retries), 0),
                       sum(c.mult * pgtrickle_internal.pgt_processing_us(c.received_at, c.processed_at)),
                       coalesce(sum(c.mult) filter (where c.processed_at is not null), 0)
                from (
                    select 1 as mult, n.event_type, n.received_at, n.processed_at, n.retry_count from new_rows n
                    union all
                    select -1, o.event_type, o.received_at, o.processed_at, o.retry_count
                    from old_rows o
                    where o.processed_at is not null or o.retry_count >= v_retries
                ) c
                group by c.event_type;
            end if;
        end if;
    end if;

    -- A message that is pending after an update may lie behind the cursor. Its entry is replaced rather than changed, so that no session
    -- that deletes entries of processed messages meanwhile deletes it. Never join new rows with old ones where there may be many: a plan
    -- made for one of each is quadratic then. One that is delayed, and was pending before, needs no entry that it did not have: the low
    -- watermark stops before it until a tick lists it, and most leases are over by then.
    if (select true from pgtrickle_internal.pgt_inbox_retry_queue q where q.inbox_name = p_inbox order by q.received_at limit 1) then
        with gone as (
            delete from pgtrickle_internal.pgt_inbox_retry_queue q
            using old_rows i
            where q.inbox_name = p_inbox and q.received_at = i.received_at and q.event_id = i.event_id
            returning q.event_id
        )
        select array_agg(g.event_id) into v_listed from gone g;
    end if;
    if not v_pending or v_waits and v_listed is null then
        null;
    elsif v_delays then
        insert into pgtrickle_internal.pgt_inbox_retry_queue as q (inbox_name, received_at, event_id, due_at)
        select p_inbox, n.received_at, n.event_id, coalesce(n.available_at, least(n.received_at, clock_timestamp()))
        from new_rows n
        where n.processed_at is null and n.retry_count < v_retries and (not v_waits or n.event_id = any (v_listed))
        order by n.received_at, n.event_id
        on conflict (inbox_name, received_at, event_id) do update set due_at = excluded.due_at;
    else -- the table may lack the column
        insert into pgtrickle_internal.pgt_inbox_retry_queue as q (inbox_name, received_at, event_id, due_at)
        select p_inbox, n.received_at, n.event_id, least(n.received_at, clock_timestamp())
        from new_rows n
        where n.processed_at is null and n.retry_count < v_retries and (not v_waits or n.event_id = any (v_listed))
        order by n.received_at, n.event_id
        on conflict (inbox_name, received_at, event_id) do update set due_at = excluded.due_at;
    end if;
    if v_dead <> v_was then
        delete from pgtrickle_internal.pgt_inbox_dead d
        using (select unnest(v_was) except select unnest(v_dead)) o (event_id)
        where d.inbox_name = p_inbox and d.event_id = o.event_id;
        insert into pgtrickle_internal.pgt_inbox_dead (inbox_name, event_id)
        select p_inbox, n.event_id
        from (select unnest(v_dead) except select unnest(v_was)) n (event_id)
        on conflict do nothing;
    end if;
    return null;
end;
$function$;

-- Keeps all that is derived of an inbox exact where messages change one by one: when they are not simply new (see pgt_inbox_settle), get
-- another type or time, or come by logical replication. Arguments: the inbox, and its high watermark (or moved, for another type or time).
-- Reads pgt_inbox_config, the high watermark, pgt_inbox_progress; writes pgt_inbox_deltas, pgt_inbox_retry_queue, pgt_inbox_dead.
create function pgtrickle_internal.pgt_inbox_row_changed()
    returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
declare
    p_inbox   text := tg_argv[0];
    v_retries integer;
    v_delays  boolean;
    v_counted timestamptz := coalesce((
        select p.counted_at from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = p_inbox order by p.no desc limit 1
    ), '-infinity');
    v_is_late boolean := false;
    v_pending boolean;
    v_was     text; -- the message if it was a dead letter
    v_dead    text; -- if it is one
    v_until   timestamptz;
begin
    select c.max_retries, c.has_delay into v_retries, v_delays from pgtrickle.pgt_inbox_config c where c.inbox_name = p_inbox;
    if tg_op <> 'INSERT' then
        v_was := case when old.processed_at is null and old.retry_count >= v_retries then old.event_id end;
    end if;
    if tg_op <> 'DELETE' then
        v_pending := new.processed_at is null and new.retry_count < v_retries;
        v_dead := case when new.processed_at is null and new.retry_count >= v_retries then new.event_id end;
    end if;
    if tg_argv[1] = 'moved' then
        insert into pgtrickle_internal.pgt_inbox_deltas (inbox_name, event_type, received_at, received)
        values (p_inbox, old.event_type, case when old.received_at >= v_counted then old.received_at end, -1),
               (p_inbox, new.event_type, case when new.received_at >= v_counted then new.received_at end, 1);
        return null;
    elsif tg_op = 'INSERT' then
        v_is_late := new.received_at < to_timestamp(pg_sequence_last_value(tg_argv[1]::regclass));
    elsif current_setting('session_replication_role') <> 'replica' then
        return null; -- a restore may have enabled the trigger for all sessions: then the statement trigger has done it
    end if;

    -- Δ counts = new row ⊎ −old row
    insert into pgtrickle_internal.pgt_inbox_deltas (
        inbox_name, event_type, received_at, received, processed, dead_letter, processing_us, finished
    )
    select p_inbox, c.event_type, case when c.received_at >= v_counted then c.received_at end,
           case when tg_op = 'DELETE' or v_is_late then c.mult else 0 end, c.mult * (c.processed_at is not null)::integer,
           c.mult * (c.processed_at is null and c.retry_count >= v_retries)::integer,
           c.mult * pgtrickle_internal.pgt_processing_us(c.received_at, c.processed_at),
           c.mult * (c.processed_at is not null and tg_op = 'UPDATE')::integer
    from (
        select -1 as mult, old.event_type, old.received_at, old.processed_at, old.retry_count where tg_op <> 'INSERT'
        union all
        select 1, new.event_type, new.received_at, new.processed_at, new.retry_count where tg_op <> 'DELETE'
    ) c
    where tg_op = 'DELETE' or v_is_late or c.processed_at is not null or c.retry_count >= v_retries;

    if tg_op <> 'INSERT' then
        delete from pgtrickle_internal.pgt_inbox_retry_queue q
        where q.inbox_name = p_inbox and q.received_at = old.received_at and q.event_id = old.event_id;
    end if;
    if v_pending then
        if v_delays then -- else the table may lack the column
            v_until := new.available_at;
        end if;
        insert into pgtrickle_internal.pgt_inbox_retry_queue as q (inbox_name, received_at, event_id, due_at)
        values (p_inbox, new.received_at, new.event_id, coalesce(v_until, least(new.received_at, clock_timestamp())))
        on conflict (inbox_name, received_at, event_id) do update set due_at = excluded.due_at;
    end if;
    if v_dead is distinct from v_was then
        delete from pgtrickle_internal.pgt_inbox_dead d where d.inbox_name = p_inbox and d.event_id = v_was;
        insert into pgtrickle_internal.pgt_inbox_dead (inbox_name, event_id)
        select p_inbox, v_dead
        where v_dead is not null
        on conflict do nothing;
    end if;
    return null;
end;
$function$;

-- Replaces the deltas of an inbox by their sums, counts new messages, and moves the low watermark forward.
-- Reads the inbox, pg_locks; writes pgt_inbox_progress, its high watermark, pgt_inbox_deltas, pgt_inbox_duplicates, pgt_inbox_retry_queue.
--
-- Low watermark and counts may pass a moment once every message received before it is known. So: publish the moment (the high watermark)
-- and read which transactions write the inbox; when all of them have ended, later writers see the high watermark, and list and count what
-- they receive before it as late. Pending messages that claims have passed are listed here, before the low watermark passes them.
create function pgtrickle_internal.pgt_inbox_settle(p_inbox text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_inbox    record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table    regclass := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass;
    v_sequence regclass := format('%I.%I', 'pgtrickle_internal', v_inbox.high_watermark)::regclass;
    v_now      timestamptz := clock_timestamp();
    v_was      record; -- what was known so far
    v_high_at  timestamptz;
    v_high_no  bigint;
    v_holders  text[];
    v_is_sure  boolean;
    v_sure_at  timestamptz; -- all messages received before it are known
    v_sure_no  bigint;      -- all deltas up to it are known
    v_busy     boolean;
    v_next     xid8;
    v_cursor   timestamptz;
    v_notes    boolean;
    v_low      timestamptz;
    v_until    text := case when v_inbox.has_delay then 'i.available_at' else 'null::timestamptz' end;
begin
    select p.* into v_was from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = p_inbox order by p.no desc limit 1;
    if not found then
        insert into pgtrickle_internal.pgt_inbox_progress (inbox_name) values (p_inbox) returning * into v_was;
    end if;

    -- The order matters: a session that locks the inbox after the moment is published sees it.
    v_high_at := to_timestamp(
        setval(v_sequence, greatest(coalesce(pg_sequence_last_value(v_sequence), 0), floor(extract(epoch from clock_timestamp()))::bigint))
    );
    v_high_no := coalesce(pg_sequence_last_value(pg_get_serial_sequence('pgtrickle_internal.pgt_inbox_deltas', 'no')::regclass), 0);
    select coalesce(array_agg(l.virtualtransaction), '{}') into v_holders
    from pg_locks l
    where l.locktype = 'relation'
      and l.relation = any (array(select p.relation from
          pgtrickle_internal.pgt_partitions(to_regclass(format('%I.%I', v_inbox.inbox_schema, v_inbox.inbox_table))) p))
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      and l.pid is distinct from pg_backend_pid();
    -- Nothing is sure while a prepared transaction holds the inbox, as it changes its name, or in a snapshot that does not see what ended.
    v_is_sure := not (v_holders && v_was.high_holders or exists (select from unnest(v_holders) h where h like '-1/%'))
        and current_setting('transaction_isolation') = 'read committed';
    v_sure_at := greatest(v_was.counted_at, case when not v_is_sure then null when v_holders = '{}' then v_high_at else v_was.high_at end);
    v_sure_no := case when not v_is_sure then v_was.folded_no when v_holders = '{}' then v_high_no
        else greatest(v_was.folded_no, v_was.high_no) end;

    execute format($sql$
        select exists (select from %s i where i.received_at >= $2 and i.received_at < $3) or exists (
            select from pgtrickle_internal.pgt_inbox_deltas d
            where d.inbox_name = $1 and d.no > $4 and d.event_type is not null and d.at is not null
        ) or exists (select from pgtrickle_internal.pgt_inbox_duplicates d where d.inbox_name = $1)
        $sql$, v_table)
    into v_busy
    using p_inbox, v_was.counted_at, v_sure_at, v_was.folded_no;
    if not v_busy and (v_was.low_watermark > '-infinity' or v_was.counted_at = '-infinity') then
        return; -- but not after a recount: the low watermark is at the bottom then, and health reads all above it
    end if;

    -- One snapshot for what deltas say and what the inbox holds. A message received since counted_at is counted in the inbox alone, and
    -- when it is deleted, its delta counts once counted_at has passed it.
    execute format($sql$
        with gone as (
            delete from pgtrickle_internal.pgt_inbox_deltas d
            where d.inbox_name = $1 and d.no > $4
            returning d.*
        ),
        again as (delete from pgtrickle_internal.pgt_inbox_duplicates d where d.inbox_name = $1 returning d.at),
        new as (
            select i.event_type, date_trunc('second', i.received_at) as at, count(*) as received
            from %s i
            where i.received_at >= $2 and i.received_at < $3
            group by 1, 2
        )
        insert into pgtrickle_internal.pgt_inbox_deltas (
            inbox_name, is_expired, at, event_type, received, processed, dead_letter, processing_us, finished, calls, duplicates
        )
        select $1, c.is_expired, null::timestamptz, c.event_type, sum(c.received), sum(c.processed), sum(c.dead_letter),
               sum(c.processing_us), 0, 0, 0
        from (
            select g.is_expired, g.event_type, case when g.received_at >= $2 then 0 else g.received end as received, g.processed,
                   g.dead_letter, g.processing_us
            from gone g
            where g.event_type is not null
            union all
            select false, n.event_type, n.received, 0, 0, 0 from new n
        ) c
        group by c.is_expired, c.event_type
        having (sum(c.received), sum(c.processed), sum(c.dead_letter), sum(c.processing_us)) <> (0, 0, 0, 0)
        union all
        select $1, false, date_trunc('second', m.at), null, 0, 0, 0, 0, sum(m.finished), sum(m.calls), sum(m.duplicates)
        from (
            select g.at, g.finished, g.calls, g.duplicates from gone g
            union all
            select n.at, 0, n.received, 0 from new n
            union all
            select a.at, 0, 1, 1 from again a
        ) m
        where m.at between $5 - interval '1 minute' and $5 and (m.finished <> 0 or m.calls <> 0)
        group by date_trunc('second', m.at)
        $sql$, v_table)
    using p_inbox, v_was.counted_at, v_sure_at, v_was.folded_no, v_now;
    if not v_is_sure then
        return;
    end if;

    -- Lists what claims have passed or given back, a thousand messages at most. What a worker holds is left to it, unless the cursor had
    -- passed it half a minute ago: a slow worker must not hold the low watermark. One that has committed since this snapshot may have
    -- processed its messages.
    v_cursor := timestamptz 'epoch' + interval '1 microsecond'
        * coalesce(pg_sequence_last_value(format('%I.%I', 'pgtrickle_internal', v_inbox.claim_cursor)::regclass), 0);
    v_notes := v_now not between v_was.noted_at and v_was.noted_at + interval '30 seconds';
    v_low := greatest(v_was.low_watermark, v_sure_at);
    v_next := pg_snapshot_xmax(pg_current_snapshot());
    -- Where nothing up to what is known may be claimed now, the cursor moves there. Claims, which move it to what they hand out, would
    -- pass over thousands of delayed messages each time.
    if v_cursor < v_low and not exists (select from pgtrickle.pgt_inbox_ordering_config o where o.inbox_name = p_inbox)
       and not exists (select from pgtrickle.pgt_inbox_priority_config o where o.inbox_name = p_inbox) then
        execute format($sql$
            select true from %s i
            where i.received_at >= $1 and i.received_at < $2 and i.processed_at is null and i.retry_count < $3
              and coalesce(%s, '-infinity') <= $4
            order by i.received_at, i.event_id
            limit 1
            $sql$, v_table, v_until)
        into v_busy
        using v_cursor, v_low, v_inbox.max_retries, v_now;
        if v_busy is null then
            v_cursor := v_low;
            perform setval(format('%I.%I', 'pgtrickle_internal', v_inbox.claim_cursor)::regclass,
                greatest(0, (extract(epoch from v_low) * 1000000)::bigint));
        end if;
    end if;
    begin
        execute format($sql$
            insert into pgtrickle_internal.pgt_inbox_retry_queue (inbox_name, received_at, event_id, due_at)
            select $1, i.received_at, i.event_id,
                   coalesce(%2$s, least(i.received_at, clock_timestamp()))
            from %1$s i
            where i.received_at >= $2 and i.received_at < least($3, $4) and i.processed_at is null and i.retry_count < $6
              and (i.received_at < $5 or pgtrickle_internal.pgt_is_free(i.xmax, $7, $8, null)
                  and pg_visible_in_snapshot(greatest($8 - age(i.xmax), 3)::text::xid8, pg_current_snapshot()))
              and (select true from pgtrickle_internal.pgt_inbox_retry_queue q
              where q.inbox_name = $1 and q.received_at = i.received_at and q.event_id = i.event_id) is null
            order by i.received_at, i.event_id
            limit 1000
            on conflict do nothing
            $sql$, v_table, v_until)
        using p_inbox, v_was.low_watermark, v_cursor, v_low, case when v_notes then v_was.cursor_at else '-infinity' end,
            v_inbox.max_retries,
            v_next::text::bigint, v_next::text::bigint + age(v_next::xid);
    exception when lock_not_available or deadlock_detected then
        null; -- a worker that failed one of them has not committed: another tick lists them
    end;
    -- The low watermark stops before the first pending message that is not listed.
    execute format($sql$
        select greatest($2, least($3, (
            select i.received_at
            from %s i
            where i.received_at >= $2 and i.received_at < $3
              and i.processed_at is null and i.retry_count < $4
              and (select true from pgtrickle_internal.pgt_inbox_retry_queue q
                  where q.inbox_name = $1 and q.received_at = i.received_at and q.event_id = i.event_id) is null
            order by i.received_at, i.event_id
            limit 1
        )))
        $sql$, v_table)
    into v_low
    using p_inbox, v_was.low_watermark, v_low, v_inbox.max_retries;
    insert into pgtrickle_internal.pgt_inbox_progress (
        inbox_name, low_watermark, counted_at, folded_no, high_at, high_no, high_holders, noted_at, cursor_at, level_watermarks
    ) values (
        p_inbox, v_low, v_sure_at, v_sure_no, v_high_at, v_high_no, v_holders,
        case when v_notes then v_now else v_was.noted_at end, case when v_notes then v_cursor else v_was.cursor_at end,
        pgtrickle_internal.pgt_inbox_level_watermarks(p_inbox, v_sure_at, v_was.level_watermarks)
    );
    delete from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = p_inbox and p.no <= v_was.no;
    delete from pgtrickle_internal.pgt_inbox_claims c
    where c.inbox_name = p_inbox
      and c.no between 1 and (select max(l.no) from pgtrickle_internal.pgt_inbox_claims l where l.inbox_name = p_inbox) - 1;
end;
$function$;

-- Deletes one batch of messages of an inbox whose retention has passed, and leases that are over; returns how many messages.
-- A retention of zero keeps all. Of an inbox with a dedup window, it does nothing and returns 0 while another session deletes a batch.
-- Reads and deletes messages; locks the inbox's task of retention; writes pgt_inbox_deltas, pgt_inbox_leases.
create function pgtrickle_internal.pgt_inbox_drain(p_inbox text, p_batch_size integer)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_inbox record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table regclass := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass;
    v_count bigint;
    v_ids   text[]; -- of messages that may go; null unless the inbox remembers ids longer than messages
    v_kept  interval := coalesce(v_inbox.processed_retention,
        make_interval(hours => least((select s.value from pgtrickle_internal.pgt_setting('inbox_processed_retention_hours') s)::integer,
        8766000)));
    v_quarantined bigint;
begin
    -- One session at a time, so that an id is in one batch only. Two sessions could note the same messages; while one of them deletes a
    -- message, the other would skip it as locked, still see it, take it for one that is left, and delete its id from the past ids.
    if v_inbox.dedup_window is not null then
        perform from pgtrickle_internal.pgt_tasks t where t.task = 'inbox ' || p_inbox || ': retention' for update skip locked;
        if not found then
            return 0::bigint;
        end if;
        v_ids := pgtrickle_internal.pgt_inbox_retired(p_inbox);
    end if;
    execute format($sql$
        with gone as (
            delete from %1$s i
            where i.ctid = any (array(
                -- Also what is received later than now, as the sender's clock is ahead.
                select o.ctid
                from (values ('-infinity', $3 - $5), ($3, 'infinity')) r (low, high)
                cross join lateral (
                    select o.ctid
                    from %1$s o
                    where $5 > interval '0' and o.received_at between r.low and r.high and o.processed_at < $3 - $5
                      and ($7 is null or o.event_id = any ($7))
                    order by o.received_at, o.event_id
                    limit $2
                    for update skip locked
                ) o
            ) || array(
                select o.ctid
                from pgtrickle_internal.pgt_inbox_dead d
                join %1$s o on o.event_id = d.event_id
                where $6 > interval '0' and d.inbox_name = $1 and d.dead_at < $3 - $6 and o.processed_at is null and o.retry_count >= $4
                limit $2
                for update of o skip locked
            ))
            returning i.event_type, i.received_at, i.processed_at
        ),
        counted as (
            insert into pgtrickle_internal.pgt_inbox_deltas (inbox_name, is_expired, event_type, received, processed, processing_us)
            select $1, true, g.event_type, count(*), count(*), sum(pgtrickle_internal.pgt_processing_us(g.received_at, g.processed_at))
            from gone g
            where g.processed_at is not null
            group by g.event_type
        )
        select count(*) from gone
        $sql$, v_table)
    into v_count
    using p_inbox, p_batch_size, clock_timestamp(), v_inbox.max_retries,
        case when v_ids = '{}' then interval '0' else v_kept end,
        coalesce(v_inbox.dead_letter_retention, make_interval(hours =>
            least((select s.value from pgtrickle_internal.pgt_setting('inbox_dlq_retention_hours') s)::integer, 8766000))), v_ids;
    if v_ids is not null then
        v_count := greatest(v_count, pgtrickle_internal.pgt_inbox_note_ids(p_inbox, v_ids, v_kept, p_batch_size));
    end if;
    -- Leases whose messages were marked without their id, or by several sessions at once, and those that others followed.
    if v_inbox.has_delay then
        execute format($sql$
            delete from pgtrickle_internal.pgt_inbox_leases l
            where l.inbox_name = $1 and (
                select true from generate_series(cardinality(l.event_ids), 1, -1) g (no)
                join %s i on i.event_id = any (array[l.event_ids[g.no]]) and i.available_at = l.until
                where i.processed_at is null and i.retry_count < $2 limit 1
            ) is null
            $sql$, v_table)
        using p_inbox, v_inbox.max_retries;
    end if;
    if 'wire' = any (pgtrickle_internal.pgt_modules()) then
        delete from pgtrickle.pgt_inbox_quarantine q
        where q.inbox_name = p_inbox and q.document_id = any (array(
            select o.document_id
            from (select coalesce(v_inbox.dead_letter_retention,
                make_interval(hours => least((select s.value from pgtrickle_internal.pgt_setting('inbox_dlq_retention_hours') s)::integer,
                8766000))) as kept) r
            join pgtrickle.pgt_inbox_quarantine o on o.inbox_name = p_inbox and o.received_at < clock_timestamp() - r.kept
            where r.kept > interval '0'
            limit p_batch_size
            for update of o skip locked
        ));
        get diagnostics v_quarantined = row_count;
        v_count := greatest(v_count, v_quarantined);
    end if;
    return v_count;
end;
$function$;

-- The frequent work of an inbox, if it is due and no other session is at it: counts, low watermark, retry queue, dead letters, alerts.
-- Reads pgt_inbox_leases; writes pgt_tasks, pgt_inbox_progress, pgt_inbox_retry_queue, the inbox, its sequences of attempts,
-- pgt_inbox_dead;
-- notifies pg_trickle_alert.
create function pgtrickle_internal.pgt_inbox_tick(p_inbox text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '100ms' -- it gives way to workers that change the same entries in another order, before that is a deadlock
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_inbox   record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table   regclass := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass;
    v_due     timestamptz;
    v_now     timestamptz;
    v_slot    record;
    v_at      record;
    v_counted bigint;
    v_found   bigint;
    v_most    bigint;
    v_count   bigint;
begin
    if v_inbox.last_due is not null then
        execute format('select %I.%I(clock_timestamp())', 'pgtrickle_internal', v_inbox.last_due) into v_due;
    end if;
    begin
        -- The table comes first, as in TRUNCATE: the other order deadlocks.
        execute format('lock table %s in access share mode', v_table);
        if not pgtrickle_internal.pgt_take_task('inbox ' || p_inbox || ': counts', coalesce(v_inbox.due_after, '0'), v_due) then
            return;
        end if;
        perform pgtrickle_internal.pgt_inbox_settle(p_inbox);
        -- What was counted in a partition that came after the last look: it stays until the locks are released, and may be gone at the next
        -- look.
        update pgtrickle_internal.pgt_inbox_partitions p
        set version = ''
        where p.inbox_table = format('%I.%I', v_inbox.inbox_schema, v_inbox.inbox_table) and p.version <> ''
          and pgtrickle_internal.pgt_see_partitions(p.inbox_table, false);
        perform pgtrickle_internal.pgt_inbox_order_tick(p_inbox);

        -- Claims read the queue from the first entry that is due, so those of messages that are no longer pending, which a worker had
        -- before they were listed, would halve their speed. An entry that was changed meanwhile has another xmin, and stays.
        v_now := clock_timestamp();
        if exists (select from pgtrickle_internal.pgt_inbox_retry_queue q where q.inbox_name = p_inbox and q.due_at <= v_now) then
            execute format($sql$
                delete from pgtrickle_internal.pgt_inbox_retry_queue q
                using (
                    select q.*
                    from (
                        select q.received_at, q.event_id, q.xmin as version
                        from pgtrickle_internal.pgt_inbox_retry_queue q
                        where q.inbox_name = $1 and q.due_at <= $2
                        order by q.due_at, q.event_id
                        limit 1000
                    ) q
                    where (
                        select true from %s i
                        where i.event_id = any (array[q.event_id]) and case when i.received_at = q.received_at then true end
                          and i.processed_at is null and i.retry_count < $3
                        limit 1
                    ) is null
                ) i
                where q.inbox_name = $1 and q.received_at = i.received_at and q.event_id = i.event_id and q.xmin = i.version
                $sql$, v_table)
            using p_inbox, v_now, v_inbox.max_retries;
        end if;

        -- Messages that had all their attempts are dead letters, also where the claim that found this was rolled back. Each is looked for
        -- once, as another attempt says. If the claim was not rolled back, this version of its row is no more. A sequence is free again
        -- when its message was not counted for half an hour.
        for v_slot in
            select s.*
            from (
                select s.slot, v.value, v.value >> 12 as version, (v.value >> 10) & 3 as counted, v.value & 1023 as attempts,
                       ('(' || (v.value >> 33) || ',' || ((v.value >> 22) & 2047) || ')')::tid as place, (v.value >> 12) & 1023 as xmin_end
                from unnest(v_inbox.attempts) n
                cross join lateral (select ('pgtrickle_internal.' || quote_ident(n))::regclass as slot) s
                cross join lateral (select coalesce(pg_sequence_last_value(s.slot), 0) as value) v
            ) s
            where s.attempts = v_inbox.max_attempts or s.value > 0 and
                ((floor(extract(epoch from clock_timestamp()) / 1800)::bigint & 3) - s.counted) & 3 > 1
        loop
            perform setval(v_slot.slot, case v_slot.attempts when v_inbox.max_attempts then v_slot.value + 1 else 0 end);
            continue when v_slot.attempts <> v_inbox.max_attempts;
            execute format($sql$
                update %1$s i
                set retry_count = greatest(i.retry_count, $3), error = $4
                where (i.tableoid, i.ctid) = (
                    select o.tableoid, o.ctid
                    from %1$s o
                    where o.ctid = $1 and (o.xmin::text::bigint + o.tableoid::bigint) & 1023 = $2
                      and o.processed_at is null and o.retry_count < $3
                    for update skip locked
                )
                $sql$, v_table)
            using v_slot.place, v_slot.xmin_end, v_inbox.max_retries,
                left('claimed ' || v_inbox.max_attempts || ' times, and neither processed nor failed',
                pgtrickle_internal.pgt_most_of_errors(v_table));
        end loop;

        -- So are those whose leases ended that often without a mark.
        perform pgtrickle_internal.pgt_end_leases(p_inbox);

        -- A safety net: should anything ever break the rule of the low watermark, it is moved back, so that no message stays unseen once
        -- the backlog is below a thousand.
        select p.* into v_at from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = p_inbox order by p.no desc limit 1;
        if v_at.low_watermark > '-infinity' then
            execute format($sql$
                select (pgtrickle.inbox_health($1) ->> 'pending_count')::bigint, count(*)
                from (
                    (
                        select from %1$s i
                        where i.received_at >= $2 and i.processed_at is null and i.retry_count < $3
                          and (select true from pgtrickle_internal.pgt_inbox_retry_queue q
                              where q.inbox_name = $1 and q.received_at = i.received_at and q.event_id = i.event_id) is null
                        limit 1001
                    )
                    union all
                    (
                        select from pgtrickle_internal.pgt_inbox_retry_queue q
                        cross join lateral (
                            select o.processed_at, o.retry_count
                            from %1$s o
                            where o.event_id = q.event_id and o.received_at = q.received_at
                            limit 1
                        ) i
                        where q.inbox_name = $1 and i.processed_at is null and i.retry_count < $3
                        limit 1001
                    )
                ) f
                $sql$, v_table)
            into v_counted, v_found
            using p_inbox, v_at.low_watermark, v_inbox.max_retries;
            if v_found <= 1000 and v_found <> v_counted then
                insert into pgtrickle_internal.pgt_inbox_progress (inbox_name, counted_at, folded_no)
                values (p_inbox, v_at.counted_at, v_at.folded_no);
                raise warning using
                    message = 'inbox ' || p_inbox || ': ' || v_counted || ' messages are counted as pending, ' || v_found || ' were found',
                    hint = 'Were triggers disabled? The low watermark is moved back; to recount, call after_restore().';
            end if;
        end if;

        if 'wire' = any (pgtrickle_internal.pgt_modules()) then
            perform pgtrickle_internal.pgt_alert_quarantined(p_inbox);
        end if;

        -- New dead letters are alerted once, those beyond the cap in one sum.
        if v_inbox.with_dead_letter and exists (
            select from pgtrickle_internal.pgt_inbox_dead d where d.inbox_name = p_inbox and not d.alerted
        ) then
            v_most := case when v_inbox.tenant_column is null then
                (select s.value from pgtrickle_internal.pgt_setting('inbox_dlq_alert_max_per_refresh') s)::bigint
                else 0 end; -- whoever listens would learn of another tenant's messages: their number is enough
            -- A notification holds less than 8000 bytes: texts are cut if it would not.
            execute format($sql$
                with seen as (
                    update pgtrickle_internal.pgt_inbox_dead d
                    set alerted = true
                    where d.inbox_name = $1 and not d.alerted
                    returning d.event_id, d.dead_at
                )
                select count(*), count(pg_notify('pg_trickle_alert', case
                           when octet_length(a.alert::text) <= 7900 then a.alert
                           else a.alert || jsonb_build_object(
                               'event_id', left(a.event_id, 400), 'event_type', left(a.event_type, 100), 'error', left(a.error, 100)
                           )
                       end::text)) filter (where a.no <= $3)
                from (
                    select i.event_id, i.event_type, i.error, row_number() over (order by s.dead_at, s.event_id) as no,
                           jsonb_build_object(
                               'type', 'inbox_dlq_message', 'inbox', $1, 'event_id', i.event_id, 'event_type', i.event_type,
                               'retry_count', i.retry_count, 'error', i.error
                           ) as alert
                    from seen s
                    cross join lateral (select o.* from %s o where o.event_id = s.event_id limit 1) i
                    where i.processed_at is null and i.retry_count >= $2
                ) a
                $sql$, v_table)
            into v_count
            using p_inbox, v_inbox.max_retries, v_most;
            if v_count > v_most then
                perform pg_notify(
                    'pg_trickle_alert', jsonb_build_object('type', 'inbox_dlq_batch', 'inbox', p_inbox, 'count', v_count - v_most)::text
                );
            end if;
        end if;
    exception when lock_not_available or deadlock_detected then
        return; -- the next tick does it
    when others then
        update pgtrickle_internal.pgt_tasks t set last_error = left(sqlerrm, 1000) where t.task = 'inbox ' || p_inbox || ': counts';
        raise warning using message = 'inbox ' || p_inbox || ': ' || sqlerrm;
    end;
end;
$function$;

-- The ids of a batch of messages that retention may delete, as they are remembered; null if the inbox forgets ids with their messages.
-- Reads pgt_inbox_config, pg_locks; writes pgt_inbox_retiring.
--
-- An insert looks for its id among the past ids, then in the inbox. One that looked before the id was noted must still find the message.
-- So: note the ids; once that is committed, read which transactions write the inbox; when all of them have ended, delete the messages.
create function pgtrickle_internal.pgt_inbox_retired(p_inbox text)
    returns text[]
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as $function$
declare
    v_inbox record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table regclass := format('%I.%I', v_inbox.inbox_schema, v_inbox.inbox_table)::regclass;
    v_ids   text[];
begin
    if v_inbox.dedup_window is null then
        return null;
    end if;
    -- One statement: its snapshot has the ids before the locks are read. A transaction changes its name when it is prepared.
    with
    holders as materialized (
        select coalesce(array_agg(l.virtualtransaction), '{}') as names
        from pg_locks l
        where l.locktype = 'relation'
      and l.relation = v_table
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      and l.pid is distinct from pg_backend_pid()
    )
    update pgtrickle_internal.pgt_inbox_retiring r
    set waits_for = case
            when r.waits_for is null then h.names
            else array(select n from unnest(h.names) n where n = any (r.waits_for) or n like '-1/%')
        end
    from holders h
    where r.inbox_name = p_inbox and r.noted_by <> pg_current_xact_id() and r.waits_for is distinct from '{}';

    delete from pgtrickle_internal.pgt_inbox_retiring r
    where (r.inbox_name, r.no) = (
        select o.inbox_name, o.no
        from pgtrickle_internal.pgt_inbox_retiring o
        where o.inbox_name = p_inbox and o.waits_for = '{}'
        order by o.no
        limit 1
        for update skip locked
    )
    returning r.event_ids into v_ids;
    return coalesce(v_ids, '{}');
end;
$function$;

-- Notes the ids of the next batch of messages that retention will delete, and forgets a batch of ids whose window has passed. Returns how
-- many it forgot, or the size of a batch if it noted ids.
-- Reads the inbox; writes its past ids and pgt_inbox_retiring.
create function pgtrickle_internal.pgt_inbox_note_ids(p_inbox text, p_retired text[], p_retention interval, p_batch_size integer)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_inbox record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table regclass := format('%I.%I', v_inbox.inbox_schema, v_inbox.inbox_table)::regclass;
    v_ids   regclass := format('%I.%I', 'pgtrickle_internal', v_inbox.past_ids)::regclass;
    v_now   timestamptz := clock_timestamp();
    v_last  record; -- of the batches that are noted
    v_count bigint;
    v_noted bigint;
begin
    -- What retention left, since it is pending again or held, has its id in the inbox.
    execute format('delete from %s p using %s i where p.event_id = any ($1) and i.event_id = p.event_id', v_ids, v_table) using p_retired;
    execute format($sql$
        delete from %1$s p
        where p.ctid = any (array(
            select o.ctid from %1$s o where o.processed_at < $1 order by o.processed_at limit $2 for update skip locked
        ))
        $sql$, v_ids)
    using v_now - v_inbox.dedup_window, p_batch_size;
    get diagnostics v_count = row_count;

    -- The next batch begins where the last one ended; without one, at the oldest message.
    select r.last_at, r.last_id into v_last
    from pgtrickle_internal.pgt_inbox_retiring r
    where r.inbox_name = p_inbox
    order by r.no desc
    limit 1;
    execute format($sql$
        with
        overdue as materialized (
            select o.*
            from (values ('-infinity', $1 - $2), ($1, 'infinity')) r (low, high)
            cross join lateral (
                select o.received_at, o.event_id, o.processed_at
                from %1$s o
                where $2 > interval '0' and o.received_at between r.low and r.high and o.processed_at < $1 - $2
                  and (o.received_at, o.event_id) > ($4, $5)
                order by o.received_at, o.event_id
                limit $3
            ) o
            order by o.received_at, o.event_id
            limit $3
        ),
        noted as (
            insert into %2$s (event_id, processed_at)
            select o.event_id, o.processed_at from overdue o
            on conflict (event_id) do update set processed_at = excluded.processed_at
        )
        insert into pgtrickle_internal.pgt_inbox_retiring (inbox_name, event_ids, last_at, last_id)
        select $6, array_agg(o.event_id), max(o.received_at), (array_agg(o.event_id order by o.received_at desc, o.event_id desc))[1]
        from overdue o
        having count(*) > 0
        $sql$, v_table, v_ids)
    using v_now, p_retention, p_batch_size, coalesce(v_last.last_at, '-infinity'), coalesce(v_last.last_id, ''), p_inbox;
    get diagnostics v_noted = row_count;
    return case when v_noted > 0 then p_batch_size else v_count end;
end;
$function$;

-- Background work of an inbox with ordering: says which messages of the backlog wait, and alerts of gaps, each once.
-- Reads the inbox, pgt_inbox_ordering_config, pgt_inbox_sequences; writes the inbox's backlog, pgt_inbox_wakes; notifies pg_trickle_alert.
create function pgtrickle_internal.pgt_inbox_order_tick(p_inbox text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_inbox   record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_order   record;
    v_now     timestamptz := now(); -- so that no message is looked at twice in a transaction
    v_is_due  boolean;
    v_gap_at  timestamptz; -- of the latest that is alerted
begin
    select o.* into v_order from pgtrickle.pgt_inbox_ordering_config o where o.inbox_name = p_inbox;
    if not found then
        return;
    end if;
    -- what finds nothing is not planned: that takes longer than the rest of an idle tick
    if exists (select from pgtrickle_internal.pgt_inbox_wakes w where w.inbox_name = p_inbox) then
        execute format($sql$
            with gone as (delete from pgtrickle_internal.pgt_inbox_wakes w where w.inbox_name = $1 returning w.aggregate_key)
            update pgtrickle_internal.%1$I b
            set due_at = $2
            where b.is_waiting and (b.aggregate_key, b.sequence, b.event_id) in (
                select f.aggregate_key, f.sequence, f.event_id
                from (select distinct g.aggregate_key from gone g) g
                cross join lateral (
                    select f.*
                    from pgtrickle_internal.%1$I f
                    where f.aggregate_key = g.aggregate_key
                    order by f.sequence, f.event_id
                    limit 1
                ) f
            )
            $sql$, v_order.backlog)
        using p_inbox, v_now;
    end if;

    -- @plpgsql_check_options: security_warnings = off
    execute format($sql$
        select exists (select from pgtrickle_internal.%1$I b where not b.is_waiting and b.due_at <= $1 - interval '1 second')
            or exists (select from pgtrickle_internal.%1$I b where b.is_waiting and b.due_at <= $1)
        $sql$, v_order.backlog)
    into v_is_due
    using v_now;
    if v_is_due then
        -- What waits must not stay where claims look, and what does no more must go there. A transaction that ended the wait without seeing
        -- the message had an id when a tick first saw it wait, so a lower one than the next tick that looks. Once all of these are over,
        -- whoever ends the wait sees it.
        execute format($sql$
            update pgtrickle_internal.%1$I b
            set (is_waiting, due_at, seen_from) = (
                select w.is_waiting,
                       case
                           when w.is_waiting and b.seen_from between '1' and pg_snapshot_xmin(pg_current_snapshot()) then 'infinity'
                           when w.is_waiting
                               then clock_timestamp() + least(greatest(interval '2 seconds', $1 - i.received_at), interval '1 minute')
                           when i.retry_count >= $2 then 'infinity'
                           else greatest(%4$s, $1)
                       end,
                       case when w.is_waiting then
                           case b.seen_from when '0' then pg_current_xact_id() else coalesce(b.seen_from, '0') end
                       end
                from %2$I.%3$I i
                cross join lateral (select (exists (
    select
    from pgtrickle_internal.%1$I f
    where f.aggregate_key = b.aggregate_key and (f.sequence, f.event_id) < (b.sequence, b.event_id)
) or case when $4 is not null and b.aggregate_key like 'a%%' then b.sequence::text::bigint > 1 + coalesce((
    select max(s.last_sequence)
    from pgtrickle_internal.pgt_inbox_sequences s
    where s.inbox_name = $3 and s.aggregate_key = b.aggregate_key
), $4) end) as is_waiting offset 0) w
                where i.event_id = any (array[b.event_id])
            )
            where b.ctid = any (array(
                select b.ctid
                from pgtrickle_internal.%1$I b
                where b.ctid = any (array( -- a join would be quadratic where statistics say that there are few
                    select b.place
                    from (
                        (
                            select b.ctid as place, b.*
                            from pgtrickle_internal.%1$I b
                            where not b.is_waiting and b.due_at <= $1 - interval '1 second'
                            order by b.due_at, b.event_id
                            limit 10000
                        )
                        union all
                        (
                            select b.ctid, b.*
                            from pgtrickle_internal.%1$I b
                            where b.is_waiting and b.due_at <= $1
                            order by b.due_at, b.event_id
                            limit 10000
                        )
                    ) b
                    join %2$I.%3$I i on i.event_id = any (array[b.event_id])
                    -- Only what changes is locked: the first of an aggregate may be one of many that workers have not come to yet.
                    where i.processed_at is null and (b.is_waiting or i.retry_count >= $2 or %4$s > $1 or (exists (
    select
    from pgtrickle_internal.%1$I f
    where f.aggregate_key = b.aggregate_key and (f.sequence, f.event_id) < (b.sequence, b.event_id)
) or case when $4 is not null and b.aggregate_key like 'a%%' then b.sequence::text::bigint > 1 + coalesce((
    select max(s.last_sequence)
    from pgtrickle_internal.pgt_inbox_sequences s
    where s.inbox_name = $3 and s.aggregate_key = b.aggregate_key
), $4) end))
                ))
                for update of b skip locked
            ))
            $sql$, v_order.backlog, v_inbox.rows_schema, v_inbox.rows_table,
            case when v_inbox.has_delay then 'i.available_at' else 'null::timestamptz' end)
        using v_now, v_inbox.max_retries, p_inbox, v_order.start - 1;
    end if;

    if v_order.start is not null then
        v_gap_at := v_now - make_interval(secs => coalesce(
            extract(epoch from v_order.gap_alert_after)::double precision,
            (select s.value from pgtrickle_internal.pgt_setting('ordering_gap_alert_seconds') s)::double precision
        ));
        execute format('select exists (select from %I.%I b where not b.gap_alerted and b.gap_at <= $1)', 'pgtrickle_internal',
            v_order.backlog)
        into v_is_due
        using v_gap_at;
        if not v_is_due then
            return;
        end if;
        -- The oldest ones one by one, those beyond the cap of dead letters in one sum; not those that were filled. A notification holds
        -- less than 8000 bytes: the name of an aggregate is cut.
        execute format($sql$
            with seen as (
                update pgtrickle_internal.%1$I b
                set gap_alerted = true
                where b.ctid = any (array(
                    select b.ctid
                    from pgtrickle_internal.%1$I b
                    where not b.gap_alerted and b.gap_at <= $3
                    order by b.gap_at
                    limit 10000
                    for update of b skip locked
                ))
                returning b.*
            ),
            new as (
                select substr(b.aggregate_key, 2) as aggregate_id, g.missing_from, b.sequence - 1 as missing_to,
                       extract(epoch from $2 - b.gap_at) as age
                from seen b
                cross join lateral (
                    select coalesce(max(s.last_sequence), $5) as last_sequence
                    from pgtrickle_internal.pgt_inbox_sequences s
                    where s.inbox_name = $1 and s.aggregate_key = b.aggregate_key
                ) s
                cross join lateral (
                    select 1 + greatest(s.last_sequence, (
        select f.sequence
        from pgtrickle_internal.%1$I f
        where f.aggregate_key = b.aggregate_key and (f.sequence, f.event_id) < (b.sequence, b.event_id)
        order by f.sequence desc, f.event_id desc
        limit 1
    )) as missing_from
                ) g
                where g.missing_from < b.sequence
            )
            select count(pg_notify('pg_trickle_alert', a.alert::text))
            from (
                (
                    select jsonb_build_object(
                        'type', 'inbox_ordering_gap', 'inbox', $1, 'aggregate_id', left(n.aggregate_id, 1000),
                        'missing_from', n.missing_from, 'missing_to', n.missing_to, 'gap_age_seconds', round(n.age)
                    )
                    from new n
                    order by n.age desc, n.aggregate_id
                    limit $4
                )
                union all
                select jsonb_build_object('type', 'inbox_ordering_gap_batch', 'inbox', $1, 'count', count(*) - $4)
                from new
                having count(*) > $4
            ) a (alert)
            $sql$, v_order.backlog)
        using p_inbox, v_now, v_gap_at, (select s.value from pgtrickle_internal.pgt_setting('inbox_dlq_alert_max_per_refresh') s)::bigint,
            v_order.start - 1;
    end if;
end;
$function$;

-- The low watermark of each level of an inbox with priority: before it nothing of the level is pending, or will be. p_sure_at: all
-- transactions that read an earlier high watermark have ended; p_were: the watermarks so far.
-- Reads pgt_inbox_priority_config; writes the inbox's backlog.
create function pgtrickle_internal.pgt_inbox_level_watermarks(p_inbox text, p_sure_at timestamptz, p_were timestamptz[])
    returns timestamptz[]
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set jit = off
as $function$
declare
    v_level record;
    v_first timestamptz;
    v_are   timestamptz[];
begin
    for v_level in
        select c.backlog, l.level, coalesce(p_were[l.no], '-infinity') as low_at, timestamptz 'epoch' + interval '1 microsecond'
                   * coalesce(pg_sequence_last_value(format('%I.%I', 'pgtrickle_internal', l.cursor)::regclass), 0) as cursor_at
        from pgtrickle.pgt_inbox_priority_config c
        cross join lateral unnest(c.levels, c.cursors) with ordinality l (level, cursor, no)
        where c.inbox_name = p_inbox
        order by l.no
    loop
        -- What claims passed half a minute ago is held by a slow worker. It goes to the cursor, so that it does not hold the watermark.
        execute format($sql$
            update pgtrickle_internal.%1$I b
            set due_at = $3
            where b.event_id = any (array(
                select o.event_id
                from pgtrickle_internal.%1$I o
                where o.level = $1 and o.due_at >= $2 and o.due_at < $3 - interval '30 seconds'
                order by o.due_at, o.event_id
                limit 1000
                for update skip locked
            ))
            $sql$, v_level.backlog)
        using v_level.level, v_level.low_at, least(v_level.cursor_at, p_sure_at);
        execute format($sql$
            select b.due_at
            from pgtrickle_internal.%I b
            where b.level = $1 and b.due_at >= $2
            order by b.due_at, b.event_id
            limit 1
            $sql$, v_level.backlog)
        into v_first
        using v_level.level, v_level.low_at;
        v_are := v_are || greatest(v_level.low_at, least(v_first, p_sure_at));
    end loop;
    return v_are;
end;
$function$;

-- Trigger function of journals: notes when a message changed.
create function pgtrickle_internal.pgt_inbox_touched()
    returns trigger
    language plpgsql
as $function$
begin
    new.updated_at := pg_catalog.clock_timestamp();
    return new;
end;
$function$;

-- The columns of an id of several columns, as texts: it has a slash between them. In a text, ~1 stands for a slash and ~0 for a tilde.
create function pgtrickle_internal.pgt_split_id(p_inbox text, p_event_id text, p_columns text[])
    returns text[]
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_parts text[] := string_to_array(p_event_id, '/');
begin
    if cardinality(v_parts) <> cardinality(p_columns) or p_event_id ~ '~(?![01])' then
        raise exception using errcode = '22023', message = 'p_event_id is no id of inbox ' || p_inbox || ': ' || p_event_id,
            detail = 'An id has the columns ' || array_to_string(p_columns, ', ') || ', joined by slashes.',
            hint = 'In a text, write ~1 for a slash and ~0 for a tilde.';
    elsif strpos(p_event_id, '~') > 0 then
        v_parts := array(
            select replace(replace(u.part, '~1', '/'), '~0', '~') from unnest(v_parts) with ordinality u (part, no) order by u.no
        );
    end if;
    return v_parts;
end;
$function$;

-- The moment that a part of an id stands for: seconds since 1970. Exact, as a double precision number is not.
create function pgtrickle_internal.pgt_id_time(p_part text)
    returns timestamptz
    language sql
    immutable
as $function$
    select pg_catalog.timezone(
        'UTC', pg_catalog.make_date(1970, 1, 1) operator(pg_catalog.+) p.days::integer operator(pg_catalog.+) pg_catalog.make_interval(
            secs => (p.seconds operator(pg_catalog.-) (p.days operator(pg_catalog.*) 86400))::double precision
        )
    )
    from (
        select n.seconds, pg_catalog.floor(n.seconds operator(pg_catalog./) 86400) as days from (select p_part::numeric as seconds) n
    ) p
$function$;

-- A table with all its partitions, and what tells that one came, went, or was truncated or rewritten.
-- Reads pg_inherits, pg_class.
create function pgtrickle_internal.pgt_partitions(p_table regclass)
    returns table (relation oid, version text)
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    with recursive tree (relation, is_leaving) as (
        select p_table::oid, false
        union all
        select h.inhrelid, t.is_leaving or h.inhdetachpending from tree t join pg_inherits h on h.inhparent = t.relation
    )
    select t.relation, concat_ws(' ', t.relation, c.relfilenode, t.is_leaving) from tree t join pg_class c on c.oid = t.relation
$function$;

-- Whether the partitions of an inbox's table changed since this was noted; notes it if p_note.
-- Reads and writes pgt_inbox_partitions.
create function pgtrickle_internal.pgt_see_partitions(p_table text, p_note boolean)
    returns boolean
    language plpgsql
    strict
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_version   text;
    v_relations oid[];
begin
    select md5(string_agg(p.version, ',' order by p.relation)), array_agg(p.relation)
    into v_version, v_relations
    from pgtrickle_internal.pgt_partitions(p_table::regclass) p;
    if v_version = (select p.version from pgtrickle_internal.pgt_inbox_partitions p where p.inbox_table = p_table) then
        return false;
    elsif p_note then
        insert into pgtrickle_internal.pgt_inbox_partitions (inbox_table, version, relations)
        values (p_table, v_version, v_relations)
        on conflict (inbox_table) do update set version = excluded.version, relations = excluded.relations;
    end if;
    return true;
end;
$function$;

-- How many characters of an error the rows of an inbox hold.
-- Reads pg_attribute.
create function pgtrickle_internal.pgt_most_of_errors(p_rows regclass)
    returns integer
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select least(1000, nullif(a.atttypmod, -1) - 4) from pg_attribute a where a.attrelid = p_rows and a.attname = 'error'
$function$;

-- The table of a user that an inbox is over, if it has the columns that the inbox uses, the first p_ids of which identify a message.
-- p_nulls: whether a column has to take nulls; null if it may do either. Reads the catalogs. InboxTableNotFound, InboxColumnMissing.
create function pgtrickle_internal.pgt_require_table(p_inbox text, p_table text, p_columns name[], p_types text[], p_nulls boolean[], p_ids
    integer default 1, p_kind "char" default 'r')
    returns regclass
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_table regclass := to_regclass(p_table);
    v_wrong record;
    v_made  boolean := exists (select from pgtrickle.pgt_inbox_config c where c.inbox_name = p_inbox and c.is_imperative); -- by a function
    v_part  regclass; -- that is unlogged
begin
    if not exists (select from pg_class c where c.oid = v_table and c.relkind = p_kind) then
        raise exception using errcode = '42P01', message = 'inbox table not found: ' || p_table,
            detail = 'Inbox ' || p_inbox || ' is over this table, which ' || case
                when v_table is null then 'does not exist.' when p_kind = 'r' then 'is no ordinary table.' else 'is no partitioned table.'
                    end,
            hint = 'Create it, or give the inbox another table' || case when v_made then '.' else ' in the spec.' end;
    end if;
    select e.name, e.type, e.nulls, a.attnotnull, format_type(a.atttypid, a.atttypmod) as has_type
    into v_wrong
    from unnest(p_columns, p_types, p_nulls) with ordinality e (name, type, nulls, no)
    left join pg_attribute a on a.attrelid = v_table and a.attname = e.name and a.attnum > 0 and not a.attisdropped
    where a.attname is null or format_type(a.atttypid, a.atttypmod) <> e.type or a.attnotnull = e.nulls
    order by a.attname is not null, e.no
    limit 1;
    if v_wrong.has_type is null and found then
        raise exception using errcode = '42703', message = 'inbox column missing in ' || p_table || ': ' || v_wrong.name,
            detail = 'Inbox ' || p_inbox || ' uses this column.',
            hint = 'If it has another name, give that ' || case when v_made then 'to enable_inbox_tracking.' else 'in the spec: columns.'
                end;
    elsif found then
        raise exception using errcode = '42804', message = 'inbox column does not fit in ' || p_table || ': ' || v_wrong.name,
            detail = case when v_wrong.has_type <> v_wrong.type
                then 'It is of type ' || v_wrong.has_type || ', and inbox ' || p_inbox || ' was generated for ' || v_wrong.type || '.'
                else 'Inbox ' || p_inbox || ' needs it ' || case when v_wrong.nulls then 'to take nulls.' else 'to be not null.' end end,
            hint = case when v_made then 'Alter the column.' else 'Generate with the DDL that the table has, or alter the column.' end;
    elsif not exists (
        select
        from pg_index x
        where x.indrelid = v_table and x.indnkeyatts = p_ids and x.indisunique and x.indimmediate and x.indisvalid and x.indpred is null
          and p_ids = (
              select count(distinct a.attname)
              from unnest(x.indkey) with ordinality k (no, place)
              join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.no
              where k.place <= x.indnkeyatts and a.attname = any (p_columns[1:p_ids])
          )
    ) then
        raise exception using errcode = '42P10',
            message = case p_ids when 1 then 'inbox column is not unique in ' else 'inbox columns are not unique in ' end || p_table || ': '
                || array_to_string(p_columns[1:p_ids], ', '),
            detail = 'Inbox ' || p_inbox || case p_ids when 1 then ' stores a message once by this column.' else
                ' stores a message once by these columns.' end,
            hint = case p_ids when 1 then 'Add a unique constraint on it alone' || case when v_made then
                ', or name several columns that a key has in p_id_columns.' else '.' end
                else 'Add a unique constraint on just these.' end;
    end if;
    v_part := (
        select min(c.oid)
        from pgtrickle_internal.pgt_partitions(v_table) p
        join pg_class c on c.oid = p.relation
        where p_kind = 'p' and c.relpersistence = 'u'
    );
    if v_part is not null then
        raise exception using errcode = '42809', message = 'inbox table does not fit: ' || p_table,
            detail = format('Inbox %s cannot be over it: its partition %s is unlogged, so that a crash empties it and no trigger sees '
                'that.', p_inbox, v_part),
            hint = format('Run ALTER TABLE %s SET LOGGED.', v_part);
    elsif row_security_active(v_table) then
        raise exception using errcode = '42501', message = 'row-level security hides rows of inbox table ' || p_table,
            detail = 'Inbox ' || p_inbox || ' must see all messages, and role ' || current_user || ' does not.',
            hint = 'Let the owner of the table install the extension, or a role with BYPASSRLS.';
    end if;
    return v_table;
end;
$function$;

-- Raises an error if sessions write other times than those of UTC to columns of times without a time zone, of which there may be none.
-- Reads setting TimeZone.
create function pgtrickle_internal.pgt_require_utc(p_inbox text, p_table regclass, p_columns text[])
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if cardinality(p_columns) > 0 and (
        timestamptz '2026-01-01 00:00+00'::timestamp <> timestamp '2026-01-01' or timestamptz '2026-07-01 00:00+00'::timestamp <> timestamp
            '2026-07-01'
    ) then
        raise exception using errcode = '42804', message = format('inbox column does not fit in %s: %s', p_table, p_columns[1]),
            detail = format('It has no time zone, so inbox %s takes its times as those of UTC; setting TimeZone is %s.', p_inbox,
                current_setting('TimeZone')),
            hint = 'Alter the column to timestamptz, or set TimeZone to UTC for all sessions that write the table, and for this one.';
    end if;
end;
$function$;

-- Whether a user's table has the triggers and indexes that an inbox needs, and the view of the inbox's rows is over it.
-- Reads pg_trigger, pg_index, pg_rewrite, pg_depend.
create function pgtrickle_internal.pgt_is_attached(p_table regclass, p_rows regclass, p_triggers name[], p_indexes text[])
    returns boolean
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
    select (
        select count(*)
        from pg_trigger t
        join pg_proc p on p.oid = t.tgfoid
        where t.tgrelid = p_table and t.tgname = any (p_triggers) and p.pronamespace = 'pgtrickle_internal'::regnamespace and t.tgenabled
            <> 'D'
    ) = cardinality(p_triggers) and not exists (
        select
        from pgtrickle_internal.pgt_partitions(p_table) p
        join pg_trigger t on t.tgrelid = p.relation and t.tgname = any (p_triggers) and t.tgparentid <> 0 and t.tgenabled = 'D'
    ) and (
        select count(*) from unnest(p_indexes) n (name) join pg_index x on x.indexrelid = to_regclass(n.name) and x.indrelid = p_table
    ) = cardinality(p_indexes) and (p_rows is null or exists (
        select
        from pg_rewrite r
        join pg_depend d on d.classid = r.tableoid and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
        where r.ev_class = p_rows and d.refobjid = p_table
    ))
$function$;

-- Drops triggers and indexes that the extension made on the table of a user, on whatever table they are: it may have been renamed. Comments
-- of indexes say whether they are the extension's.
-- Reads pg_trigger, pg_index.
create function pgtrickle_internal.pgt_detach_table(p_triggers name[], p_indexes text[])
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_trigger record;
    v_index   regclass;
begin
    for v_trigger in
        select t.tgname, t.tgrelid::regclass as on_table
        from pg_trigger t
        join pg_proc p on p.oid = t.tgfoid
        where t.tgname = any (p_triggers) and p.pronamespace = 'pgtrickle_internal'::regnamespace and not t.tgisinternal
          and t.tgparentid = 0 -- those of partitions go with the table's
    loop
        execute format('drop trigger %I on %s', v_trigger.tgname, v_trigger.on_table);
    end loop;
    for v_index in
        select x.indexrelid::regclass
        from unnest(p_indexes) n (name)
        join pg_index x on x.indexrelid = to_regclass(n.name)
        where strpos(obj_description(x.indexrelid, 'pg_class'), '(Sluice: pgtrickle in pgtrickle)') > 0
    loop
        execute format('drop index %s', v_index);
    end loop;
end;
$function$;

-- Whether a worker has an aggregate: see inbox_is_my_partition(text, integer, integer).
create function pgtrickle.inbox_is_my_partition(p_inbox text, p_aggregate_id text, p_worker_id integer, p_total_workers integer)
    returns boolean
    language plpgsql
    immutable
    parallel safe
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle_internal.pgt_inbox_function(p_inbox, '_claim'); -- raises that there is none
    return pgtrickle.inbox_is_my_partition(p_aggregate_id, p_worker_id, p_total_workers);
end;
$function$;
comment on function pgtrickle.inbox_is_my_partition(text, text, int4, int4) is
    'Whether a worker has an aggregate. (Sluice: pgtrickle in pgtrickle)';

-- Pending messages of an inbox in processing order.
-- Reads the inbox's view of them, without locks.
create function pgtrickle.inbox_pending(p_inbox text, p_limit integer default 100)
    returns table (
        event_id text, event_type text, source text, aggregate_id text, payload jsonb, received_at timestamptz,
        retry_count integer, trace_id text, sequence text, priority integer
    )
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_sort = off
    set jit = off
as $function$
begin
    -- The rows are those of the inbox's own function. @plpgsql_check_options: extra_warnings = off
    if p_limit is null or p_limit < 0 then
        raise exception using errcode = '22023', message = 'p_limit must be zero or more',
            detail = 'Inbox ' || coalesce(p_inbox, '<null>') || '.', hint = 'Give the number of messages to return.';
    end if;
    return query execute format('select * from %I.%I($1, $2)', 'pgtrickle_internal',
        pgtrickle_internal.pgt_inbox_function(p_inbox, '_pending'))
    using p_inbox, p_limit;
end;
$function$;
comment on function pgtrickle.inbox_pending(text, int4) is
    'Pending messages of an inbox in processing order. (Sluice: pgtrickle in pgtrickle)';

-- Raises that the id of a message is too long.
create function pgtrickle_internal.pgt_refuse_id(p_inbox text, p_event_id text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    raise exception using errcode = '22023', message = 'p_event_id must have at most 2684 bytes',
        detail = 'Inbox ' || p_inbox || ', a message with an id of ' || octet_length(p_event_id) || ' bytes.',
        hint = 'That is what an entry of an index holds. Send a hash of the id.';
end;
$function$;

-- Raises an error if the id that an inbox computes from a payload is none, too long, or differs from that which the sender gave.
-- Reads pgt_inbox_config.
create function pgtrickle_internal.pgt_require_id(p_inbox text, p_event_id text, p_computed text)
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
begin
    if p_event_id <> p_computed then
        raise exception using errcode = '22023', message = 'p_event_id differs from the computed id: ' || p_event_id,
            detail = 'The payload gives ' || p_computed || '.', hint = 'Pass null to use the computed id.';
    elsif p_computed is null then
        raise exception using errcode = '22023', message = 'p_payload has no event id',
            detail = 'The id of inbox ' || p_inbox || ' is computed from the payload: '
                || (select c.event_id_expression from pgtrickle.pgt_inbox_config c where c.inbox_name = p_inbox) || '.',
            hint = 'A message without an id cannot be told from its duplicates.';
    elsif octet_length(p_computed) > 2684 then
        perform pgtrickle_internal.pgt_refuse_id(p_inbox, p_computed);
    end if;
end;
$function$;

-- Raises that a message has what its inbox does not take: a sequence or priority where there is neither (p_neither), a priority that
-- follows from a column (p_by_map), or else a time before which it is not to be claimed.
-- Reads pgt_inbox_config.
create function pgtrickle_internal.pgt_refuse_message(p_inbox text, p_event_id text, p_neither boolean, p_by_map boolean)
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_created boolean := (select c.is_imperative from pgtrickle.pgt_inbox_config c where c.inbox_name = p_inbox);
begin
    if p_neither then
        raise exception using errcode = '22023', message = 'p_sequence, p_priority: the inbox has neither',
            detail = 'Inbox ' || p_inbox || ' has no ordering and no priority.',
            hint = 'Leave them out, or give the inbox that option '
                || case when v_created then 'by enable_inbox_ordering or enable_inbox_priority.' else 'in the spec.' end;
    elsif p_by_map then
        raise exception using errcode = '22023', message = 'p_priority: the priority of inbox ' || p_inbox || ' follows from a column',
            detail = 'Message ' || coalesce(p_event_id, '<null>') || '.',
            hint = 'Leave it out; pgt_inbox_priority_config has the column and the priorities of its values.';
    end if;
    raise exception using errcode = '22023', message = 'p_available_at: inbox ' || p_inbox || ' does not delay messages',
        detail = 'Message ' || coalesce(p_event_id, '<null>') || '.',
        hint = case when v_created then 'Add a column available_at timestamptz to its table, and enable tracking again.'
            else 'Give the inbox a back-off in the spec, in place of retry: none.' end;
end;
$function$;

-- Raises that a message of inbox_receive_many is not valid, by its number, or all, as 0.
create function pgtrickle_internal.pgt_refuse_messages(p_inbox text, p_no bigint)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    raise exception using errcode = '22023',
        message = case p_no when 0 then 'p_messages must be a JSON array' else 'p_messages: message ' || p_no || ' is not valid' end,
        detail = 'Inbox ' || p_inbox || '.',
        hint = 'A message is an object: event_id of at most 2684 bytes, a text event_type, a payload, and optionally source, aggregate_id, '
            'trace_id, available_at, and sequence or priority where the inbox has them; no other keys.';
end;
$function$;

-- Raises that a message has no number by which its inbox could order it.
create function pgtrickle_internal.pgt_refuse_sequence(p_inbox text, p_event_id text, p_sequence text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    raise exception using errcode = '22023', message = 'p_sequence must be a whole number',
        detail = concat('Inbox ', p_inbox, ', message ', p_event_id, ': ', coalesce(p_sequence, '<null>'), '.'),
        hint = 'Messages of an aggregate are processed in the order of their numbers.';
end;
$function$;

-- The messages of a JSON array, as inbox_receive_many takes them, with their numbers. The planner inlines it, so that neither STRICT nor
-- SET belongs here, and every name has its schema.
create function pgtrickle_internal.pgt_given(p_messages jsonb)
    returns table (
        no bigint, event_id text, event_type text, payload jsonb, source text, aggregate_id text, trace_id text, available_at timestamptz,
        sequence text, priority integer
    )
    language sql
    stable
as $function$
    select e.no, m.*
    from pg_catalog.jsonb_array_elements(p_messages) with ordinality e (message, no)
    cross join lateral pg_catalog.jsonb_to_record(e.message) m (
        event_id pg_catalog.text, event_type pg_catalog.text, payload pg_catalog.jsonb, source pg_catalog.text, aggregate_id
            pg_catalog.text,
        trace_id pg_catalog.text, available_at pg_catalog.timestamptz, sequence pg_catalog.text, priority integer
    )
$function$;

-- Raises which of the messages of inbox_receive_many is not valid. p_sequence: what their sequences are: time, number, or id for a number
-- that the id holds; null for none. p_computes: their ids are computed from their payloads.
create function pgtrickle_internal.pgt_require_messages(
    p_inbox text, p_messages jsonb, p_sequence text, p_priority boolean, p_delays boolean, p_computes boolean
)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_ids   text[]; -- that are computed
    v_wrong bigint := 0::bigint; -- the first message that is none
begin
    if jsonb_typeof(p_messages) = 'array' then
        if p_computes then
            execute format(
                'select array_agg(%I.%I(e.message -> ''payload'') order by e.no) from jsonb_array_elements($1) with ordinality e (message, '
                    'no)',
                'pgtrickle_internal', pgtrickle_internal.pgt_inbox_function(p_inbox, '_event_id')
            )
            into v_ids
            using p_messages;
        end if;
        v_wrong := (
            select min(e.no)
            from jsonb_array_elements(p_messages) with ordinality e (message, no)
            cross join lateral (select case when p_computes then v_ids[e.no] else e.message ->> 'event_id' end as event_id) i
            where (i.event_id = coalesce(e.message ->> 'event_id', i.event_id) and jsonb_typeof(e.message -> 'event_type') = 'string'
                and e.message ? 'payload' and octet_length(i.event_id) <= 2684 and case jsonb_typeof(e.message) when 'object' then
                    e.message - '{event_id,event_type,payload,source,aggregate_id,trace_id,available_at,sequence,priority}'::text[] = '{}'
                        end
                and coalesce(
                    case when p_sequence is null then e.message ->> 'sequence' end, case when not p_priority then e.message ->> 'priority'
                        end,
                    case when not p_delays then e.message ->> 'available_at' end
                ) is null
                and case when p_sequence in ('number', 'id') then coalesce(
                    e.message ->> 'sequence' ~ '^-?[0-9]{1,18}$', p_sequence = 'id' or e.message ->> 'aggregate_id' is null
                ) else true end
                and case when p_priority then coalesce(e.message ->> 'priority' ~ '^-?[0-9]{1,9}$', true) else true end) is not true
        );
    end if;
    if v_wrong is not null then
        perform pgtrickle_internal.pgt_refuse_messages(p_inbox, v_wrong);
    end if;
end;
$function$;

-- Whether a message that is delayed until a moment is leased until then, by another transaction than this one.
-- Reads pgt_inbox_leases. Marks call it for delayed messages alone: as a part of their statements it would take them a tenth of their time.
-- Volatile, so that a mark that has waited for a claim of the message sees the lease that this claim made.
create function pgtrickle_internal.pgt_is_leased(p_inbox text, p_until timestamptz)
    returns boolean
    language sql
    volatile
    set search_path = pg_catalog, pg_temp
as $function$
    select exists (
        select from pgtrickle_internal.pgt_inbox_leases l
        where l.inbox_name = p_inbox and l.until = p_until and l.lease_id is distinct from pg_current_xact_id_if_assigned()::text::bigint
    )
$function$;

-- Whether a message that is delayed until a moment may be marked: it is in the lease p_lease_id, which ends at p_ends or, without one, in
-- none that another transaction took and that runs. The planner inlines it, so that neither STRICT nor SET belongs here, and every name has
-- its schema.
create function pgtrickle_internal.pgt_may_mark(p_inbox text, p_until timestamptz, p_lease_id bigint, p_ends timestamptz[])
    returns boolean
    language sql
    volatile
as $function$
    select case when p_lease_id is null
        then (p_until operator(pg_catalog.>) pg_catalog.clock_timestamp()) is not true or not
            pgtrickle_internal.pgt_is_leased(p_inbox, p_until)
        else p_until operator(pg_catalog.=) any (p_ends)
    end
$function$;

-- Raises why a mark found fewer messages than it was given: one is unknown, its lease is lost or, if p_marked is null, it is taken.
-- Reads pgt_inbox_config and the inbox. p_marked: how many messages were marked.
create function pgtrickle_internal.pgt_require_marked(p_inbox text, p_event_ids text[], p_lease_id bigint, p_marked bigint)
    returns void
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox     record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_id        text; -- an unknown one, if there is one, or else the first
    v_unknown   boolean;
    v_processed boolean;
    v_leased    boolean; -- by another transaction, where no lease is given
    v_given     bigint;
begin
    execute format($sql$
        select g.id, i.event_id is null, i.processed_at is not null, l.is_leased, count(*) over ()
        from (select distinct u from unnest($1) u) g (id)
        left join %I.%I i on i.event_id = g.id
        cross join lateral (select i.processed_at is null and %s as is_leased) l
        order by i.event_id is not null, not l.is_leased, g.id
        limit 1
        $sql$, v_inbox.rows_schema, v_inbox.rows_table, case
            when p_lease_id is null and v_inbox.has_delay then
                'i.available_at > clock_timestamp() and pgtrickle_internal.pgt_is_leased($2, i.available_at)'
            else 'false'
        end)
    into v_id, v_unknown, v_processed, v_leased, v_given
    using p_event_ids, p_inbox;
    if v_unknown then
        raise exception using errcode = 'P0002', message = 'inbox message not found: ' || coalesce(v_id, '<null>'),
            detail = 'Inbox ' || p_inbox || ' holds no message of this id.',
            hint = 'A processed message is gone once its retention has passed.';
    elsif p_lease_id is not null and v_given > coalesce(p_marked, 0) then
        raise exception using errcode = '55000', message = 'lease lost: inbox ' || p_inbox,
            detail = 'It is not the lease of the message, its time ran out and another claimed the message, or the message is processed.',
            hint = 'Undo the work if that is possible. If it took too long, take a longer visibility, or call inbox_extend.';
    elsif v_leased then
        raise exception using errcode = '55006', message = 'inbox message is processed or held by another transaction: ' || v_id,
            detail = 'A lease of the message in inbox ' || p_inbox || ' runs.',
            hint = 'Pass the lease_id that inbox_claim_lease returned. If that lease is over, another worker has the message.';
    elsif p_marked is null then
        raise exception using errcode = '55006', message = 'inbox message is processed or held by another transaction: ' || v_id,
            detail = case when v_processed then 'The message in inbox ' || p_inbox || ' is processed.'
                else 'Another transaction holds the message in inbox ' || p_inbox || '.' end,
            hint = case when v_processed then 'To process it again, replay it with p_include_processed.'
                else 'Go on with the next claim: the worker that holds the message decides on it.' end;
    end if;
end;
$function$;

-- Takes an id of any type: the same for uuid or bigint as for text.
create function pgtrickle.inbox_mark_processed(p_inbox text, p_event_id anynonarray, p_lease_id bigint default null)
    returns boolean
    language sql
as $function$
    select pgtrickle.inbox_mark_processed(p_inbox, p_event_id::pg_catalog.text, p_lease_id)
$function$;
comment on function pgtrickle.inbox_mark_processed(text, anynonarray, int8) is 'Takes an id of any type. (Sluice: pgtrickle in pgtrickle)';

-- Counts a failure of a message: keeps 1000 characters of its error, or those that its column takes, and returns the failures so far.
-- Writes the inbox, pgt_inbox_leases. With p_lease_id, which inbox_claim_lease returned, LeaseLost if that lease of the message is lost.
create function pgtrickle.inbox_mark_failed(p_inbox text, p_event_id text, p_error text, p_lease_id bigint default null)
    returns integer
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_failures integer;
begin
    execute format('select %I.%I($1, $2, $3, $4)', 'pgtrickle_internal', pgtrickle_internal.pgt_inbox_function(p_inbox, '_mark_failed'))
    into v_failures
    using p_inbox, p_event_id, p_error, p_lease_id;
    return v_failures;
end;
$function$;
comment on function pgtrickle.inbox_mark_failed(text, text, text, int8) is
    'Counts a failure of a message. (Sluice: pgtrickle in pgtrickle)';

-- Takes an id of any type: the same for uuid or bigint as for text.
create function pgtrickle.inbox_mark_failed(p_inbox text, p_event_id anynonarray, p_error text, p_lease_id bigint default null)
    returns integer
    language sql
as $function$
    select pgtrickle.inbox_mark_failed(p_inbox, p_event_id::pg_catalog.text, p_error, p_lease_id)
$function$;
comment on function pgtrickle.inbox_mark_failed(text, anynonarray, text, int8) is
    'Takes an id of any type. (Sluice: pgtrickle in pgtrickle)';

-- Counts failures, all or none: one of each message. Returns how many there are.
-- Writes the inbox; with p_lease_id as for one message.
create function pgtrickle.inbox_mark_failed(p_inbox text, p_event_ids text[], p_error text, p_lease_id bigint default null)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle_internal.pgt_inbox(p_inbox);
    return (
        select count(pgtrickle.inbox_mark_failed(p_inbox, f.event_id, p_error, p_lease_id))
        from (select distinct u as event_id from unnest(p_event_ids) u where u is not null order by u) f
    );
end;
$function$;
comment on function pgtrickle.inbox_mark_failed(text, text[], text, int8) is
    'Counts failures, all or none. (Sluice: pgtrickle in pgtrickle)';

-- Notes a lease of messages until a moment, or the next one at which no other lease ends; returns it.
-- Writes pgt_inbox_leases. The caller has locked the messages, and sets their available_at to what is returned.
create function pgtrickle_internal.pgt_lease(p_inbox text, p_event_ids text[], p_lease_id bigint, p_until timestamptz, p_attempts integer)
    returns timestamptz
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    loop
        insert into pgtrickle_internal.pgt_inbox_leases (inbox_name, until, lease_id, attempts, event_ids)
        values (p_inbox, p_until, p_lease_id, p_attempts, p_event_ids)
        on conflict do nothing;
        exit when found;
        p_until := p_until + interval '1 microsecond';
    end loop;
    return p_until;
end;
$function$;

-- Messages that are to be leased, by how many leases of them in a row will have ended without a mark if this one does.
-- Without p_waited none has been delayed, so that this one is the first.
-- Reads the inbox, pgt_inbox_leases.
create function pgtrickle_internal.pgt_lease_attempts(p_inbox text, p_event_ids text[], p_waited boolean)
    returns table (attempts integer, event_ids text[])
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox record;
begin
    if not p_waited then
        return query select 1, p_event_ids;
        return;
    end if;
    v_inbox := pgtrickle_internal.pgt_inbox(p_inbox);
    for attempts, event_ids in execute format($sql$
        select coalesce(l.attempts, 0) + 1, array_agg(i.event_id order by u.no)
        from unnest($2) with ordinality u (event_id, no)
        cross join lateral (select o.event_id, o.available_at from %I.%I o where o.event_id = u.event_id limit 1) i
        left join pgtrickle_internal.pgt_inbox_leases l on l.inbox_name = $1 and l.until = i.available_at
        group by 1
        $sql$, v_inbox.rows_schema, v_inbox.rows_table)
        using p_inbox, p_event_ids
    loop
        return next;
    end loop;
end;
$function$;

-- Makes dead letters of messages that had max_attempts leases which ended without a mark. Returns whether a message is due that had half as
-- many.
-- Reads pgt_inbox_leases; writes the inbox.
create function pgtrickle_internal.pgt_end_leases(p_inbox text)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan -- or it is planned each time
as $function$
declare
    v_inbox    record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_table    regclass := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass;
    v_half     integer := (v_inbox.max_attempts + 1) / 2;
    v_attempts integer;
    v_is_due   boolean;
begin
    if v_half > 1 then -- as the index of leases that are not the first says it
        select max(l.attempts) into v_attempts
        from pgtrickle_internal.pgt_inbox_leases l
        where l.inbox_name = p_inbox and l.until <= clock_timestamp() and l.attempts > 1 and l.attempts >= v_half;
    else
        select max(l.attempts) into v_attempts
        from pgtrickle_internal.pgt_inbox_leases l
        where l.inbox_name = p_inbox and l.until <= clock_timestamp() and l.attempts >= v_half;
    end if;
    -- Where there are none, no lock to write the inbox is taken: an upgrade that has locked the inbox would wait for a tick, and that for
    -- the upgrade.
    if v_attempts >= v_inbox.max_attempts then
        execute format($sql$
            with worn as materialized (
                select i.event_id
                from pgtrickle_internal.pgt_inbox_leases l
                join %1$s i on i.event_id = any (l.event_ids) and i.available_at = l.until
                where l.inbox_name = $1 and l.attempts >= $3 and l.until <= clock_timestamp()
                  and i.processed_at is null and i.retry_count < $2
                for update of i skip locked
            )
            update %1$s i set retry_count = greatest(i.retry_count, $2), error = $4 from worn w where i.event_id = w.event_id
            $sql$, v_table)
        using p_inbox, v_inbox.max_retries, v_inbox.max_attempts,
            left('claimed ' || v_inbox.max_attempts || ' times, and neither processed nor failed',
            pgtrickle_internal.pgt_most_of_errors(v_table));
    end if;
    if v_attempts is not null then
        execute format($sql$
            select exists (
                select from pgtrickle_internal.pgt_inbox_leases l
                join %1$s i on i.event_id = any (l.event_ids) and i.available_at = l.until
                where l.inbox_name = $1 and l.attempts >= $3 and l.until <= clock_timestamp()
                  and i.processed_at is null and i.retry_count < $2
            )
            $sql$, v_table)
        into v_is_due
        using p_inbox, v_inbox.max_retries, v_half;
    end if;
    return coalesce(v_is_due, false);
end;
$function$;

-- Leases messages: for work outside of a transaction. The claim outlives the commit, until a mark, inbox_release or the end of
-- p_visibility.
-- Writes the inbox, pgt_inbox_leases. Pass lease_id to the marks, which then fail with LeaseLost if another has claimed the message.
create function pgtrickle.inbox_claim_lease(
    p_inbox text, p_limit integer default 1, p_visibility interval default '30 seconds', p_worker_id integer default null,
    p_total_workers integer default null
)
    returns table (
        event_id text, event_type text, source text, aggregate_id text, payload jsonb, received_at timestamptz,
        retry_count integer, trace_id text, sequence text, priority integer, lease_id bigint
    )
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off -- whatever the statistics say
as $function$
#variable_conflict use_column
declare
    v_inbox record;
    v_ids   text[];
    v_until timestamptz := clock_timestamp() + p_visibility;
begin
    if (p_visibility > interval '0') is not true then
        raise exception using errcode = '22023', message = 'p_visibility must be more than zero',
            detail = 'Inbox ' || coalesce(p_inbox, '<null>') || '.',
            hint = 'Give the time that the work takes; inbox_extend adds to it.';
    end if;
    select c.has_delay, c.is_imperative, c.max_attempts = 2 or exists (
               select from pgtrickle_internal.pgt_inbox_leases l where l.inbox_name = p_inbox and l.attempts > 1 and l.until <=
                   clock_timestamp()
           ) as may_end
    into v_inbox
    from pgtrickle.pgt_inbox_config c
    where c.inbox_name = p_inbox;
    if not v_inbox.has_delay then
        raise exception using errcode = '22023', message = 'p_visibility: inbox ' || p_inbox || ' does not delay messages',
            detail = 'A lease delays its messages until it ends.',
            hint = case when v_inbox.is_imperative then 'Add a column available_at timestamptz to its table, and enable tracking again.'
                else 'Give the inbox a back-off in the spec, in place of retry: none.' end;
    -- A message that kills its worker ends alone: what has had half of its attempts is leased by itself, and never after all of them.
    elsif v_inbox.may_end then
        if pgtrickle_internal.pgt_end_leases(p_inbox) and p_limit > 1 then
            p_limit := 1;
        end if;
    end if;
    lease_id := pg_current_xact_id()::text::bigint;
    for event_id, event_type, source, aggregate_id, payload, received_at, retry_count, trace_id, sequence, priority in
        select c.* from pgtrickle.inbox_claim(p_inbox, p_limit, p_worker_id, p_total_workers) c
    loop
        v_ids := v_ids || event_id;
        return next;
    end loop;
    if v_ids is not null then
        execute format('select %I.%I($1, $2, $3, $4)', 'pgtrickle_internal', pgtrickle_internal.pgt_inbox_function(p_inbox, '_lease'))
        using p_inbox, v_ids, lease_id, v_until;
    end if;
end;
$function$;
comment on function pgtrickle.inbox_claim_lease(text, int4, "interval", int4, int4) is 'Leases messages. (Sluice: pgtrickle in pgtrickle)';

-- Extends leases to now plus p_interval, or gives the messages back, due after it. LeaseLost if one of them is not valid.
-- Writes the inbox, pgt_inbox_leases. Returns the earliest new end and the number of messages.
create function pgtrickle_internal.pgt_move_leases(
    p_inbox text, p_event_ids text[], p_lease_id bigint, p_interval interval, p_gives_back boolean, out until timestamptz, out messages
        bigint
)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox    record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_rows     text := format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table);
    v_to       timestamptz := case when not p_gives_back or p_interval > interval '0' then clock_timestamp() + p_interval end;
    v_held     text[];
    v_attempts integer;
    v_moved    text[]; -- those of them that have had as many attempts
begin
    if (p_interval > interval '0' or p_gives_back and p_interval = interval '0') is not true then
        raise exception using errcode = '22023',
            message = case when p_gives_back then 'p_delay must be zero or more' else 'p_visibility must be more than zero' end,
            detail = 'Inbox ' || p_inbox || '.', hint = 'Give the time after which the messages may be claimed again.';
    end if;
    messages := 0;
    if v_inbox.has_delay then
        execute format($sql$
            select count(*), array_agg(h.event_id) filter (where $5 or h.available_at < $4),
                   min(case when $5 then $4 else greatest(h.available_at, $4) end)
            from (
                select i.event_id, i.available_at
                from %s i
                where i.event_id = any ($2) and i.available_at = any (array(
                    select l.until from pgtrickle_internal.pgt_inbox_leases l where l.inbox_name = $1 and l.lease_id = $3
                )) and i.processed_at is null and i.retry_count < $6
                for update of i
            ) h
            $sql$, v_rows)
        into messages, v_held, until
        using p_inbox, p_event_ids, p_lease_id, v_to, p_gives_back, v_inbox.max_retries;
    end if;
    if messages < (select count(distinct u) from unnest(p_event_ids) u) then
        raise exception using errcode = '55000', message = 'lease lost: inbox ' || p_inbox,
            detail = 'It is not the lease of the message, its time ran out and another claimed the message, or the message is processed.',
            hint = 'Undo the work if that is possible. If it took too long, take a longer visibility, or call inbox_extend.';
    end if;
    if v_held is null then
        return; -- all of them end later
    elsif p_gives_back then
        execute format('update %s i set available_at = $1 where i.event_id = any ($2)', v_rows) using v_to, v_held;
    else
        for v_attempts, v_moved in
            select a.attempts, a.event_ids from pgtrickle_internal.pgt_lease_attempts(p_inbox, v_held, true) a
        loop
            v_to := pgtrickle_internal.pgt_lease(p_inbox, v_moved, p_lease_id, v_to, greatest(v_attempts - 1, 1));
            execute format('update %s i set available_at = $1 where i.event_id = any ($2)', v_rows) using v_to, v_moved;
        end loop;
    end if;
    execute format($sql$
        delete from pgtrickle_internal.pgt_inbox_leases l
        where l.inbox_name = $1 and l.lease_id = $2 and (
            select true from generate_series(cardinality(l.event_ids), 1, -1) g (no)
            join %s i on i.event_id = any (array[l.event_ids[g.no]]) and i.available_at = l.until
            where i.processed_at is null limit 1
        ) is null
        $sql$, v_rows)
    using p_inbox, p_lease_id;
end;
$function$;

-- Extends leases of messages: to now plus p_visibility, never to an earlier time. Returns the earliest end of them.
-- Writes the inbox, pgt_inbox_leases. LeaseLost if one of them is lost; then none is extended.
create function pgtrickle.inbox_extend(p_inbox text, p_event_ids text[], p_lease_id bigint, p_visibility interval default '30 seconds')
    returns timestamptz
    language sql
as $function$
    select (pgtrickle_internal.pgt_move_leases(p_inbox, p_event_ids, p_lease_id, p_visibility, false)).until
$function$;
comment on function pgtrickle.inbox_extend(text, text[], int8, "interval") is
    'Extends leases of messages. (Sluice: pgtrickle in pgtrickle)';

-- Gives leased messages back: to be claimed again after p_delay, without a failure or an attempt. Returns how many.
-- Writes the inbox, pgt_inbox_leases. LeaseLost if one of them is lost; then none is given back.
create function pgtrickle.inbox_release(p_inbox text, p_event_ids text[], p_lease_id bigint, p_delay interval default '0')
    returns bigint
    language sql
as $function$
    select (pgtrickle_internal.pgt_move_leases(p_inbox, p_event_ids, p_lease_id, p_delay, true)).messages
$function$;
comment on function pgtrickle.inbox_release(text, text[], int8, "interval") is
    'Gives leased messages back. (Sluice: pgtrickle in pgtrickle)';

-- Makes messages pending: failed and dead ones, and processed ones if p_include_processed. Returns how many.
-- Writes the inbox; notifies pg_trickle_alert.
create function pgtrickle.replay_inbox_messages(
    p_inbox text, p_event_ids text[] default null, p_event_type text default null, p_include_processed boolean default false
)
    returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_count bigint;
begin
    if (p_event_ids is null) = (p_event_type is null) then
        raise exception using errcode = '22023', message = 'p_event_ids, p_event_type: give exactly one of them',
            detail = 'Inbox ' || p_inbox || '.', hint = 'To replay all types, select the ids and pass them as p_event_ids.';
    end if;
    p_include_processed := coalesce(p_include_processed, false);

    execute format('update %I.%I i set processed_at = null, retry_count = 0, error = null', v_inbox.rows_schema, v_inbox.rows_table)
        || case when v_inbox.has_delay then ', available_at = null' else '' end
        || case when p_event_type is null then ' where i.event_id = any ($1)' else ' where i.event_type = $2' end
        || ' and (i.processed_at is null and i.retry_count > 0 or i.processed_at is not null and $3)'
    using p_event_ids, p_event_type, p_include_processed;
    get diagnostics v_count = row_count;
    -- What retention has deleted can only come again from its sender, once its id is forgotten.
    if p_include_processed and p_event_ids is not null and v_inbox.dedup_window is not null then
        execute format('delete from %I.%I p where p.event_id = any ($1) and not exists (select from %I.%I i where i.event_id = p.event_id)',
            'pgtrickle_internal', v_inbox.past_ids, v_inbox.inbox_schema, v_inbox.inbox_table)
        using p_event_ids;
    end if;

    if v_count > 0 then
        perform pg_notify('pg_trickle_alert', jsonb_build_object(
            'type', 'inbox_replay', 'inbox', p_inbox, 'count', v_count,
            -- a notification holds less than 8000 bytes
            'event_type', case when v_inbox.tenant_column is null then left(p_event_type, 1000) end,
            'include_processed', p_include_processed
        )::text);
    end if;
    return v_count;
end;
$function$;
comment on function pgtrickle.replay_inbox_messages(text, text[], text, bool) is 'Makes messages pending. (Sluice: pgtrickle in pgtrickle)';

-- Stops claims of an inbox; receiving goes on.
-- Writes pgt_inbox_claims.
create function pgtrickle.pause_inbox(p_inbox text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle_internal.pgt_inbox(p_inbox);
    insert into pgtrickle_internal.pgt_inbox_claims (inbox_name, no, paused_at) overriding system value
    values (p_inbox, 0, now())
    on conflict do nothing;
end;
$function$;
comment on function pgtrickle.pause_inbox(text) is 'Stops claims of an inbox. (Sluice: pgtrickle in pgtrickle)';

-- Lets claims of an inbox hand out messages again.
-- Writes pgt_inbox_claims.
create function pgtrickle.resume_inbox(p_inbox text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
begin
    perform pgtrickle_internal.pgt_inbox(p_inbox);
    delete from pgtrickle_internal.pgt_inbox_claims p where p.inbox_name = p_inbox and p.no = 0;
end;
$function$;
comment on function pgtrickle.resume_inbox(text) is 'Lets claims of an inbox hand out messages again. (Sluice: pgtrickle in pgtrickle)';

-- Counts, rates of the last minute and status of an inbox. Rates count all since the last tick. Its cost does not grow with the table.
-- Reads pgt_inbox_config, pgt_inbox_progress, pgt_inbox_deltas, pgt_inbox_duplicates, pgt_inbox_retry_queue, the inbox.
create function pgtrickle.inbox_health(p_inbox text)
    returns jsonb
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $function$
declare
    v_inbox  record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_at     record;
    v_new    bigint;
    v_age    numeric;
    s        record;
    v_status text;
begin
    if v_inbox.tenant_column is not null and p_inbox = any (pgtrickle_internal.pgt_by_tenant()) then
        raise exception using errcode = '42501', message = 'permission denied for the health of inbox ' || p_inbox,
            detail = 'It tells of the messages of all tenants, and role ' || current_user || ' sees those of one.',
            hint = 'Count the rows of its views of pending messages and dead letters, or ask as a monitor.';
    end if;
    select coalesce(max(p.low_watermark), '-infinity') as low_watermark, coalesce(max(p.counted_at), '-infinity') as counted_at,
           coalesce(max(p.folded_no), 0) as folded_no,
           (select count(*) from pgtrickle_internal.pgt_inbox_duplicates d where d.inbox_name = p_inbox) as again
    into v_at
    from (select p.* from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = p_inbox order by p.no desc limit 1) p;

    -- Messages that came since the last tick are counted in the inbox. The oldest takes two index probes: one above the low watermark, one
    -- in the retry queue. An infinite received_at has no age that json could show: a thousand years stand for it.
    execute format($sql$
        select (select count(*) from %1$s i where i.received_at >= $2),
               greatest(0, round(extract(epoch from clock_timestamp() - min(
                   least(greatest(o.received_at, clock_timestamp() - interval '1000 years'), clock_timestamp())
               )), 3))
        from (
            (
                select i.received_at
                from %1$s i
                where i.received_at >= $3 and i.processed_at is null and i.retry_count < $4
                order by i.received_at, i.event_id
                limit 1
            )
            union all
            (
                select i.received_at
                from pgtrickle_internal.pgt_inbox_retry_queue q
                -- A join would be quadratic where statistics say that there are few.
                cross join lateral (
                    select o.received_at, o.processed_at, o.retry_count
                    from %1$s o
                    where o.event_id = q.event_id and o.received_at = q.received_at
                    limit 1
                ) i
                where q.inbox_name = $1 and i.processed_at is null and i.retry_count < $4
                order by q.received_at, q.event_id
                limit 1
            )
        ) o
        $sql$, format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass)
    into v_new, v_age
    using p_inbox, v_at.counted_at, v_at.low_watermark, v_inbox.max_retries;
    select v_new + coalesce(sum(
               case when d.received_at >= v_at.counted_at then 0 else d.received end - d.processed - d.dead_letter
           ), 0)::bigint as pending,
           coalesce(sum(d.dead_letter), 0)::bigint as dead_letter, sum(d.processed) as processed, sum(d.processing_us) as processing_us,
           greatest(0, coalesce(sum(d.finished) filter (where d.is_recent), 0))::bigint as finished,
           coalesce(sum(d.calls) filter (where d.is_recent), 0) + v_new + v_at.again as calls,
           coalesce(sum(d.duplicates) filter (where d.is_recent), 0) + v_at.again as duplicates
    into s
    from (
        select d.*, d.at between clock_timestamp() - interval '1 minute' and clock_timestamp() as is_recent
        from pgtrickle_internal.pgt_inbox_deltas d
        where d.inbox_name = p_inbox and d.no > v_at.folded_no
    ) d;

    v_status := case
        when v_age >= extract(epoch from v_inbox.critical_pending_age) or s.pending >= 100000 then 'critical'
        when v_age >= extract(epoch from v_inbox.degraded_pending_age) or s.pending >= 10000 or s.dead_letter >= v_inbox.degraded_dlq
            then 'degraded'
        else 'healthy'
    end;
    return jsonb_build_object(
        'inbox', p_inbox, 'pending_count', s.pending,
        'dlq_count', s.dead_letter, 'dead_letter_count', s.dead_letter,
        'oldest_pending_age_seconds', v_age, 'oldest_pending_age_sec', v_age,
        'avg_processing_time_sec', round(s.processing_us / 1000000.0 / nullif(s.processed, 0), 6),
        'throughput_per_minute', s.finished, 'throughput_per_sec', round(s.finished / 60.0, 3),
        'duplicate_rate_pct', round(coalesce(100.0 * s.duplicates / nullif(s.calls, 0), 0), 2),
        'status', v_status, 'health_status', v_status
    );
end;
$function$;
comment on function pgtrickle.inbox_health(text) is
    'Counts, rates of the last minute and status of an inbox. (Sluice: pgtrickle in pgtrickle)';

-- The state of every inbox of the extension.
-- PostgreSQL inlines it, so that what asks about one inbox computes that one alone; so every name in it has its schema.
-- Reads pgt_inbox_config, the settings, pgt_inbox_progress, pgt_inbox_deltas and what inbox_health() reads.
create function pgtrickle.inbox_status()
    returns table (
        inbox_name text, inbox_table text, is_managed boolean, max_retries integer, retention_hours numeric, pending_count bigint,
        dlq_count bigint, processed_count bigint, oldest_pending_age_sec numeric, total_bytes bigint, created_at timestamptz
    )
    language sql
    stable
as $function$
    select c.inbox_name, pg_catalog.format('%I.%I', c.inbox_schema, c.inbox_table), c.is_managed, c.max_retries,
           pg_catalog.round(extract(epoch from coalesce(c.processed_retention, pg_catalog.make_interval(hours => least((
               select s.value from pgtrickle_internal.pgt_setting('inbox_processed_retention_hours') s
           )::integer, 8766000)))) operator(pg_catalog./) 3600, 2),
           h.pending_count, h.dlq_count,
           coalesce((
               select pg_catalog.sum(d.processed) from pgtrickle_internal.pgt_inbox_deltas d
               where d.inbox_name operator(pg_catalog.=) c.inbox_name and d.no operator(pg_catalog.>) coalesce((
                   select pg_catalog.max(p.folded_no) from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name
                       operator(pg_catalog.=) c.inbox_name
               ), 0) -- else it reads, until a VACUUM, all deltas that ticks have replaced
           ), 0)::bigint,
           h.oldest_pending_age_sec, (
               -- Whoever asks may have no right to use the schema.
               select pg_catalog.sum(pg_catalog.pg_total_relation_size(p.relation))::bigint
               from pg_catalog.pg_class r
               join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) r.relnamespace
               cross join lateral pgtrickle_internal.pgt_partitions(r.oid) p
               where n.nspname operator(pg_catalog.=) c.inbox_schema and r.relname operator(pg_catalog.=) c.inbox_table
           ), c.created_at
    from pgtrickle.pgt_inbox_config c
    cross join lateral pg_catalog.jsonb_to_record(pgtrickle.inbox_health(c.inbox_name)) h (
        pending_count bigint, dlq_count bigint, oldest_pending_age_sec numeric
    )
    where (c.tenant_column is null or c.inbox_name operator(pg_catalog.<>) all (pgtrickle_internal.pgt_by_tenant()))
      -- Where inboxes have roles of their own, a role has the rows of those that it may read.
      and (not pg_catalog.row_security_active(c.tableoid) or pg_catalog.has_column_privilege(
          pg_catalog.format('%I.%I', c.rows_schema, c.rows_table)::pg_catalog.regclass, 'processed_at', 'select'
      ))
$function$;
comment on function pgtrickle.inbox_status() is 'The state of every inbox of the extension. (Sluice: pgtrickle in pgtrickle)';

-- The state of one inbox: counts, rates, errors and tasks.
-- Reads the inbox, pgt_inbox_dead, pgt_inbox_retry_queue, pgt_tasks and what inbox_status() and inbox_health() read.
create function pgtrickle.inbox_status(p_inbox text)
    returns jsonb
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
declare
    v_inbox  record := pgtrickle_internal.pgt_inbox(p_inbox);
    v_errors jsonb;
    v_wired  jsonb := '{}'::jsonb; -- of inboxes that decode documents
begin
    if v_inbox.tenant_column is not null and p_inbox = any (pgtrickle_internal.pgt_by_tenant()) then
        perform pgtrickle.inbox_health(p_inbox); -- raises that it is not for tenants
    end if;
    -- Of the last thousand dead letters and the thousand next retries.
    execute format($sql$
        select coalesce(jsonb_agg(jsonb_build_object('error', e.error, 'count', e.count) order by e.count desc, e.error), '[]')
        from (
            select i.error, count(*) as count
            from (
                (select d.event_id from pgtrickle_internal.pgt_inbox_dead d where d.inbox_name = $1 order by d.dead_at desc limit 1000)
                union
                (select q.event_id from pgtrickle_internal.pgt_inbox_retry_queue q where q.inbox_name = $1 order by q.due_at limit 1000)
            ) f
            cross join lateral (select o.error, o.processed_at from %s o where o.event_id = f.event_id limit 1) i
            where i.processed_at is null and i.error is not null
            group by i.error
            order by count(*) desc, i.error
            limit 20
        ) e
        $sql$, format('%I.%I', v_inbox.rows_schema, v_inbox.rows_table)::regclass)
    into v_errors
    using p_inbox;
    if exists (select from pgtrickle.pgt_inbox_config c where c.wire_format is not null) then
        v_wired := jsonb_build_object('quarantined', (select count(*) from pgtrickle.pgt_inbox_quarantine q where q.inbox_name = p_inbox));
    end if;
    return (
        select to_jsonb(s) || pgtrickle.inbox_health(p_inbox) || jsonb_build_object(
            'errors', v_errors,
            'paused', exists (select from pgtrickle_internal.pgt_inbox_claims p where p.inbox_name = p_inbox and p.no = 0),
            'tasks', (
                select jsonb_object_agg(
                           t.task, jsonb_build_object('runs', t.runs, 'last_run_at', t.last_run_at, 'last_error', t.last_error)
                       )
                from pgtrickle_internal.pgt_tasks t
                where t.task in ('inbox ' || p_inbox || ': counts', 'inbox ' || p_inbox || ': retention')
            )
        ) || v_wired
        from pgtrickle.inbox_status() s
        where s.inbox_name = p_inbox
    );
end;
$function$;
comment on function pgtrickle.inbox_status(text) is 'The state of one inbox. (Sluice: pgtrickle in pgtrickle)';

-- Numbers that are missing before pending messages of an inbox, computed now; none where the order waits for none.
create function pgtrickle.inbox_ordering_gaps(p_inbox text)
    returns table (aggregate_id text, missing_from bigint, missing_to bigint, gap_age_seconds double precision)
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_order record;
begin
    -- The rows are those of the inbox's view. @plpgsql_check_options: extra_warnings = off
    select case when c.is_managed then c.inbox_schema else 'pgtrickle' end as schema, o.gaps
    into v_order
    from pgtrickle.pgt_inbox_config c
    join pgtrickle.pgt_inbox_ordering_config o on o.inbox_name = c.inbox_name
    where c.inbox_name = p_inbox;
    if not found then
        perform pgtrickle_internal.pgt_inbox(p_inbox); -- raises that there is none
        raise exception using errcode = '22023', message = 'p_inbox: inbox ' || p_inbox || ' has no ordering',
            detail = 'Its messages have no sequence, which could have gaps.',
            hint = 'Give the inbox ordering in the spec, or by enable_inbox_ordering.';
    elsif v_order.gaps is not null then
        return query execute format('select g.* from %I.%I g order by g.aggregate_id, g.missing_from', v_order.schema, v_order.gaps);
    end if;
end;
$function$;
comment on function pgtrickle.inbox_ordering_gaps(text) is
    'Numbers that are missing before pending messages of an inbox, computed now. (Sluice: pgtrickle in pgtrickle)';

-- Creates what inboxes over tables of users lack on these, and all that inboxes which functions created lack.
create function pgtrickle_internal.pgt_attach_inboxes()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox record;
begin
    for v_inbox in
        select c.* from pgtrickle.pgt_inbox_config c where c.is_imperative or not c.is_managed order by c.is_imperative, c.inbox_name
            collate "C"
    loop
        if not v_inbox.is_imperative then
            execute format('select %I.%I()', 'pgtrickle_internal', pgtrickle_internal.pgt_inbox_function(v_inbox.inbox_name, '_attach'));
            continue;
        end if;
        begin
            perform pgtrickle_internal.pgt_attach_inbox(v_inbox.inbox_name);
        exception when undefined_table or undefined_column or datatype_mismatch or wrong_object_type or invalid_column_reference
            or insufficient_privilege then
            -- somebody dropped or altered the table that it is over
            raise warning using message = 'inbox ' || v_inbox.inbox_name || ': ' || sqlerrm;
        end;
    end loop;
end;
$function$;

-- Drops what inboxes over tables of users have on these.
create function pgtrickle_internal.pgt_detach_inboxes()
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $function$
declare
    v_inbox record;
begin
    for v_inbox in
        select c.* from pgtrickle.pgt_inbox_config c where c.is_imperative or not c.is_managed order by c.is_imperative, c.inbox_name
            collate "C"
    loop
        if v_inbox.is_imperative then
            perform pgtrickle_internal.pgt_detach_inbox(v_inbox.inbox_name);
        else
            execute format('select %I.%I()', 'pgtrickle_internal', pgtrickle_internal.pgt_inbox_function(v_inbox.inbox_name, '_detach'));
        end if;
    end loop;
end;
$function$;

-- Counts the messages of inboxes, and deletes those that need not be kept. See tick(): every name has its schema.
create procedure pgtrickle_internal.pgt_tick_inboxes(p_commits boolean)
    language plpgsql
as $procedure$
declare
    v_rounds   constant integer := case when p_commits then 2147483647 else 100 end; -- one transaction does a bounded part of the work
    v_name     pg_catalog.text;
    v_task     pg_catalog.text;
    v_batch    integer;
    v_interval interval;
    v_rows     bigint;
    v_inbox    record;
begin
    if (select s.value from pgtrickle_internal.pgt_setting('inbox_enabled') s) operator(pg_catalog.<>) 'on' then
        return;
    end if;
    v_interval := pg_catalog.make_interval(secs =>
        (select s.value from pgtrickle_internal.pgt_setting('inbox_drain_interval_seconds') s)::double precision);
    foreach v_name in array array(select c.inbox_name from pgtrickle.pgt_inbox_config c order by c.inbox_name collate pg_catalog."C") loop
        begin
            select c.is_managed, c.is_imperative into v_inbox from pgtrickle.pgt_inbox_config c where c.inbox_name operator(pg_catalog.=)
                v_name;
            if v_inbox.is_managed then
                null;
            elsif v_inbox.is_imperative then
                perform pgtrickle_internal.pgt_attach_inbox(v_name); -- what is missing on the table
            elsif not v_inbox.is_imperative then
                execute pg_catalog.format('select %I.%I()', 'pgtrickle_internal', pgtrickle_internal.pgt_inbox_function(v_name, '_attach'));
            end if;
        exception when others then
            perform pgtrickle_internal.pgt_note_error(pg_catalog.concat('inbox ', v_name, ': counts'), pg_catalog.concat('inbox ', v_name),
                sqlerrm);
            continue;
        end;
        begin
            -- Upgrades may remove the inbox.
            perform pgtrickle_internal.pgt_inbox_tick(c.inbox_name) from pgtrickle.pgt_inbox_config c where c.inbox_name
                operator(pg_catalog.=) v_name;
        -- of a table that was dropped, the number stands where its name was
        exception when undefined_table or undefined_object or syntax_error then
            perform pgtrickle_internal.pgt_note_error(pg_catalog.concat('inbox ', v_name, ': counts'), pg_catalog.concat('inbox ', v_name),
                sqlerrm);
            continue;
        end;
        call pgtrickle_internal.pgt_commit(p_commits);
        v_task := pg_catalog.concat('inbox ', v_name, ': retention');
        if pgtrickle_internal.pgt_take_task(v_task, v_interval) then
            v_batch := greatest(1, (select s.value from pgtrickle_internal.pgt_setting('inbox_drain_batch_size') s)::integer);
            for v_round in 1..v_rounds loop
                call pgtrickle_internal.pgt_commit(p_commits);
                begin
                    v_rows := pgtrickle_internal.pgt_inbox_drain(v_name, v_batch);
                exception when others then
                    v_rows := 0;
                    perform pgtrickle_internal.pgt_note_error(v_task, pg_catalog.concat('inbox ', v_name), sqlerrm);
                end;
                exit when v_rows operator(pg_catalog.<) v_batch;
            end loop;
        end if;
        call pgtrickle_internal.pgt_commit(p_commits);
    end loop;
end;
$procedure$;
