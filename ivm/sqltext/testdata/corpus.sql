select dept_id, count(*) as n, count(bonus) as nb, sum(salary) as s, avg(salary) from staff group by dept_id

select sum(amount) filter (where kind = 'in') - sum(amount) filter (where kind = 'out') as balance, bool_or(amount > 100) from ledger

select date_trunc('month', booked at time zone 'utc')::date as month, string_agg(distinct label, ', ' order by label) from ledger group by 1

select s.store, mode() within group (order by s.sku), percentile_disc(array[0.25, 0.5]) within group (order by s.qty) from sales s group by s.store

select dept_id, grade, grouping(dept_id, grade) as g, count(*) from staff group by grouping sets ((dept_id), (grade), ()) having count(*) > 2 or max(salary) = 5

with a as (select id, dept_id from staff where active), b as materialized (select * from a where dept_id in (select id from dept where region = 'n'))
select x.id, y.id as other from a x join b y on x.dept_id = y.dept_id and x.id < y.id

select coalesce(l.id, r.id) as id, l.n, r.n from l full join r using (id) where (l.n is null) <> (r.n is null)

select d.name from dept d where not exists (select 1 from staff e where e.dept_id = d.id and e.salary > all (select salary from staff where grade = 1))

select o.id, (select max(l.price) from line l where l.order_id = o.id) as top, o.total > (select avg(total) from orders) as large from orders o

select o.id, t.* from orders o cross join lateral (select l.sku, l.qty from line l where l.order_id = o.id order by l.qty desc, l.sku limit 3) t

select distinct on (customer) customer, placed, total from orders order by customer, placed desc nulls last, id

select customer, sum(total) over (partition by customer order by placed rows between unbounded preceding and current row) as running,
  lag(total, 1, 0) over w, rank() over (w range between interval '1 day' preceding and current row)
from orders window w as (partition by customer order by placed)

(select id, name from staff where active union all select id, title from contractor) except select id, name from blocked order by 1 limit 10

select * from (select dept_id as k, sum(salary) as t from staff group by dept_id union all select store, sum(qty) from sales group by store) u left join dept d on d.id = u.k

with recursive reach (id, depth) as (
    select id, 0 from node where parent is null
    union all
    select n.id, r.depth + 1 from node n join reach r on n.parent = r.id where r.depth < 10
) select id, min(depth) from reach group by id

select p.id, tag, n from post p, unnest(p.tags) with ordinality as t (tag, n) where tag like 'a%' escape '!' and n between 1 and 3

select id, payload ->> 'name' as name, (payload -> 'items' -> 0 ->> 'qty')::int, payload #>> '{a,b}', payload @? '$.x' from event where payload ? 'name' or payload ?| array['a', 'b']

select case when sum(a) = 0 then null else round(100.0 * sum(b) / sum(a), 2) end, count(distinct (a, b)), array_agg(row(a, b)) from t group by c, d + 1, lower(e) collate "C"

select id, tags[1:2], tags[array_length(tags, 1)], (addr).street, ((addr).place).zip, t.* from person t where 'x' = any (tags) and id <> all (array[1, 2]) and (a, b) >= (1, 2)

select g.day, count(e.*) from generate_series('2020-01-01'::date, '2020-12-31', interval '1' day) as g (day) left join event e on e.at >= g.day and e.at < g.day + 1 group by g.day

select a.x, b.y from a natural join b join (c cross join d) on a.i = c.i and not (a.j is distinct from d.j) where a.k is not true and (a.l or b.l) is unknown

select k, v from (values (1, 'one'), (2, 'two')) as t (k, v) where v similar to '(o|t)%' or v ~* '^t' or not v ilike '_'

select x.id from x where x.a in (1, 2, 3) and x.b not in (select b from y where y.c = x.c and y.d in (select d from z)) and x.e = (select max(e) from x as x2 where x2.id = x.id)

select extract(epoch from b - a) / 3600, to_char(a, 'YYYY-MM'), a + b * interval '1 hour', age(b, a) > '1 year', substring(c from 2 for 3), trim(both ' ' from c), overlay(c placing 'x' from 1), position('a' in c) from t

select json_build_object('a', a, 'b', jsonb_agg(b order by c)), row_to_json(t), xmlagg(xmlelement(name x, xmlattributes(a as y), b)) from t group by t.*, a

select 'select' as "select", "From"."Where" as "x y", $$a'b$$, e'\\x', U&'\0041', b'01', x'ff', 1e3, .5, -0.0, 9999999999, 'ä' || 'ö' from "From"

select count(*) from s.t tablesample system (10) repeatable (1)

select current_date, current_timestamp(3), localtime, current_user, session_user, now(), t.ctid, t.xmin from t

select a from t group by rollup (a, (b, c)), cube (d, e), () order by a using > fetch next 5 rows only
