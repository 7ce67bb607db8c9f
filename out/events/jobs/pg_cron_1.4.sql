-- The background work of extension events as a pg_cron job, for pg_cron 1.4 and newer.
-- Run it with psql in the database that pg_cron lives in: psql -v database=app -f pg_cron_1.4.sql
-- (the default is that database itself). pg_cron 1.4 knows whole minutes only, so the job of each minute ticks every second.
\if :{?database}
\else
\set database :DBNAME
\endif
select cron.schedule_in_database(
    'events: run',
    '* * * * *',
    $job$call events.run('59 seconds', '1 second')$job$,
    :'database'
);
