insert into public.items values (1, 1), (2, 2);
select pgtrickle.create_inbox('i8');
grant insert on pgtrickle.i8 to rights_producer; -- as earlier versions did; what attaches an inbox again revokes it
alter table pgtrickle.i8 add seq bigint;
select pgtrickle.enable_inbox_ordering('i8', 'aggregate_id', 'seq');
create table public.i9 (event_id text primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default clock_timestamp(),
    processed_at timestamptz, error text, retry_count integer not null default 0, aggregate_id text, source text, trace_id text);
select pgtrickle.enable_inbox_tracking('i9', 'public.i9');
select pgtrickle.enable_outbox('public.s5');
select pgtrickle.create_stream_table('public.s4', 'select v from items');
call pgtrickle.tick();
insert into pgtrickle.i2 (event_id, event_type, payload, received_at) select 'same' || n, 't', '{}', now() from generate_series(1, 20) n;
set pg_trickle.tenant = 'acme';
select pgtrickle.inbox_receive(i, 'e' || e, 't', '{}', p_sequence => case when i in ('i3', 'i8') then e::text end, p_aggregate_id => 'a' || e)
from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i, generate_series(1, 8) e;
select pgtrickle.inbox_mark_failed(i, case i when 'i5' then 'acme/' else '' end || 'e1', 'x') from unnest('{i1,i2,i3,i4,i5,i6,i7,i8,i9}'::text[]) i, generate_series(1, 3);
select pgtrickle.inbox_receive_wire('i2', 'not json');
select pgtrickle.outbox_publish(o, 't', '{}', 'a') from unnest('{o1,o2}'::text[]) o, generate_series(1, 5);
select count(*) from unnest('{g1,g2,g3}'::text[]) g, pgtrickle.poll_outbox(g, 'c', 2);
select pgtrickle.reject_rows(g, 'c', '{1}', 'bad') from unnest('{g1,g2}'::text[]) g;
select count(*) from pgtrickle.poll_outbox('g1', 'd', 1); -- which it passes over when it asks for a type
select count(*) from pgtrickle.poll_outbox('g1', 'typed', 1, 30, '{u}');
call pgtrickle.tick();
begin;
select count(*) from unnest('{i1,i2,i3,i4,i6,i7,i8,i9}'::text[]) i, pgtrickle.inbox_claim(i, 4);
rollback;
select pgtrickle.inbox_mark_processed('i2', c.event_id) from pgtrickle.inbox_claim('i2', 4) c; -- or the next claim begins before the moment that they share
update public.items set v = v + 1;
select pg_sleep_until(date_trunc('second', clock_timestamp()) + interval '1 second'); -- a tick knows whole seconds, and this moment is to be among them
call pgtrickle.tick();
