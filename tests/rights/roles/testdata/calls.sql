-- Statements that the roles of inboxes and outboxes are tried with, one a line. docs/roles.md says who may call a function.
select pgtrickle.inbox_receive(i, 'n1', 't', '{}', p_sequence => case when i in ('i3', 'i8') then '9' end) from unnest('{i1,i2,i3,i4,i5,i7,i8}'::text[]) i
select pgtrickle.inbox_receive(i, case i when 'i5' then 'e2' else 'e2' end, 't', '{}', 's', 'a', 't', case when i in ('i3', 'i8') then '9' end) from unnest('{i1,i2,i3,i4,i5,i7,i8}'::text[]) i
select pgtrickle.inbox_receive('i1', 'n1', 't', '{}', p_available_at => now() + '1 s')
select * from unnest('{i1,i2,i4,i5,i7}'::text[]) i, pgtrickle.inbox_receive_many(i, '[{"event_id": "e2", "event_type": "t", "payload": 1}, {"event_id": "n2", "event_type": "t", "payload": 1}]')
select pgtrickle.inbox_receive_wire('i2', 'no json either')
select pgtrickle.inbox_receive_wire('i2', '{"payload": {"op": "c", "after": {"id": "w1", "aggregateid": "a", "type": "t", "payload": "{}"}}}')
insert into pgtrickle.i1 (event_id, event_type, payload) values ('e2', 't', '{}'), ('p1', 't', '{}') on conflict (event_id) do nothing
insert into pgtrickle.i1 (event_id, event_type, payload, source, aggregate_id, trace_id, available_at) values ('p1', 't', '{}', 's', 'a', 't', now())
insert into pgtrickle.i3 (event_id, event_type, payload, aggregate_id, seq) values ('p1', 't', '{}', 'a', 9) returning event_id
insert into pgtrickle.i4 (event_id, event_type, payload, priority) values ('p1', 't', '{}', 1)
insert into pgtrickle.i5 (tenant, message_id, event_type, payload) values ('acme', 'p1', 't', '{}') on conflict (event_id) do nothing
insert into pgtrickle.i5 (message_id, event_type, payload) values ('p1', 't', '{}') returning message_id
insert into pgtrickle.i7 (event_id, event_type, payload, tag) values ('p1', 't', '{}', 'tag')
insert into pgtrickle.i8 (event_id, event_type, payload, aggregate_id, seq) values ('p1', 't', '{}', 'a', 9)
select * from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i, pgtrickle.inbox_pending(i)
select * from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i, pgtrickle.inbox_claim(i, 2)
select * from unnest('{i1,i3,i5,i8}'::text[]) i, pgtrickle.inbox_claim_lease(i, 2)
select pgtrickle.inbox_mark_processed(i, case i when 'i5' then 'acme/' else '' end || 'e2') from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i
select pgtrickle.inbox_mark_processed(i, l.event_id, l.lease_id) from unnest('{i1,i3,i5,i8}'::text[]) i, pgtrickle.inbox_claim_lease(i, 2) l
select pgtrickle.inbox_mark_processed(i, array[l.event_id], l.lease_id) from unnest('{i1,i3,i5,i8}'::text[]) i, pgtrickle.inbox_claim_lease(i, 1) l
select pgtrickle.inbox_mark_failed(i, case i when 'i5' then 'acme/' else '' end || 'e2', 'x') from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i
select pgtrickle.inbox_mark_failed(i, array[l.event_id], 'x', l.lease_id) from unnest('{i1,i3,i5,i8}'::text[]) i, pgtrickle.inbox_claim_lease(i, 1) l
select pgtrickle.inbox_extend(i, array[l.event_id], l.lease_id) from unnest('{i1,i3,i5,i8}'::text[]) i, pgtrickle.inbox_claim_lease(i, 1) l
select pgtrickle.inbox_release(i, array[l.event_id], l.lease_id) from unnest('{i1,i3,i5,i8}'::text[]) i, pgtrickle.inbox_claim_lease(i, 1) l
select pgtrickle.replay_inbox_messages(i, array[case i when 'i5' then 'acme/' else '' end || 'e1']) from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i
select pgtrickle.replay_inbox_messages(i, array[case i when 'i5' then 'acme/' else '' end || 'e1'], p_include_processed => true) from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i
select * from unnest('{i3,i8}'::text[]) i, pgtrickle.inbox_ordering_gaps(i)
select pgtrickle.inbox_is_my_partition('a', 0, 2)
select pgtrickle.inbox_is_my_partition('i1', 'a', 0, 2)
update pgtrickle.i1 set processed_at = now(), error = null, retry_count = 1, available_at = null where event_id = 'e2'
select event_id from pgtrickle.i1 where processed_at is null for update skip locked
select * from pgtrickle.i1_pending
select * from pgtrickle.i1_dlq
select * from pgtrickle.i1_stats
select * from pgtrickle.next_i3
select * from pgtrickle.gaps_i3
select * from pgtrickle.pending_i4_t1
select * from pgtrickle.i6_pending
select pgtrickle.inbox_health(i) from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i
select * from pgtrickle.inbox_status()
select pgtrickle.inbox_status(i) from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i
select inbox_name, document_id, received_at, topic, topic_partition, topic_offset, reason, alerted from pgtrickle.pgt_inbox_quarantine
select event_id, event_type, received_at, processed_at, retry_count, error from pgtrickle.i1
select pgtrickle.outbox_publish(o, 't', '{}', 'a', '{}') from unnest('{o1,o2}'::text[]) o
select pgtrickle.outbox_publish_many('o1', '[{"event_type": "t", "payload": 1}]')
insert into pgtrickle.outbox_o1 (event_type, aggregate_id, payload, headers) values ('t', 'a', '{}', '{}') returning id
select pgtrickle.create_consumer_group('g9', 'o1', 'earliest'), pgtrickle.create_consumer_group('g10', 's1'), pgtrickle.create_consumer_group('g11', 'o2', 'earliest', 3)
select * from unnest('{g1,g2,g3,g4}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 2)
select * from pgtrickle.poll_outbox('g1', 'd', 2, 30, '{t}')
select pgtrickle.commit_offset(g, 'c', max(p.id), max(p.lease_id)) from unnest('{g1,g2,g3,g4}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 2) p group by g
select pgtrickle.ack_rows(g, 'c', array[p.id], p.lease_id) from unnest('{g1,g2,g3,g4}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 1) p
select pgtrickle.reject_rows(g, 'c', array[p.id], 'bad', p.lease_id) from unnest('{g1,g2,g3,g4}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 1) p
select pgtrickle.release_rows(g, 'c', array[p.id], '1 s', 'later', p.lease_id) from unnest('{g1,g2,g3,g4}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 1) p
select pgtrickle.extend_lease(g, 'c', 30, p.lease_id) from unnest('{g1,g2,g3,g4}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 1) p
select pgtrickle.leave_group(g, 'c') from unnest('{g1,g2,g3,g4}'::text[]) g
select pgtrickle.replay_dead_letters(g) from unnest('{g1,g2,g3,g4}'::text[]) g
select pgtrickle.discard_group_dead_letters(g) from unnest('{g1,g2,g3,g4}'::text[]) g
select pgtrickle.seek_offset(g, 'c', 0), pgtrickle.seek_offset(g, 'c', null) from unnest('{g1,g2,g3,g4}'::text[]) g
select pgtrickle.consumer_heartbeat(g, 'c') from unnest('{g1,g2,g3,g4}'::text[]) g
select pgtrickle.consumer_lag(g) from unnest('{g1,g2,g3,g4}'::text[]) g
select pgtrickle.outbox_rows_consumed('s1', 1)
select pgtrickle.outbox_status(o) from unnest('{o1,o2,s1,i3}'::text[]) o
select * from unnest('{o1,o2,s1,i3}'::text[]) o, pgtrickle_internal.pgt_publishers(o)
select * from pgtrickle.outbox_o1_cloudevents
select * from pgtrickle.outbox_o1_debezium
select * from pgtrickle.outbox_s1, pgtrickle.outbox_delta_rows_s1, pgtrickle.pgt_outbox_latest_s1
select * from pgtrickle.pgt_consumer_status, pgtrickle.pgt_consumer_group_lag, pgtrickle.pgt_consumer_offsets, pgtrickle.pgt_consumer_leases, pgtrickle.pgt_consumer_active_leases
select * from pgtrickle.outbox_i3_cloudevents, pgtrickle.outbox_i3_debezium
select id, created_at from pgtrickle.outbox_i3
select id, created_at, inserted_count, deleted_count, is_claim_check from pgtrickle.outbox_s1
select * from pgtrickle.pgt_consumer_claim_check_acks
select name from pgtrickle.pgt_extension
select * from pgtrickle.pgt_inbox_ordering_config, pgtrickle.pgt_inbox_priority_config
select event_id, event_type, received_at, processed_at, retry_count, error from pgtrickle_internal.i6_rows
select * from pgtrickle_internal.pgt_waiting(), pgtrickle_internal.pgt_stream_table_state
select event_id, count(*) from pgtrickle.inbox_claim('i2', 4) group by event_id
select id, created_at from pgtrickle.outbox_o1
select * from pgtrickle.pgt_consumer_dead_letters
select group_name, id, outbox_name, consumer_id, created_at, event_type, attempts, error, dead_at from pgtrickle.pgt_consumer_dead_letters
select * from pgtrickle.pgt_stream_tables
select * from pgtrickle.pgt_status()
select * from pgtrickle.get_refresh_history('public.s1')
select pgtrickle.explain_st('public.s1')
select * from pgtrickle.pgt_refresh_history, pgtrickle.pgt_settings, pgtrickle.pgt_extension, pgtrickle_internal.pgt_tasks, pgtrickle_internal.pgt_version_history
select pgtrickle.pause_inbox('i1')
select pgtrickle.resume_inbox('i1')
select pgtrickle.inbox_retry_quarantined('i2')
select pgtrickle.pause_group('g1')
select pgtrickle.resume_group('g1')
select pgtrickle.drop_consumer_group('g1')
select pgtrickle.enable_outbox('public.s3')
select pgtrickle.disable_outbox('public.s5')
select pgtrickle.refresh_stream_table('public.s1')
select pgtrickle.resume_stream_table('public.s1')
select pgtrickle.suspend_stream_table('public.s1')
select pgtrickle.check_stream_table('public.s1')
select pgtrickle.create_stream_table('public.s5', 'select v from items')
select pgtrickle.drop_stream_table('public.s4')
select pgtrickle.create_inbox('i10')
select pgtrickle.enable_inbox_tracking('i10', 'public.i9')
select pgtrickle.enable_inbox_ordering('i8', 'aggregate_id', 'seq')
select pgtrickle.disable_inbox_ordering('i8')
select pgtrickle.enable_inbox_priority('i8', 'seq', null, null)
select pgtrickle.disable_inbox_priority('i8')
select pgtrickle.drop_inbox('i8')
select pgtrickle.attach()
select pgtrickle.detach()
select pgtrickle.after_restore()
select pgtrickle.runtime_version()
select pgtrickle.tick_once()
call pgtrickle.tick()
call pgtrickle.run('1 s', '1 s')
