"""Keeps the newest event of each key in another database: python3 latest.py DSN TARGET_DSN GROUP CONSUMER"""

import signal
import sys
import time

import psycopg
from psycopg.types.json import Jsonb

BATCH = 200  # the most rows of a poll
LEASE = 5  # the visibility timeout, in seconds
PAUSE = 0.05  # seconds between polls that find nothing

stopping = False


def ask_to_stop(*_):
    """Sets a flag. A threading.Event would not do: set() waits for a lock that the wait() which the signal interrupts may hold."""
    global stopping
    stopping = True


def run(dsn, target_dsn, group, consumer):
    """Consumes until the process is asked to stop, and then finishes the rows at hand. Connects again where a connection is lost."""
    while not stopping:
        try:
            with psycopg.connect(dsn, autocommit=True) as source, psycopg.connect(target_dsn, autocommit=True) as target:
                while not stopping:
                    if batch(source, target, group, consumer) == 0:
                        time.sleep(PAUSE)
        except psycopg.Error as failure:  # the next poll brings the rows again, to this consumer or another one
            print(f"events are tried again: {failure}", file=sys.stderr)
            time.sleep(PAUSE)


def batch(source, target, group, consumer):
    """Stores the newest event of each key, and commits the offset after that. Returns the number of rows.

    An event that is older than what is stored changes nothing, so it does no harm if rows come again, in any order or to two consumers."""
    rows = source.execute(
        "select id, aggregate_id, payload, lease_id from events.poll_outbox(%s, %s, %s, %s)", (group, consumer, BATCH, LEASE)
    ).fetchall()
    if not rows:
        return 0
    newest = {key: (key, id, Jsonb(payload)) for id, key, payload, _ in sorted(rows, key=lambda row: row[0]) if key}
    with target.transaction():
        target.cursor().executemany(
            """
            insert into latest (key, id, payload) values (%s, %s, %s)
            on conflict (key) do update set id = excluded.id, payload = excluded.payload where excluded.id > latest.id
            """,
            [newest[key] for key in sorted(newest)],  # consumers that wait for each other's keys do so in one order
        )
    source.execute("select events.commit_offset(%s, %s, %s, %s)", (group, consumer, max(row[0] for row in rows), rows[0][3]))
    return len(rows)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, ask_to_stop)
    run(*sys.argv[1:5])
