create view wrong as
select 'lonely' as in_stream_table, d::text as row
from (
    ((select b.g, b.name from groups b where not exists (select from items i where i.g = b.g and i.v > 5)) except all table st.lonely)
    union all
    (table st.lonely except all (select b.g, b.name from groups b where not exists (select from items i where i.g = b.g and i.v > 5)))
) d
union all
select 'paired' as in_stream_table, d::text as row
from (
    ((select b.g, i.id, i.v from groups b left join items i on i.g = b.g and i.v > 5) except all table st.paired)
    union all
    (table st.paired except all (select b.g, i.id, i.v from groups b left join items i on i.g = b.g and i.v > 5))
) d
union all
select 'ranked' as in_stream_table, d::text as row
from (
    ((select id, g, rank() over (partition by g order by v, id) as place from items) except all table st.ranked)
    union all
    (table st.ranked except all (select id, g, rank() over (partition by g order by v, id) as place from items))
) d
union all
select 'first_of' as in_stream_table, d::text as row
from (
    ((select distinct on (g) g, id, v from items order by g, v desc, id) except all table st.first_of)
    union all
    (table st.first_of except all (select distinct on (g) g, id, v from items order by g, v desc, id))
) d
union all
select 'best' as in_stream_table, d::text as row
from (
    ((select id, v from items order by v desc, id limit 2) except all table st.best)
    union all
    (table st.best except all (select id, v from items order by v desc, id limit 2))
) d
union all
select 'only_items' as in_stream_table, d::text as row
from (
    ((select g from items except all select g from groups) except all table st.only_items)
    union all
    (table st.only_items except all (select g from items except all select g from groups))
) d
union all
select 'counted' as in_stream_table, d::text as row
from (
    ((select b.g, (select count(*) from items i where i.g = b.g) as n, (select max(i.v) from items i where i.g = b.g) as most from groups b) except all table st.counted)
    union all
    (table st.counted except all (select b.g, (select count(*) from items i where i.g = b.g) as n, (select max(i.v) from items i where i.g = b.g) as most from groups b))
) d;
create procedure refresh_all()
    language sql
begin atomic
    select st.refresh_stream_table('lonely');
    select st.refresh_stream_table('paired');
    select st.refresh_stream_table('ranked');
    select st.refresh_stream_table('first_of');
    select st.refresh_stream_table('best');
    select st.refresh_stream_table('only_items');
    select st.refresh_stream_table('counted');
end;
insert into groups values (1, 'one'), (2, 'two');
insert into items values (1, 1, 10), (2, 1, 20), (3, 2, 30);
call st_internal.pgt_fill();
call refresh_all();
