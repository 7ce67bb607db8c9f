-- A stand-in for pg_tle, which is not packaged: functions of the same names, arguments and refusals as pg_tle 1.0 to 1.5 have them. Instead of
-- keeping scripts in functions and reading them in CREATE EXTENSION, it writes them where the server looks for files, so that they run as they
-- were handed over. Run by a superuser; the word in capitals below is the server's directory of extensions.
create schema pgtle;
create table pgtle.handed (
    name        text not null,
    from_vers   text not null, -- '' where it installs
    version     text not null,
    ext         text not null,
    primary key (name, from_vers, version)
);
create table pgtle.control (
    name            text primary key,
    default_version text not null,
    comment         text
);

create function pgtle.put(path text, body text)
    returns void
    language plpgsql
    security definer
as $put$
declare
    v_object oid := lo_from_bytea(0, convert_to(body, 'UTF8'));
begin
    perform lo_export(v_object, 'DIRECTORY/' || path);
    perform lo_unlink(v_object);
end;
$put$;

create function pgtle.put_control(p_name text)
    returns void
    language sql
    security definer
begin atomic
    select pgtle.put(c.name || '.control', format(E'default_version = %L\nrelocatable = false\nsuperuser = false\n', c.default_version))
    from pgtle.control c
    where c.name = p_name;
end;

create function pgtle.install_extension(name text, version text, description text, ext text, requires text[] default null)
    returns boolean
    language plpgsql
    security definer
as $install$
begin
    if exists (select from pgtle.control c where c.name = $1) then
        raise exception using errcode = '42710', message = format('extension "%s" already installed', name);
    end if;
    insert into pgtle.control values (name, version, description);
    insert into pgtle.handed values (name, '', version, ext);
    perform pgtle.put_control($1), pgtle.put($1 || '--' || $2 || '.sql', $4);
    -- pg_tle keeps the control file as a function, by which others see that it has the extension.
    execute format('create function pgtle.%I() returns text language sql as $control$select %L$control$', $1 || '.control', $3);
    return true;
end;
$install$;

create function pgtle.install_update_path(name text, fromvers text, tovers text, ext text)
    returns boolean
    language plpgsql
    security definer
as $path$
begin
    if exists (select from pgtle.handed h where h.name = $1 and h.from_vers = $2 and h.version = $3) then
        raise exception using errcode = '42710', message = format('extension "%s" update path "%s" already exists', name, fromvers || '--' || tovers);
    end if;
    insert into pgtle.handed values (name, fromvers, tovers, ext);
    perform pgtle.put($1 || '--' || $2 || '--' || $3 || '.sql', $4);
    return true;
end;
$path$;

create function pgtle.set_default_version(name text, version text)
    returns boolean
    language plpgsql
    security definer
as $default$
begin
    if not exists (select from pgtle.available_extension_versions() a where a.name = $1 and a.version = $2) then
        raise exception using errcode = '42704', message = 'extension and version do not exist';
    end if;
    update pgtle.control c set default_version = $2 where c.name = $1;
    perform pgtle.put_control($1);
    return true;
end;
$default$;

create function pgtle.uninstall_extension(extname text)
    returns boolean
    language plpgsql
    security definer
as $uninstall$
begin
    delete from pgtle.control c where c.name = extname;
    if not found then
        raise exception using errcode = 'P0002', message = format('Extension %s does not exist', extname);
    end if;
    delete from pgtle.handed h where h.name = extname;
    execute format('drop function pgtle.%I()', extname || '.control');
    return true;
end;
$uninstall$;

create function pgtle.available_extensions(out name name, out default_version text, out comment text)
    returns setof record
    language sql
    stable
    security definer
as 'select c.name::name, c.default_version, c.comment from pgtle.control c';

create function pgtle.available_extension_versions(out name name, out version text)
    returns setof record
    language sql
    stable
    security definer
as 'select distinct h.name::name, h.version from pgtle.handed h';

create function pgtle.extension_update_paths(name name, out source text, out target text, out path text)
    returns setof record
    language sql
    stable
    security definer
as $paths$
    select a.version, b.version, (select h.from_vers || '--' || h.version from pgtle.handed h where h.name = $1 and h.from_vers = a.version and h.version = b.version)
    from (select h.version from pgtle.handed h where h.name = $1 union select h.from_vers from pgtle.handed h where h.name = $1 and h.from_vers <> '') a,
         (select h.version from pgtle.handed h where h.name = $1 union select h.from_vers from pgtle.handed h where h.name = $1 and h.from_vers <> '') b
    where a.version <> b.version
$paths$;
grant usage on schema pgtle to public;
