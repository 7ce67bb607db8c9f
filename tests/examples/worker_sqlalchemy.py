"""Processes the messages of an inbox with SQLAlchemy: python3 worker_sqlalchemy.py DSN INBOX"""

import signal
import sys
import time

import psycopg2
from sqlalchemy import create_engine, exc, text

BATCH = 20  # the most messages of a transaction
PAUSE = 0.05  # seconds between claims that find nothing

stopping = False


def ask_to_stop(*_):
    """Sets a flag. A threading.Event would not do: set() waits for a lock that the wait() which the signal interrupts may hold."""
    global stopping
    stopping = True


def run(engine, inbox, handle):
    """Works until the process is asked to stop, and then finishes the batch at hand. The engine connects again where a connection is lost."""
    while not stopping:
        try:
            if batch(engine, inbox, handle) == 0:
                time.sleep(PAUSE)
        except exc.SQLAlchemyError as failure:  # nothing of the batch was done: the messages are claimed again
            print(f"a batch was rolled back: {failure}", file=sys.stderr)
            time.sleep(1)


def batch(engine, inbox, handle):
    """Claims, works and marks in one transaction. Returns the number of messages claimed."""
    with engine.begin() as db:
        claim = text("select event_id, payload from pgtrickle.inbox_claim(:inbox, :most)")
        messages = db.execute(claim, {"inbox": inbox, "most": BATCH}).all()
        for event_id, payload in messages:
            key = {"inbox": inbox, "id": event_id}
            try:
                with db.begin_nested():  # a savepoint: takes back the work of a message that fails, and keeps its claim
                    handle(db, event_id, payload)
            except Exception as failure:
                db.execute(text("select pgtrickle.inbox_mark_failed(:inbox, :id, :error)"), key | {"error": str(failure)})
            else:
                db.execute(text("select pgtrickle.inbox_mark_processed(:inbox, :id)"), key)
    return len(messages)


def ship(db, event_id, payload):
    db.execute(
        text("insert into shipments (event_id, order_id) values (hashtext(:event), :order)"),
        {"event": event_id, "order": payload["order_id"]},
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, ask_to_stop)
    dsn = sys.argv[1]
    run(create_engine("postgresql+psycopg2://", creator=lambda: psycopg2.connect(dsn)), sys.argv[2], ship)
