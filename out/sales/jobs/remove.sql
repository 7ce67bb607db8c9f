-- Removes the pg_cron job of extension sales. Run it in the database that pg_cron lives in.
select cron.unschedule('sales: run');
