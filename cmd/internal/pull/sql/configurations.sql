-- The text search configurations $1, with a mapping for each type of token that has one.
select
    c.oid::bigint as oid,
    n.nspname::text as schema,
    c.cfgname::text as name,
    format('%I.%I', pn.nspname, p.prsname) as parser,
    array(
        select format('%I with %s', t.alias, string_agg(m.mapdict::regdictionary::text, ', ' order by m.mapseqno))
        from pg_ts_config_map m
        join ts_token_type(c.cfgparser) t on t.tokid = m.maptokentype
        where m.mapcfg = c.oid
        group by t.tokid, t.alias
        order by t.tokid
    ) as mappings
from pg_ts_config c
join pg_namespace n on n.oid = c.cfgnamespace
join pg_ts_parser p on p.oid = c.cfgparser
join pg_namespace pn on pn.oid = p.prsnamespace
where c.oid = any ($1::bigint[]::oid[])
