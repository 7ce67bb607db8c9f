"""One consumer of a group. Its name is its own, and stays over restarts: python3 relay.py DSN GROUP CONSUMER"""

import signal
import sys
import time

import psycopg

BATCH = 20  # the most rows of a poll
LEASE = 5  # the visibility timeout, in seconds
ATTEMPTS = 3  # an event that fails so often becomes a dead letter
PAUSE = 0.05  # seconds between polls that find nothing

stopping = False


def ask_to_stop(*_):
    """Sets a flag. A threading.Event would not do: set() waits for a lock that the wait() which the signal interrupts may hold."""
    global stopping
    stopping = True


def run(dsn, group, consumer, handle):
    """Consumes until the process is asked to stop, and then finishes the rows at hand. Connects again where the connection is lost."""
    while not stopping:
        try:
            with psycopg.connect(dsn, autocommit=True) as db:
                while not stopping:
                    if batch(db, group, consumer, handle) == 0:
                        time.sleep(PAUSE)
        except Exception as failure:  # the next poll brings the rows again
            print(f"events are tried again: {failure}", file=sys.stderr)
            time.sleep(PAUSE)


def batch(db, group, consumer, handle):
    """Polls, which commits by itself, and then works and commits the offset in one transaction. Returns the number of rows."""
    rows = db.execute(
        "select id, payload, attempts, lease_id from events.poll_outbox(%s, %s, %s, %s)", (group, consumer, BATCH, LEASE)
    ).fetchall()
    if not rows:
        return 0
    with db.transaction():
        for id, payload, attempts, lease_id in rows:
            try:
                with db.transaction():  # a savepoint: an event that fails takes back nothing but its own work
                    handle(db, id, payload)
            except Exception as failure:
                if attempts < ATTEMPTS:
                    raise
                db.execute("select events.reject_rows(%s, %s, array[%s::bigint], %s, %s)", (group, consumer, id, str(failure), lease_id))
        # If the rows went to another consumer, this fails, and the work is rolled back.
        db.execute("select events.commit_offset(%s, %s, %s, %s)", (group, consumer, rows[-1][0], lease_id))
    return len(rows)


def ship(db, id, payload):
    db.execute("insert into shipments (event_id, order_id) values (%s, %s)", (id, payload["order_id"]))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, ask_to_stop)
    run(*sys.argv[1:4], ship)
