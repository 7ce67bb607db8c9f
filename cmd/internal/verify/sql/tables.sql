-- The tables of users, parents of foreign keys first as far as there is such an order: columns that can be written, keys and constraints.
select c.oid::bigint, format('%I.%I', n.nspname, c.relname),
       (
           select coalesce(jsonb_agg(jsonb_build_object(
                      'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'base', format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null),
                      'category', t.typcategory, 'not_null', a.attnotnull or t.typnotnull, 'has_default', a.atthasdef or a.attidentity <> '',
                      'labels', (select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = coalesce(nullif(t.typbasetype, 0), t.oid)),
                      'unique', exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any (i.indkey::int2[]))
                  ) order by a.attnum), '[]')
           from pg_attribute a
           join pg_type t on t.oid = a.atttypid
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity <> 'a'
       ),
       (
           select coalesce(jsonb_agg(jsonb_build_object(
                      'table', (select format('%I.%I', pn.nspname, p.relname) from pg_class p join pg_namespace pn on pn.oid = p.relnamespace where p.oid = k.confrelid),
                      'columns', (select jsonb_agg(a.attname order by x.n) from unnest(k.conkey) with ordinality x (num, n) join pg_attribute a on a.attrelid = k.conrelid and a.attnum = x.num),
                      'refers', (select jsonb_agg(a.attname order by x.n) from unnest(k.confkey) with ordinality x (num, n) join pg_attribute a on a.attrelid = k.confrelid and a.attnum = x.num)) order by k.conname), '[]')
           from pg_constraint k
           where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0
       ),
       array(
           select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' order by k.conname
       ) || array(
           select pg_get_expr(p.relpartbound, p.oid) from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid and p.relispartition order by p.relname
       )
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't'
  and n.nspname <> 'information_schema' and n.nspname not like 'pg\_%'
  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
order by 2
