-- Partitions, with columns in another order than their parent's, and keys of other names.
create function bucket(i integer) returns integer language sql immutable as 'select i % 10';
create table events (id bigint not null, at timestamptz not null default now(), kind text, payload jsonb) partition by range (at);
create table events_2023 partition of events for values from ('2023-01-01 00:00+00') to ('2024-01-01 00:00+00');
create table a_first (payload jsonb, kind text, at timestamptz not null, id bigint not null default 7, constraint own_key primary key (id, at), constraint kinds check (kind <> ''));
alter table events add constraint kinds check (kind <> '');
alter table events attach partition a_first for values from ('2024-01-01 00:00+00') to (maxvalue);
alter table events add constraint events_key primary key (id, at);
create unique index events_kinds on events (kind, at);
create table events_rest partition of events default partition by range (at);
create table events_rest_a partition of events_rest for values from ('2020-01-01 00:00+00') to ('2021-01-01 00:00+00') partition by hash (at);
create table events_rest_a_0 partition of events_rest_a for values with (modulus 2, remainder 0);
create table events_rest_a_1 partition of events_rest_a for values with (modulus 2, remainder 1);
create table events_rest_other partition of events_rest default;
create unique index only_here on events_2023 (id);
create table refs (id bigint, at timestamptz, foreign key (id, at) references events);
create table by_bucket (i integer not null, t text collate "C") partition by range (bucket(i), lower(t) collate "C" text_pattern_ops);
create table by_bucket_1 partition of by_bucket for values from (minvalue, minvalue) to (5, 'it''s');
