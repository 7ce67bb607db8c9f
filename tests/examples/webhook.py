"""Receives signed webhooks into an inbox: WEBHOOK_SECRET=whsec_… python3 webhook.py DSN INBOX PORT"""

import base64
import hashlib
import hmac
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

LARGEST = 1 << 20  # bytes of a body
TOLERANCE = 300  # seconds between the sender's clock and ours


def is_signed(secret, headers, body):
    """Tells whether a request is signed as Standard Webhooks has it, and not a recording of an old one."""
    id, timestamp, signatures = (headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not id or not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    right = base64.b64encode(hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest())
    given = [text.removeprefix("v1,").encode() for text in signatures.split()]
    return any(hmac.compare_digest(right, one) for one in given)  # in constant time


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds for which a sender may be silent

    def do_POST(self):
        self.close_connection = True
        self.send_response(self.receive())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self):
        """Returns the status: a sender repeats what is not answered with 2xx, and may repeat what is, so the inbox drops duplicates."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            return 413
        body = self.rfile.read(int(length))
        if not is_signed(os.environ["WEBHOOK_SECRET"], self.headers, body):
            return 401
        try:
            event = json.loads(body)
            row = (self.server.inbox, self.headers["webhook-id"], str(event["type"]), body.decode())
        except (ValueError, KeyError, TypeError):
            return 400
        try:
            with psycopg.connect(self.server.dsn) as db:  # a pool, if there are many requests
                db.execute("select pgtrickle.inbox_receive(%s, %s, %s, %s::jsonb)", row)
        except psycopg.errors.DataError:  # such as a null character
            return 400
        except psycopg.Error as failure:
            print(f"not received: {failure}", file=sys.stderr)
            return 503
        return 204  # only now: the message is committed

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Receiver)
    server.dsn, server.inbox = sys.argv[1:3]
    server.daemon_threads = False  # requests at hand are finished
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    server.server_close()
