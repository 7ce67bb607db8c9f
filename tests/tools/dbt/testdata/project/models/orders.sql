{{ config(materialized='table') }}
select order_id, customer_id, amount from raw_orders
