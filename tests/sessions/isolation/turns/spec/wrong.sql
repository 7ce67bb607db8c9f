create view wrong as
select 'ab' as in_stream_table, x::text as row
from (
    (select a.id, b.id as other from a join b on b.g = a.g except all table st.ab)
    union all
    (table st.ab except all select a.id, b.id from a join b on b.g = a.g)
) x
union all
select 'bc', x::text
from (
    (select b.g, count(*) from b join c on c.g = b.g group by b.g except all table st.bc)
    union all
    (table st.bc except all select b.g, count(*) from b join c on c.g = b.g group by b.g)
) x
union all
select 'de', x::text
from (
    (select d.id, e.id from d join e on e.g = d.g except all table st.de)
    union all
    (table st.de except all select d.id, e.id from d join e on e.g = d.g)
) x;
call st_internal.pgt_fill();
