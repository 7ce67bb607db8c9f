-- The operators $1. Of their commutators and negators those are named that are the server's own or among them.
select
    o.oid::bigint as oid,
    n.nspname::text as schema,
    o.oprname::text as name,
    coalesce(format_type(nullif(o.oprleft, 0), null), '') as left,
    coalesce(format_type(nullif(o.oprright, 0), null), '') as right,
    array_remove(array[
        'function = ' || o.oprcode::oid::regproc,
        'leftarg = ' || format_type(nullif(o.oprleft, 0), null),
        'rightarg = ' || format_type(nullif(o.oprright, 0), null),
        'commutator = operator(' || quote_ident(cn.nspname) || '.' || c.oprname || ')',
        'negator = operator(' || quote_ident(nn.nspname) || '.' || g.oprname || ')',
        'restrict = ' || nullif(o.oprrest::oid, 0)::regproc,
        'join = ' || nullif(o.oprjoin::oid, 0)::regproc,
        case when o.oprcanhash then 'hashes' end,
        case when o.oprcanmerge then 'merges' end
    ], null) as options
from pg_operator o
join pg_namespace n on n.oid = o.oprnamespace
left join pg_operator c on c.oid = o.oprcom and (c.oid < 16384 or c.oid = any ($1::bigint[]::oid[]))
left join pg_namespace cn on cn.oid = c.oprnamespace
left join pg_operator g on g.oid = o.oprnegate and (g.oid < 16384 or g.oid = any ($1::bigint[]::oid[]))
left join pg_namespace nn on nn.oid = g.oprnamespace
where o.oid = any ($1::bigint[]::oid[])
