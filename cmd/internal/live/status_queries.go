package live

// In the queries of a status, %[1]s is the schema of the extension and %[2]s its internal schema.
const (
	extensionQuery = `select e.name, e.version, e.flavour, %[1]s.runtime_version() as runtime, '' as schema, e.installed_at from %[1]s.pgt_extension e`

	tasksQuery = `
		select t.task, t.runs, t.last_error,
		       extract(epoch from clock_timestamp() - nullif(t.last_run_at, '-infinity'))::float8 as last_run_age_seconds
		from %[2]s.pgt_tasks t
		order by t.task`

	// Without change logs there is no function that counts rows of these.
	waitingQuery   = "select w.stream_table, sum(w.waiting)::bigint as waiting from %[2]s.pgt_waiting() w group by w.stream_table"
	noWaitingQuery = "select null::text as stream_table, null::bigint as waiting"

	streamTablesQuery = `
		select c.stream_table as name, t.refresh_mode, t.effective_mode, t.effective_reason, t.strategy, t.schedule, t.status,
		       extract(epoch from t.staleness)::float8 as staleness_seconds, w.waiting, t.consecutive_errors, t.last_error
		from %[1]s.pgt_stream_tables t
		join %[2]s.pgt_stream_table_config c using (pgt_schema, pgt_name)
		left join waiting w on w.stream_table = c.stream_table
		order by c.refresh_order`

	inboxesQuery = `
		select s.inbox_name as name, s.pending_count as pending, s.dlq_count as dead_letters, s.processed_count as processed,
		       case when s.pending_count > 0 then s.oldest_pending_age_sec::float8 end as oldest_pending_age_seconds, s.total_bytes, h.health ->> 'status' as health,
		       exists (select from %[2]s.pgt_inbox_claims p where p.inbox_name = s.inbox_name and p.no = 0) as paused
		from %[1]s.inbox_status() s
		cross join lateral %[1]s.inbox_health(s.inbox_name) as h(health)
		order by s.inbox_name`

	missingQuery = `
		select c.inbox_name, r.relation
		from %[1]s.pgt_inbox_config c
		cross join lateral (
		    select format('%%I.%%I', c.inbox_schema, c.inbox_table)
		    union all
		    select format('%%I.%%I', %[3]s, s.name) from unnest(array[c.claim_cursor, c.high_watermark] || c.attempts) s (name)
		) r (relation)
		where to_regclass(r.relation) is null
		order by c.inbox_name, relation`

	inboxQuery = `
		select j.status ->> 'inbox_name' as name, (j.status ->> 'pending_count')::bigint as pending, (j.status ->> 'dlq_count')::bigint as dead_letters,
		       (j.status ->> 'processed_count')::bigint as processed, j.status ->> 'status' as health, (j.status ->> 'paused')::boolean as paused,
		       case when (j.status ->> 'pending_count')::bigint > 0 then (j.status ->> 'oldest_pending_age_sec')::float8 end as oldest_pending_age_seconds,
		       (j.status ->> 'total_bytes')::bigint as total_bytes
		from (select %[1]s.inbox_status($1) as status) j`

	// An extension of an earlier release has no column wire_format: it has the table where an inbox decodes.
	quarantineQuery = `
		select c.inbox_name, (select count(*) from %[1]s.pgt_inbox_quarantine q where q.inbox_name = c.inbox_name) as documents
		from %[1]s.pgt_inbox_config c
		where exists (select from %[1]s.pgt_inbox_config w where to_jsonb(w) -> 'wire_format' is distinct from 'null')`

	// ignoredQuery finds settings of the server, the database or a role that are not in force: what decides what is deleted is never read from there.
	ignoredQuery = `
		with given (name, value, whose) as (
		    select s.name, nullif(current_setting('pg_trickle.' || s.name, true), ''), 'this session'
		    from %[2]s.pgt_setting() s
		    union all
		    select substr(split_part(c.line, '=', 1), length('pg_trickle.') + 1), substr(c.line, strpos(c.line, '=') + 1),
		           concat_ws(' of ', 'role ' || r.role::regrole::text, 'database ' || d.datname)
		    from (select n.*, case when n.setrole <> 0 then n.setrole end as role from pg_db_role_setting n) r
		    left join pg_database d on d.oid = r.setdatabase
		    cross join unnest(r.setconfig) c (line)
		    where c.line like 'pg\_trickle.%%' and (r.setdatabase = 0 or d.datname = current_database())
		)
		select g.name, g.value as given, string_agg(distinct g.whose, ', ') as whose, s.value
		from given g
		join %[2]s.pgt_setting() s on s.name = g.name
		where g.value <> s.value
		group by g.name, g.value, s.value
		order by g.name, g.value`

	outboxesQuery = `
		select s.pgt_name as name, s.row_count as rows, extract(epoch from clock_timestamp() - s.oldest_row_at)::float8 as oldest_age_seconds,
		       s.total_bytes, s.storage_status, a.advanced_at, a.advanced_from, a.advanced_to, a.came_late
		from %[1]s.outbox_status() s
		left join %[1]s.pgt_outbox_config a on coalesce(a.pgt_name, a.outbox_name) = s.pgt_name and a.advanced_at > clock_timestamp() - interval '1 day'
		order by s.pgt_name`

	groupsQuery = `
		select l.group_name as name, l.outbox, l.lag_rows, l.leased_rows, l.consumer_count as consumers, g.paused_at is not null as paused,
		       h.holder as held_by, extract(epoch from clock_timestamp() - h.since)::float8 as held_seconds,
		       (select count(*) from %[1]s.pgt_consumer_status c where c.group_name = l.group_name and c.healthy) as healthy_consumers,
		       (select count(*) from %[1]s.pgt_consumer_dead_letters d where d.group_name = l.group_name) as dead_letters
		from %[1]s.pgt_consumer_group_lag l
		join %[1]s.pgt_consumer_groups g on g.group_name = l.group_name
		left join %[2]s.pgt_held_groups() h on h.group_no = g.group_no and h.is_long
		order by l.outbox, l.group_name`

	// gapsQuery finds the transactions that gaps of consumer groups wait for: gid of a prepared one, pid of others; by age, if that is visible.
	gapsQuery = `
		with publishers as materialized (
		    select o.outbox_name, p.vxid, p.xid, p.pid
		    from (select distinct g.outbox_name from %[1]s.pgt_consumer_groups g) o
		    cross join lateral %[2]s.pgt_publishers(o.outbox_name) p
		)
		select g.outbox_name as outbox, min(lower(l.ids)) as first_id, p.pid, x.gid, p.vxid = 'cache' as caches,
		       extract(epoch from clock_timestamp() - min(coalesce(x.prepared, a.xact_start, l.leased_at)))::float8 as age_seconds
		from %[1]s.pgt_consumer_groups g
		cross join lateral %[2]s.pgt_lease_heads(g) h
		join %[2]s.pgt_lease_log l on l.group_no = g.group_no and l.lane = 0 and l.no >= h.floor_no and l.state = 'gap'
		join publishers p on p.outbox_name = g.outbox_name and (l.xids is null or p.xid = any (l.xids))
		left join pg_prepared_xacts x on x.transaction::text::bigint = p.xid::text::bigint %% 4294967296 and x.database = current_database()
		left join pg_stat_activity a on a.pid = p.pid
		where h.lane = 0
		group by g.outbox_name, p.pid, x.gid, caches
		order by outbox, min(coalesce(x.prepared, a.xact_start, l.leased_at))`
)
