"""Logs in with the DSN in DSN and prints one id, or the error."""
import os
import sys

import psycopg

try:
    with psycopg.connect(os.environ["DSN"]) as conn:
        print("id", conn.execute("SELECT next_id('orders')").fetchone()[0])
except psycopg.Error as e:
    print(e)
    sys.exit(1)
