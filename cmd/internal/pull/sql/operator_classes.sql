-- The operator classes $1.
select
    o.oid::bigint as oid,
    n.nspname::text as schema,
    o.opcname::text as name,
    o.opcdefault as isdefault,
    format_type(o.opcintype, null) as type,
    m.amname::text as method,
    format('%I.%I', fn.nspname, f.opfname) as family,
    array(
        select format(
            'operator %s %s%s', a.amopstrategy, a.amopopr::regoperator,
            (select format(' for order by %I.%I', sn.nspname, s.opfname)
             from pg_opfamily s join pg_namespace sn on sn.oid = s.opfnamespace where s.oid = a.amopsortfamily)
        )
        from pg_depend d
        join pg_amop a on a.oid = d.objid
        where d.refclassid = 'pg_opclass'::regclass and d.refobjid = o.oid and d.classid = 'pg_amop'::regclass and d.deptype = 'i'
        order by a.amopstrategy
    ) || array(
        select format(
            'function %s (%s, %s) %s', p.amprocnum,
            format_type(p.amproclefttype, null), format_type(p.amprocrighttype, null), p.amproc::oid::regprocedure
        )
        from pg_depend d
        join pg_amproc p on p.oid = d.objid
        where d.refclassid = 'pg_opclass'::regclass and d.refobjid = o.oid and d.classid = 'pg_amproc'::regclass and d.deptype = 'i'
        order by p.amprocnum
    ) || array_remove(array['storage ' || format_type(nullif(o.opckeytype, 0), null)], null) as items
from pg_opclass o
join pg_namespace n on n.oid = o.opcnamespace
join pg_am m on m.oid = o.opcmethod
join pg_opfamily f on f.oid = o.opcfamily
join pg_namespace fn on fn.oid = f.opfnamespace
where o.oid = any ($1::bigint[]::oid[])
