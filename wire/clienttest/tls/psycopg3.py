"""Logs in with each DSN on standard input and prints one line for it: an id, or the error."""
import sys

import psycopg

for dsn in sys.stdin:
    try:
        with psycopg.connect(dsn) as conn:
            print("id", conn.execute("SELECT next_id('orders')").fetchone()[0])
    except psycopg.Error as e:
        print(str(e).replace("\n", " "))
