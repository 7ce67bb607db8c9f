-- Everything that users and dumps can see of an extension, one line each, without object numbers and moments.
with ours as (
    select n.oid, n.nspname
    from pg_namespace n
    where n.nspname not like 'pg\_%' and n.nspname <> 'information_schema'
),
lines as (
    select format('relation %s.%s %s options %s acl %s comment %s', n.nspname, c.relname, c.relkind, c.reloptions,
               (select array_agg(a::text order by a::text) from unnest(coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))) a), obj_description(c.oid, 'pg_class')) as line
    from pg_class c join ours n on n.oid = c.relnamespace
    where c.relkind in ('r', 'v', 'S', 'p', 'm', 'i')
    union all
    select format('column %s.%s %s %s %s null %s default %s generated %s collation %s acl %s', n.nspname, c.relname,
               row_number() over (partition by c.oid order by a.attnum), a.attname, format_type(a.atttypid, a.atttypmod), not a.attnotnull,
               pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attcollation::regcollation,
               (select array_agg(x::text order by x::text) from unnest(a.attacl) x))
    from pg_class c join ours n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relkind in ('r', 'v', 'p', 'm')
    union all
    select format('index %s', pg_get_indexdef(i.indexrelid)) from pg_index i join pg_class c on c.oid = i.indexrelid join ours n on n.oid = c.relnamespace
    union all
    select format('constraint %s %s %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
    from pg_constraint k join ours n on n.oid = k.connamespace
    where k.contype <> 'n'
    union all
    select format('view %s.%s %s', n.nspname, c.relname, pg_get_viewdef(c.oid)) from pg_class c join ours n on n.oid = c.relnamespace where c.relkind = 'v'
    union all
    select format('function %s acl %s comment %s', pg_get_functiondef(p.oid), (select array_agg(a::text order by a::text) from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) a), obj_description(p.oid, 'pg_proc'))
    from pg_proc p join ours n on n.oid = p.pronamespace
    where p.prokind in ('f', 'p')
    union all
    select format('trigger %s enabled %s comment %s', pg_get_triggerdef(t.oid), t.tgenabled, obj_description(t.oid, 'pg_trigger'))
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join ours n on n.oid = c.relnamespace
    where not t.tgisinternal
    union all
    select format('row-level security of %s.%s forced %s', n.nspname, c.relname, c.relforcerowsecurity)
    from pg_class c join ours n on n.oid = c.relnamespace
    where c.relrowsecurity
    union all
    select format('policy %s on %s permissive %s for %s to %s using %s check %s', p.polname, p.polrelid::regclass, p.polpermissive, p.polcmd,
               p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    from pg_policy p join pg_class c on c.oid = p.polrelid join ours n on n.oid = c.relnamespace
    union all
    select format('schema %s acl %s comment %s', n.nspname, (select array_agg(a::text order by a::text) from unnest(coalesce(s.nspacl, acldefault('n', s.nspowner))) a), obj_description(n.oid, 'pg_namespace'))
    from ours n join pg_namespace s on s.oid = n.oid
    union all
    select format('publication %s on %s', p.pubname, r.prrelid::regclass) from pg_publication p left join pg_publication_rel r on r.prpubid = p.oid
    union all
    select format('dumped %s', x::regclass) from pg_extension e, unnest(e.extconfig) x
)
select line from lines order by line collate "C";
