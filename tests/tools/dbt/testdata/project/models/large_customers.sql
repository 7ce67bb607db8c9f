{{ config(
    materialized='table',
    pre_hook=before_begin("{{ sluice_dbt_shop.refresh_stream_table('order_totals') }}"),
    meta={
        'stream_table': 'order_totals',
        'outbox_enabled': true,
        'consumer_group': [{'name': 'billing', 'auto_offset_reset': 'earliest', 'max_attempts': 3}, {'name': 'audit', 'outbox': 'templates'}],
        'inbox_config': 'order_events',
    }
) }}
-- depends_on: {{ ref('orders') }}
select customer_id, total from {{ source('dbt-shop_public', 'order_totals') }} where total >= 100
