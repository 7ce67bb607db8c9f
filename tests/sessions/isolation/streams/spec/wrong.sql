create view wrong as
select 'copied' as in_stream_table, d::text as row
from ((select id, v from items where v > 0 except all table st.copied) union all (table st.copied except all select id, v from items where v > 0)) d
union all
select 'sums', d::text
from (
    (select g, count(*), sum(v), min(v) from items group by g except all table st.sums)
    union all
    (table st.sums except all select g, count(*), sum(v), min(v) from items group by g)
) d
union all
select 'joined', d::text
from (
    (select i.id, b.name, i.v from items i join groups b on b.g = i.g except all table st.joined)
    union all
    (table st.joined except all select i.id, b.name, i.v from items i join groups b on b.g = i.g)
) d
union all
select 'by_name', d::text
from (
    (select b.name, count(*), sum(i.v), min(i.v) from items i join groups b on b.g = i.g group by b.name except all table st.by_name)
    union all
    (table st.by_name except all select b.name, count(*), sum(i.v), min(i.v) from items i join groups b on b.g = i.g group by b.name)
) d
union all
select 'parted', d::text
from (
    (select p.id, i.v from parts p join items i on i.id = p.item except all table st.parted)
    union all
    (table st.parted except all select p.id, i.v from parts p join items i on i.id = p.item)
) d
union all
select 'lone_copied', d::text
from ((select id, v from lone where v > 0 except all table st.lone_copied) union all (table st.lone_copied except all select id, v from lone where v > 0)) d
union all
select 'lone_sums', d::text
from (
    (select g, count(*), sum(v), min(v) from lone group by g except all table st.lone_sums)
    union all
    (table st.lone_sums except all select g, count(*), sum(v), min(v) from lone group by g)
) d
union all
select 'cut_sums', d::text
from (
    (select v % 2, count(*), sum(v) from cut group by v % 2 except all table st.cut_sums)
    union all
    (table st.cut_sums except all select v % 2, count(*), sum(v) from cut group by v % 2)
) d;
create procedure refresh_all()
    language sql
begin atomic
    select st.refresh_stream_table('copied');
    select st.refresh_stream_table('sums');
    select st.refresh_stream_table('joined');
    select st.refresh_stream_table('by_name');
    select st.refresh_stream_table('parted');
    select st.refresh_stream_table('lone_copied');
    select st.refresh_stream_table('lone_sums');
    select st.refresh_stream_table('cut_sums');
end;
insert into groups values (1, 'one'), (2, 'two');
insert into items values (1, 1, 10), (2, 1, 20), (3, 2, 30);
insert into lone select * from items;
insert into cut values (1, 1, 1), (2, 1, 2), (3, 2, 3);
insert into parts values (1, 1), (2, 1), (3, 3);
call st_internal.pgt_fill();
call refresh_all();
