-- The tables whose rows are read together with those of the tables $1.
select i.inhparent::bigint as parent, i.inhrelid::bigint as child
from pg_inherits i
join pg_class c on c.oid = i.inhrelid and c.relkind in ('r', 'p', 'f')
where i.inhparent = any ($1::bigint[]::oid[]) and not i.inhdetachpending
order by 1, 2
