-- The background work of extension events as a pg_cron job, for pg_cron 1.5 and newer.
-- Run it with psql in the database that pg_cron lives in: psql -v database=app -f pg_cron_1.5.sql
-- (the default is that database itself).
\if :{?database}
\else
\set database :DBNAME
\endif
select cron.schedule_in_database(
    'events: run',
    '1 seconds',
    $job$call events.tick()$job$,
    :'database'
);
