"""Runs dbt commands, given as JSON lists on standard input, one after the other: loading dbt takes longer than most of them."""
import json
import sys

from dbt.cli.main import dbtRunner

for line in sys.stdin:
    result = dbtRunner().invoke(json.loads(line))
    if result.exception is not None:
        print(result.exception)
    print("status", 0 if result.success else 1, flush=True)
