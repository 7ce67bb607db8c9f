-- Functions and aggregates that tables and views need, and that need tables and views.
create schema lib;
create table lib.rates (code text primary key, rate numeric not null);
create type lib.money_in as (amount numeric, code text);
create function lib.rate(code text) returns numeric language sql stable begin atomic; select r.rate from lib.rates r where r.code = rate.code; end;
create function lib.convert(m lib.money_in) returns numeric language sql stable return m.amount * lib.rate(m.code);
create function lib.add(state numeric, value numeric, variadic more integer[] default '{}') returns numeric language plpgsql immutable strict parallel safe cost 7 as $body$
begin
    return state + value;  -- 'quoted' and $$dollars$$
end
$body$;
create function lib.plus(state numeric, value numeric) returns numeric language sql immutable as 'select state + coalesce(value, 0)';
create function lib.done(state numeric) returns text language sql immutable as 'select state::text';
create aggregate lib.total (numeric) (sfunc = lib.plus, stype = numeric, finalfunc = lib.done, initcond = '0', combinefunc = lib.plus, parallel = safe,
    msfunc = lib.plus, minvfunc = lib.plus, mstype = numeric, mfinalfunc = lib.done, minitcond = '0');
create aggregate lib.middle (double precision order by double precision) (sfunc = ordered_set_transition, stype = internal, finalfunc = percentile_disc_final, finalfunc_extra);
create aggregate lib.count_all (*) (sfunc = int8inc, stype = int8, initcond = '0');
create function lib.squares(upto integer, out n integer, out square integer) returns setof record language sql immutable rows 7 set search_path to 'lib', 'public'
    as 'select g, g * g from generate_series(1, upto) g';
create function lib.tabled() returns table (a text, b integer[]) language sql as $$select 'x', array[1]$$;
create view lib.totals as
    select r.code, lib.total(r.rate) as total, lib.middle(0.5) within group (order by r.rate::float8) as middle, lib.count_all(*) as n,
        lib.convert(row(1, r.code)::lib.money_in) as one
    from lib.rates r join lib.squares(3) s on true group by r.code;
create view lib.tables as select t.a, lib.add(1, 2, 3) as added from lib.tabled() t;
create table uses (x numeric default lib.plus(1, 2), y text generated always as (lib.done(x)) stored);
