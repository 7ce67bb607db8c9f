-- What one message does to the shop, and what the shop tells others of it: $1 event id, $2 event type, $3 payload, $4 worker.
--
-- Messages of an order may come in any order: whichever is first makes the order's row, and a status only moves forward.
with message as (
    select $1::text as event_id,
           $2::text as event_type,
           p.payload->>'order_id' as order_id,
           (p.payload->>'customer_id')::bigint as customer_id,
           (p.payload->>'amount')::numeric as amount,
           p.payload->>'payment_id' as payment_id,
           case when $2 in ('order.paid', 'order.shipped', 'order.cancelled') then substr($2, 7) else 'new' end as status
    from (select $3::jsonb as payload) p
),
ordered as (
    insert into orders as o (order_id, customer_id, status, amount)
    select m.order_id, m.customer_id, m.status, m.amount
    from message m
    on conflict (order_id) do update
        set status = excluded.status
        where array_position('{new,paid,shipped,cancelled}', excluded.status) > array_position('{new,paid,shipped,cancelled}', o.status)
),
captured as (
    insert into captured_payments (payment_id, order_id, amount)
    select m.payment_id, m.order_id, m.amount
    from message m
    where m.event_type = 'payment.captured'
),
booked as (
    insert into ledger (event_id, event_type, order_id, amount, worker)
    select m.event_id, m.event_type, m.order_id, m.amount, $4
    from message m
    returning event_id, event_type, order_id, amount
)
select events.outbox_publish('shop_events', b.event_type, jsonb_build_object('event_id', b.event_id, 'amount', b.amount), b.order_id)
from booked b
