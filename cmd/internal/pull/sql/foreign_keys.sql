-- Foreign keys between the tables $1.
select
    n.nspname::text as schema,
    r.relname::text as table,
    c.conname::text as name,
    pg_get_constraintdef(c.oid) as definition
from pg_constraint c
join pg_class r on r.oid = c.conrelid
join pg_namespace n on n.oid = r.relnamespace
where c.contype = 'f'
  and c.conparentid = 0
  and c.conrelid = any ($1::bigint[]::oid[])
  and c.confrelid = any ($1::bigint[]::oid[])
order by n.nspname collate "C", r.relname collate "C", c.conname collate "C"
