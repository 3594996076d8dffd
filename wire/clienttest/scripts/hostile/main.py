"""Hostile values through a Python driver that puts them into the text: SETTINGS × values.

One line a value: what came back, in hexadecimal, and how many rows of three it chose.
"""

import importlib
import os
import sys
from urllib.parse import unquote

driver = importlib.import_module(sys.argv[1])
mysql = os.environ["PROTOCOL"] == "mysql"
server = dict(host=os.environ["HOST"], port=int(os.environ["PORT"]), user=os.environ["USER"], password=os.environ["PASSWORD"])
c = driver.connect(**server, charset="utf8mb4") if mysql else driver.connect(**server, dbname=os.environ["DB"])
c.autocommit(True) if mysql else setattr(c, "autocommit", True)
values = [unquote(line) for line in open("values").read().splitlines()]


def rows(sql, args=None):
    cur = c.cursor()
    cur.execute(sql, args)
    return cur.fetchall()


for i, setting in enumerate(open("settings-" + os.environ["PROTOCOL"]).read().splitlines()):
    try:
        c.cursor().execute(setting)
    except driver.Error as e:
        print(i, "refused:", setting, "" if mysql else e.pgcode)
        continue
    for j, value in enumerate(values):
        try:
            echo = rows("SELECT %s", (value,))[0][0]
            count = rows("SELECT count(*) FROM (SELECT 'a' AS name UNION SELECT 'b' UNION SELECT 'plain') AS t WHERE name = %s", (value,))
            print(i, j, str(echo).encode("utf8", "replace").hex(), count[0][0], flush=True)
        except (driver.Error, UnicodeError) as e:
            print(i, j, "error", flush=True)
