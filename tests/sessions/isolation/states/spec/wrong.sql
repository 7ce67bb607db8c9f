create function kept() returns table (in_stream_table text, "row" text) language sql as $$ -- so that nothing depends on tables that are created again
select 'above_state1', d::text
from (
    ((select count(*) from items)
    except all select __n from st_internal.above_state1)
    union all
    (select __n from st_internal.above_state1 except all
    (select count(*) from items))
) d
union all
select 'reach_state1', d::text
from (
    ((select a, b, 1 from (with recursive r(a, b) as (select a, b from edges union select r.a, e.b from r join edges e on e.a = r.b) select a, b from r) q)
    except all select a, b, __mult from st_internal.reach_state1)
    union all
    (select a, b, __mult from st_internal.reach_state1 except all
    (select a, b, 1 from (with recursive r(a, b) as (select a, b from edges union select r.a, e.b from r join edges e on e.a = r.b) select a, b from r) q))
) d
union all
select 'best_state1', d::text
from (
    ((select g, count(*) from items group by g)
    except all select g, __n from st_internal.best_state1)
    union all
    (select g, __n from st_internal.best_state1 except all
    (select g, count(*) from items group by g))
) d
$$;
create view wrong as
select 'above' as in_stream_table, d::text as row
from (
    ((select id, v from items where v > (select avg(v) from items))
    except all table st.above)
    union all
    (table st.above except all
    (select id, v from items where v > (select avg(v) from items)))
) d
union all
select 'best' as in_stream_table, d::text as row
from (
    ((with s as (select g, sum(v) as total from items group by g) select g, total from s where total = (select max(total) from s))
    except all table st.best)
    union all
    (table st.best except all
    (with s as (select g, sum(v) as total from items group by g) select g, total from s where total = (select max(total) from s)))
) d
union all
select 'reach' as in_stream_table, d::text as row
from (
    ((with recursive r(a, b) as (select a, b from edges union select r.a, e.b from r join edges e on e.a = r.b) select a, b from r)
    except all table st.reach)
    union all
    (table st.reach except all
    (with recursive r(a, b) as (select a, b from edges union select r.a, e.b from r join edges e on e.a = r.b) select a, b from r))
) d
union all
select 'paths' as in_stream_table, d::text as row
from (
    ((with recursive p(a, b, steps) as (select a, b, 1 from edges union all select p.a, e.b, p.steps + 1 from p join edges e on e.a = p.b where p.steps < 4) select a, max(steps) as longest, count(*) as n from p group by a)
    except all table st.paths)
    union all
    (table st.paths except all
    (with recursive p(a, b, steps) as (select a, b, 1 from edges union all select p.a, e.b, p.steps + 1 from p join edges e on e.a = p.b where p.steps < 4) select a, max(steps) as longest, count(*) as n from p group by a))
) d
union all
select * from kept();
call st_internal.pgt_fill();
