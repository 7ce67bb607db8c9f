-- One step on from objects, whose catalogs are $1 and oids $2: what they need, what they consist of, and what goes with them.
with frontier as materialized (
    select f.class::regclass::oid as classid, f.objid::oid as objid
    from unnest($1::text[], $2::bigint[]) as f (class, objid)
),
edges (classid, objid, kind, toclass, toobj) as (
    -- what the server knows to be needed; up to version 14 a generated column depends automatically
    select f.classid, f.objid, 'needs', d.refclassid, d.refobjid
    from frontier f
    join pg_depend d on d.classid = f.classid and d.objid = f.objid
    where d.deptype in ('n', 'i', 'e') or d.deptype = 'a' and d.classid = 'pg_class'::regclass and d.objsubid > 0
    union
    -- a table needs those that it inherits from or is a partition of
    select f.classid, f.objid, 'needs', 'pg_class'::regclass, i.inhparent
    from frontier f
    join pg_inherits i on i.inhrelid = f.objid
    join pg_class c on c.oid = f.objid and c.relkind in ('r', 'p', 'f')
    where f.classid = 'pg_class'::regclass
    union
    -- an operator class needs its family
    select f.classid, f.objid, 'needs', 'pg_opfamily'::regclass, o.opcfamily
    from frontier f
    join pg_opclass o on o.oid = f.objid
    where f.classid = 'pg_opclass'::regclass
    union
    -- a table consists of defaults, constraints and the sequences of identity columns
    select f.classid, f.objid, 'part', 'pg_attrdef'::regclass, a.oid
    from frontier f
    join pg_class c on c.oid = f.objid and c.relkind in ('r', 'p', 'f')
    join pg_attrdef a on a.adrelid = c.oid
    where f.classid = 'pg_class'::regclass
    union
    select f.classid, f.objid, 'part', 'pg_constraint'::regclass, c.oid
    from frontier f
    join pg_constraint c on c.conrelid = f.objid and c.contype in ('c', 'p', 'u', 'x')
    where f.classid = 'pg_class'::regclass
    union
    select f.classid, f.objid, 'part', 'pg_class'::regclass, s.oid
    from frontier f
    join pg_depend d on d.refclassid = f.classid and d.refobjid = f.objid and d.deptype = 'i' and d.classid = f.classid
    join pg_class s on s.oid = d.objid and s.relkind = 'S'
    where f.classid = 'pg_class'::regclass
    union
    -- a constraint may consist of an index
    select f.classid, f.objid, 'part', 'pg_class'::regclass, c.conindid
    from frontier f
    join pg_constraint c on c.oid = f.objid and c.conindid <> 0 and c.contype in ('p', 'u', 'x')
    where f.classid = 'pg_constraint'::regclass
    union
    -- a view consists of its rule
    select f.classid, f.objid, 'part', 'pg_rewrite'::regclass, r.oid
    from frontier f
    join pg_rewrite r on r.ev_class = f.objid and r.ev_type = '1'
    where f.classid = 'pg_class'::regclass
    union
    -- a composite type consists of columns, a domain of constraints
    select f.classid, f.objid, 'part', 'pg_class'::regclass, t.typrelid
    from frontier f
    join pg_type t on t.oid = f.objid
    join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
    where f.classid = 'pg_type'::regclass
    union
    select f.classid, f.objid, 'part', 'pg_constraint'::regclass, c.oid
    from frontier f
    join pg_constraint c on c.contypid = f.objid and c.contype = 'c'
    where f.classid = 'pg_type'::regclass
    union
    -- an operator class consists of operators and functions
    select f.classid, f.objid, 'part', d.classid, d.objid
    from frontier f
    join pg_depend d on d.refclassid = f.classid and d.refobjid = f.objid and d.deptype = 'i'
    where f.classid = 'pg_opclass'::regclass and d.classid in ('pg_amop'::regclass, 'pg_amproc'::regclass)
    union
    -- with a table go its unique indexes and those that find rows by columns, with a type the operator classes that sort and hash it
    select f.classid, f.objid, 'follows', 'pg_class'::regclass, i.indexrelid
    from frontier f
    join pg_index i on i.indrelid = f.objid and i.indisvalid and (i.indisunique or i.indpred is null and i.indexprs is null)
    join pg_class x on x.oid = i.indexrelid
    join pg_am a on a.oid = x.relam and a.amname in ('btree', 'hash')
    where f.classid = 'pg_class'::regclass
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x'))
    union
    select f.classid, f.objid, 'follows', 'pg_opclass'::regclass, o.oid
    from frontier f
    join pg_opclass o on o.opcintype = f.objid and o.opcdefault
    where f.classid = 'pg_type'::regclass
)
select
    e.classid::regclass::text as class,
    e.objid::bigint as oid,
    e.kind as kind,
    e.toclass::regclass::text as toclass,
    e.toobj::bigint as toobj,
    coalesce(x.refobjid, 0)::bigint as extension,
    coalesce(c.relkind in ('r', 'p', 'f', 'v', 'm'), false) as relation
from edges e
left join pg_depend x on x.classid = e.toclass and x.objid = e.toobj and x.deptype = 'e'
left join pg_class c on e.toclass = 'pg_class'::regclass and c.oid = e.toobj
where e.toobj >= 16384
order by 1, 2, 3, 4, 5
