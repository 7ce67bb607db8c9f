-- The aggregates $1; their options are in the order in which CREATE AGGREGATE lists them.
select
    p.oid::bigint as oid,
    n.nspname::text as schema,
    p.proname::text as name,
    case when p.pronargs = 0 then '*' else pg_get_function_arguments(p.oid) end as args,
    array_remove(array[
        'sfunc = ' || a.aggtransfn::regproc,
        'stype = ' || format_type(a.aggtranstype, null),
        'sspace = ' || nullif(a.aggtransspace, 0),
        'finalfunc = ' || nullif(a.aggfinalfn::oid, 0)::regproc,
        case when a.aggfinalextra then 'finalfunc_extra' end,
        case when a.aggfinalfn <> 0 then 'finalfunc_modify = ' || m.final end,
        'combinefunc = ' || nullif(a.aggcombinefn::oid, 0)::regproc,
        'serialfunc = ' || nullif(a.aggserialfn::oid, 0)::regproc,
        'deserialfunc = ' || nullif(a.aggdeserialfn::oid, 0)::regproc,
        'initcond = ' || quote_literal(a.agginitval),
        'msfunc = ' || nullif(a.aggmtransfn::oid, 0)::regproc,
        'minvfunc = ' || nullif(a.aggminvtransfn::oid, 0)::regproc,
        'mstype = ' || format_type(nullif(a.aggmtranstype, 0), null),
        'msspace = ' || nullif(a.aggmtransspace, 0),
        'mfinalfunc = ' || nullif(a.aggmfinalfn::oid, 0)::regproc,
        case when a.aggmfinalextra then 'mfinalfunc_extra' end,
        case when a.aggmfinalfn <> 0 then 'mfinalfunc_modify = ' || m.mfinal end,
        'minitcond = ' || quote_literal(a.aggminitval),
        'sortop = operator(' || quote_ident(o.nspname) || '.' || s.oprname || ')',
        'parallel = ' || case p.proparallel when 's' then 'safe' when 'r' then 'restricted' end,
        case when a.aggkind = 'h' then 'hypothetical' end
    ], null) as options
from pg_aggregate a
join pg_proc p on p.oid = a.aggfnoid
join pg_namespace n on n.oid = p.pronamespace
left join pg_operator s on s.oid = a.aggsortop
left join pg_namespace o on o.oid = s.oprnamespace
cross join lateral (
    select
        case a.aggfinalmodify when 'r' then 'read_only' when 's' then 'shareable' else 'read_write' end as final,
        case a.aggmfinalmodify when 'r' then 'read_only' when 's' then 'shareable' else 'read_write' end as mfinal
) m
where p.oid = any ($1::bigint[]::oid[])
