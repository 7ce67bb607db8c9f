-- Removes the pg_cron job of extension shop. Run it in the database that pg_cron lives in.
select cron.unschedule('shop: run');
