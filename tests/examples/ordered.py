"""Processes the messages of an inbox with ordering, those of an account in sequence: python3 ordered.py DSN INBOX"""

import signal
import sys
import time

import psycopg

BATCH = 50  # the most accounts of a transaction: a claim has one message of each
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
    """Claims the next message of each of some accounts, works and marks in one transaction. Until it ends, nobody gets the message that follows."""
    with db.transaction():
        claim = "select event_id, aggregate_id, sequence, payload from pgtrickle.inbox_claim(%s, %s)"
        messages = db.execute(claim, (inbox, BATCH)).fetchall()
        for event_id, account, number, payload in messages:
            try:
                with db.transaction():  # a savepoint: takes back the work of a message that fails, and keeps its claim
                    handle(db, account, int(number), payload)
            except Exception as failure:  # it is tried again, and the messages behind it wait
                db.execute("select pgtrickle.inbox_mark_failed(%s, %s, %s)", (inbox, event_id, str(failure)))
            else:
                db.execute("select pgtrickle.inbox_mark_processed(%s, %s)", (inbox, event_id))
    return len(messages)


def book(db, account, number, payload):
    booked = db.execute(
        "update accounts set balance = balance + %s, version = %s where account = %s and version = %s",
        (payload["amount"], number, account, number - 1),
    )
    if booked.rowcount == 0:
        raise RuntimeError(f"account {account} is not at version {number - 1}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, ask_to_stop)
    run(sys.argv[1], sys.argv[2], book)
