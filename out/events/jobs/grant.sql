-- Lets the owner of extension events schedule its job. Run it once as superuser, with psql, in the database that pg_cron
-- lives in: psql -v owner=app -f grant.sql
grant usage on schema cron to :"owner";
grant execute on function cron.schedule_in_database(text, text, text, text, text, boolean) to :"owner";
