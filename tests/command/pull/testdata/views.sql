-- Views over views, in another order than by name.
create table t (id integer primary key, a text, b numeric);
create table u (id integer primary key, t_id integer, c text);
create view z_base as select t.id, t.a, u.c from t join u on u.t_id = t.id;
create view a_over (x, y) with (security_barrier = true) as select z.id, count(*) from z_base z group by z.id having count(*) > 1;
create view checked as select * from t where b > 0 with cascaded check option;
create materialized view mat as select id, sum(b) as total from t group by id with no data;
create unique index mat_key on mat (id);
create view over_mat as select m.total, o.y from mat m left join a_over o on o.x = m.id;
create view v_values (one, two) as values (1, 'a'), (2, 'b');
create view v_sets as select id from t union all (select id from u except select 7) order by 1 limit 3;
create view v_recursive as with recursive r (n) as (select 1 union all select n + 1 from r where n < 5) select n from r;
create view v_windows as select id, sum(b) over w as s, row_number() over (partition by a order by b desc rows between 1 preceding and current row) as n from t window w as (order by id);
create view v_system as select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace;
create view v_times as select timestamptz '2024-03-01 12:00+05' as at, interval '1 day' as i, date '2024-03-01' as d;
alter view v_times rename column d to "the Day";
create view v_function as select * from generate_series(1, 3) with ordinality as g (n, o), lateral (select g.n * 2 as m) l;
create view v_rows as select t as whole, t.* from t;
