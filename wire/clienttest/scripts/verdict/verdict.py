"""The verdicts of a Python client: one line a check, for the test to read."""

import asyncio
import os
import sys

HOST = os.environ["HOST"]
PORT = int(os.environ["PORT"])
USER = os.environ["USER"]
PASSWORD = os.environ["PASSWORD"]
DB = os.environ["DB"]
CLIENT = os.environ["CLIENT"]
MYSQL = os.environ["PROTOCOL"] == "mysql"
META = "meta" in os.environ["CHECKS"].split(",")

_failed = False
_loop = asyncio.new_event_loop()


def version(text):
    print("version", CLIENT, text, flush=True)


def check(what, f=None):
    """Runs a check. It may return two ids, the second larger; a text; or False for a failure.

    Without f it decorates the function to run, which may be a coroutine function.
    """
    if f is None:
        return lambda f: check(what, f)
    try:
        got = f()
        if asyncio.iscoroutine(got):
            got = _loop.run_until_complete(got)
    except Exception as e:
        return fail(what, "%s %s" % (type(e).__name__, e))
    if isinstance(got, tuple):
        a, b = got
        if not (type(a) is int and type(b) is int and 0 < a < b):
            return fail(what, "not two rising ids: %r" % (got,))
    elif got is False:
        return fail(what, "false")
    print("ok", CLIENT, what + ("" if got in (None, True) or isinstance(got, tuple) else ": %s" % got), flush=True)


def run(coroutine):
    """Waits for a coroutine on the loop on which the checks run."""
    return _loop.run_until_complete(coroutine)


def fail(what, why):
    global _failed
    _failed = True
    print("FAIL", CLIENT, what + ":", " ".join(str(why).split()), flush=True)


def done():
    sys.exit(1 if _failed else 0)
