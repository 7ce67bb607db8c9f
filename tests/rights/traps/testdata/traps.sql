-- Operators and functions of exact types, where PostgreSQL has them for other or polymorphic types only: in a path with public, they fit better. Each is
-- logged when it is called, and fails.
do $traps$
declare
    v_types text[] := array['text', 'varchar', 'name', 'bigint', 'integer', 'smallint', 'timestamptz', 'interval', 'boolean', 'jsonb', 'uuid', 'numeric',
        'oid', 'regclass', 'text[]', 'bigint[]', 'int8range', 'int8multirange', 'xid', 'xid8', 'pg_snapshot', 'double precision'];
    v_left     text;
    v_right    text;
    v_name     text;
    v_args     text;
    v_made     integer := 0;
begin
    foreach v_left in array v_types loop
        foreach v_right in array v_types loop
            execute pg_catalog.format($sql$create function public.trap(a %1$s, b %2$s) returns boolean language plpgsql immutable as
                $$begin raise log 'TRAP operator (%1$s, %2$s)'; raise exception 'TRAP operator (%1$s, %2$s)'; end$$ $sql$, v_left, v_right);
            foreach v_name in array array['=', '<>', '<', '>', '<=', '>=', '||', '+', '-', '*', '/', '->', '->>', '@>', '<@', '&&', '~', '?'] loop
                if not exists (
                    select from pg_catalog.pg_operator o where o.oprname = v_name and o.oprleft = v_left::regtype and o.oprright = v_right::regtype
                ) then
                    execute pg_catalog.format('create operator public.%s (leftarg = %s, rightarg = %s, function = public.trap)', v_name, v_left, v_right);
                    v_made := v_made + 1;
                end if;
            end loop;
        end loop;
    end loop;
    foreach v_name in array array['format', 'concat', 'quote_literal', 'quote_ident', 'to_jsonb', 'jsonb_build_object', 'count', 'max', 'min', 'sum',
        'array_agg', 'unnest', 'length', 'lower', 'upper', 'abs', 'floor', 'round', 'cardinality', 'array_length', 'string_agg', 'to_regclass',
        'jsonb_array_elements', 'left', 'right', 'md5', 'hashtext', 'pg_sleep', 'date_trunc', 'make_interval', 'to_char', 'strpos', 'split_part',
        'regexp_replace', 'range_agg', 'lower_inc', 'isempty', 'array_append', 'array_cat', 'pg_notify', 'pg_advisory_xact_lock',
        'pg_try_advisory_xact_lock', 'set_config', 'current_setting', 'substr', 'starts_with', 'hashtextextended', 'array_remove', 'array_position', 'mod',
        'power', 'ceil', 'age', 'pg_snapshot_xmin', 'pg_visible_in_snapshot', 'generate_series', 'jsonb_typeof', 'greatest', 'to_regproc'] loop
        foreach v_args in array array['text', 'varchar', 'name', 'bigint', 'integer', 'smallint', 'jsonb', 'timestamptz', 'text[]', 'bigint[]', 'text, text',
            'text, bigint', 'text, integer', 'text, name', 'name, text', 'integer, text', 'bigint, bigint', 'text, jsonb', 'bigint, integer',
            'int8multirange', 'text, text, text', 'text, text, boolean', 'text, varchar', 'smallint, integer', 'integer, smallint', 'integer, integer'] loop
            execute pg_catalog.format($sql$create function public.%1$I(%2$s) returns %3$s language plpgsql immutable as
                $$begin raise log 'TRAP function %1$s(%2$s)'; raise exception 'TRAP function %1$s(%2$s)'; end$$ $sql$,
                v_name, v_args, pg_catalog.split_part(v_args, ',', 1));
            v_made := v_made + 1;
        end loop;
    end loop;
    if v_made < 9000 then
        raise exception 'only % traps', v_made;
    end if;
end;
$traps$;
