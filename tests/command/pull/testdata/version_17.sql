-- at least 17
create table p (id bigint generated always as identity, k integer) partition by list (k);
create table p_1 partition of p for values in (1);
create collation b (provider = builtin, locale = 'C.UTF-8');
create table words (w text collate b, x text collate "C");
create view json as select j.a, t.n from (select '{"a": 1}'::jsonb as a) j, json_table(j.a, '$' columns (n integer path '$.a')) t;
