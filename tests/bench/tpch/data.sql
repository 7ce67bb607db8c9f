-- Fills the tables at a scale, by the column definitions of TPC-H (clause 4.2.3). Values are hashes of keys, so two runs have the same rows.
create schema made;
create table made.scale (parts int, suppliers int, customers int, orders int);
insert into made.scale select 200000 * f, 10000 * f, 150000 * f, 1500000 * f from (select {{.}}::float8) s (f);

-- One of so many, from 0.
create function made.of(n bigint, salt bigint, size int) returns int language sql immutable
return abs(hashint8extended(n, salt) % size)::int;
create function made.one(n bigint, salt bigint, words text[]) returns text language sql immutable
return words[1 + made.of(n, salt, cardinality(words))];
create function made.price(part bigint) returns numeric language sql immutable
return (90000 + (part / 10) % 20001 + 100 * (part % 1000)) / 100.0;
create function made.supplier(part bigint, nth int, suppliers int) returns int language sql immutable
return ((part + nth * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1)::int;

insert into region
select n - 1, name, 'comment' from unnest(array['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']) with ordinality r (name, n);
insert into nation
select n - 1, name, split_part(regions, ' ', n::int)::int, 'comment'
from unnest(array[
    'ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA',
    'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES'
]) with ordinality r (name, n)
cross join (select '0 1 1 1 4 0 3 3 2 2 4 4 2 4 0 0 0 1 2 3 4 2 3 3 1') s (regions);

insert into supplier
select n, 'Supplier#' || lpad(n::text, 9, '0'), 'address ' || n, k.nation, k.nation + 10 || '-' || 100 + made.of(n, 2, 900) || '-' || 100 + made.of(n, 3, 900) || '-1000',
    made.of(n, 4, 1100000) / 100.0 - 1000, case when n % 97 = 5 then 'slow Customer and his Complaints' else 'comment' end
from made.scale s, generate_series(1, s.suppliers) n, lateral (select made.of(n, 1, 25) as nation) k;

insert into part
select n, made.one(n, 11, c.colors) || ' ' || made.one(n, 12, c.colors) || ' ' || made.one(n, 13, c.colors), 'Manufacturer#' || m.mfgr, 'Brand#' || m.mfgr || 1 + made.of(n, 15, 5),
    made.one(n, 16, array['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO']) || ' '
    || made.one(n, 17, array['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED']) || ' ' || made.one(n, 18, array['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER']),
    1 + made.of(n, 19, 50),
    made.one(n, 20, array['SM', 'LG', 'MED', 'JUMBO', 'WRAP']) || ' ' || made.one(n, 21, array['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM']),
    made.price(n), 'comment'
from made.scale s, generate_series(1, s.parts) n, lateral (select 1 + made.of(n, 14, 5) as mfgr) m, (select string_to_array(
    'almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim '
    'dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium '
    'metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna '
    'sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow', ' ') as colors) c;

insert into partsupp
select p, made.supplier(p, i, s.suppliers), 1 + made.of(p * 4 + i, 31, 9999), (100 + made.of(p * 4 + i, 32, 99900)) / 100.0, 'comment'
from made.scale s, generate_series(1, s.parts) p, generate_series(0, 3) i
on conflict do nothing;

insert into customer
select n, 'Customer#' || lpad(n::text, 9, '0'), 'address ' || n, k.nation, k.nation + 10 || '-' || 100 + made.of(n, 42, 900) || '-' || 100 + made.of(n, 43, 900) || '-1000',
    made.of(n, 44, 1100000) / 100.0 - 1000, made.one(n, 45, array['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD']), 'comment'
from made.scale s, generate_series(1, s.customers) n, lateral (select made.of(n, 41, 25) as nation) k;

-- Orders of a range of numbers, with one to seven lines each. Every third customer has none.
create procedure made.orders(first bigint, last bigint) language sql
begin atomic
    insert into lineitem
    select o.key, l.part, made.supplier(l.part, made.of(l.key, 62, 4), s.suppliers), i, l.quantity, l.quantity * made.price(l.part),
        made.of(l.key, 64, 11) / 100.0, made.of(l.key, 65, 9) / 100.0,
        case when l.received > '1995-06-17' then 'N' when made.of(l.key, 66, 2) = 0 then 'R' else 'A' end, case when l.shipped > '1995-06-17' then 'O' else 'F' end,
        l.shipped, o.day + 30 + made.of(l.key, 67, 61), l.received,
        made.one(l.key, 68, array['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN']),
        made.one(l.key, 69, array['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB']), 'comment'
    from made.scale s, generate_series(first, last) n,
        lateral (select (n - 1) / 8 * 32 + (n - 1) % 8 + 1 as key, date '1992-01-01' + made.of(n, 51, 2406) as day) o,
        generate_series(1, 1 + made.of(n, 52, 7)) i,
        lateral (select n * 8 + i as key) k,
        lateral (
            select k.key, 1 + made.of(k.key, 61, s.parts) as part, 1 + made.of(k.key, 63, 50) as quantity, o.day + 1 + made.of(k.key, 70, 121) as shipped,
                o.day + 2 + made.of(k.key, 70, 121) + made.of(k.key, 71, 30) as received
        ) l;
    insert into orders
    select o.key, case when c.number % 3 = 0 then greatest(1, c.number - 1) else c.number end, l.status, l.total, o.day,
        made.one(n, 54, array['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW']), 'Clerk#' || lpad(made.of(n, 55, 1000)::text, 9, '0'), 0,
        case when made.of(n, 56, 100) = 0 then 'even special customer requests' else 'comment' end
    from made.scale s, generate_series(first, last) n,
        lateral (select (n - 1) / 8 * 32 + (n - 1) % 8 + 1 as key, date '1992-01-01' + made.of(n, 51, 2406) as day) o,
        lateral (select 1 + made.of(n, 53, s.customers) as number) c,
        lateral (
            select sum(round(i.l_extendedprice * (1 + i.l_tax) * (1 - i.l_discount), 2)) as total,
                case when bool_and(i.l_linestatus = 'F') then 'F' when bool_and(i.l_linestatus = 'O') then 'O' else 'P' end as status
            from lineitem i
            where i.l_orderkey = o.key
        ) l;
end;
do $$
declare
    last bigint := (select s.orders from made.scale s);
begin
    call made.orders(1, last);
end
$$;

-- Changes a share of the rows: a third are orders that come with their lines, a third orders that go, a third are updates, of all tables but nation and region.
-- round: from 1; other rows change in each.
create procedure made.change(share float8, round int) language plpgsql as $$
declare
    s    made.scale;
    step int := greatest(3, 3 / share);
begin
    select * into s from made.scale;
    call made.orders(s.orders + 1, s.orders + greatest(1, (s.orders * share / 3)::int));
    update made.scale set orders = s.orders + greatest(1, (s.orders * share / 3)::int);
    delete from lineitem where l_orderkey in (select o_orderkey from orders where hashint8(o_orderkey + round::bigint * 1000003) % step = 0);
    delete from orders where hashint8(o_orderkey + round::bigint * 1000003) % step = 0;
    update lineitem
    set l_quantity = 1 + (l_quantity::int + 7) % 50, l_discount = (l_discount * 100 + 1)::int % 11 / 100.0, l_shipdate = l_shipdate + 3, l_receiptdate = l_receiptdate + 5
    where hashint8(l_orderkey + round::bigint * 1000003) % step = 1;
    update orders set o_orderpriority = '1-URGENT', o_totalprice = o_totalprice + 1, o_orderdate = o_orderdate + 1 where hashint8(o_orderkey + round::bigint * 1000003) % step = 2;
    update customer set c_acctbal = c_acctbal + 1, c_mktsegment = 'BUILDING' where hashint8(c_custkey + round::bigint * 1000003) % step = 0;
    update supplier set s_acctbal = s_acctbal + 1, s_nationkey = (s_nationkey + 1) % 25 where hashint8(s_suppkey + round::bigint * 1000003) % step = 0;
    update part set p_size = 1 + p_size % 50, p_retailprice = p_retailprice + 1 where hashint8(p_partkey + round::bigint * 1000003) % step = 0;
    update partsupp set ps_supplycost = ps_supplycost + 1, ps_availqty = ps_availqty + 1 where hashint8(ps_partkey + round::bigint * 1000003) % step = 1;
end
$$;
analyze;
