-- Removes the pg_cron job of extension events. Run it in the database that pg_cron lives in.
select cron.unschedule('events: run');
