"""Processes the messages of an inbox. Any number of workers may run side by side: python3 worker.py DSN INBOX"""

import signal
import sys
import time

import psycopg

BATCH = 20  # the most messages of a transaction
PAUSE = 0.05  # seconds between claims that find nothing

stopping = False


def ask_to_stop(*_):
    """Sets a flag. A threading.Event would not do: set() waits for a lock that the wait() which the signal interrupts may hold."""
    global stopping
    stopping = True


def run(dsn, inbox, handle):
    """Works until the process is asked to stop, and then finishes the batch at hand. Connects again where the connection is lost."""
    while not stopping:
        try:
            with psycopg.connect(dsn, autocommit=True) as db:
                while not stopping:
                    if batch(db, inbox, handle) == 0:
                        time.sleep(PAUSE)
        except psycopg.Error as failure:  # nothing of the batch was done: the messages are claimed again
            print(f"a batch was rolled back: {failure}", file=sys.stderr)
            time.sleep(1)


def batch(db, inbox, handle):
    """Claims, works and marks in one transaction. Returns the number of messages claimed."""
    with db.transaction():
        messages = db.execute("select event_id, payload from pgtrickle.inbox_claim(%s, %s)", (inbox, BATCH)).fetchall()
        for event_id, payload in messages:
            try:
                with db.transaction():  # a savepoint: takes back the work of a message that fails, and keeps its claim
                    handle(db, event_id, payload)
            except Exception as failure:
                db.execute("select pgtrickle.inbox_mark_failed(%s, %s, %s)", (inbox, event_id, str(failure)))
            else:
                db.execute("select pgtrickle.inbox_mark_processed(%s, %s)", (inbox, event_id))
    return len(messages)


def ship(db, event_id, payload):
    db.execute("insert into shipments (event_id, order_id) values (hashtext(%s), %s)", (event_id, payload["order_id"]))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, ask_to_stop)
    run(sys.argv[1], sys.argv[2], ship)
