"""Publishes events in the transaction of the change: python3 publisher.py DSN PREFIX COUNT"""

import json
import sys

import psycopg
from psycopg.types.json import Jsonb


def place_order(db, order):
    """Stores an order and publishes that it was placed: both happen or neither. Returns the event's id, or None if the order was there."""
    with db.transaction():  # within one that is open, a savepoint
        stored = db.execute(
            "insert into orders (order_id, amount) values (%s, %s) on conflict do nothing", (order["order_id"], order["amount"])
        )
        if stored.rowcount == 0:
            return None  # it was published then
        return db.execute(
            "select events.outbox_publish('shop_events', 'order.placed', %s, p_aggregate_id => %s)", (Jsonb(order), order["order_id"])
        ).fetchone()[0]


if __name__ == "__main__":
    dsn, prefix, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with psycopg.connect(dsn, autocommit=True) as db:  # each place_order is a transaction
        for n in range(count):
            try:
                place_order(db, {"order_id": f"{prefix}-{n}", "amount": n % 10})  # the table refuses an amount of 0
            except psycopg.errors.CheckViolation as refused:
                print(json.dumps({"order_id": f"{prefix}-{n}", "refused": refused.diag.constraint_name}))
