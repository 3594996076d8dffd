"""Logs in with the settings in CONFIG (JSON) and prints one id, or the error."""
import json
import os
import sys

# Not the name of this file.
sys.path.pop(0)
import pymysql

try:
    config = json.loads(os.environ["CONFIG"])
    config["password"] = config["password"].encode()  # PyMySQL takes text for Latin-1
    conn = pymysql.connect(autocommit=None, **config)
    with conn.cursor() as cursor:
        cursor.execute("SELECT next_id('orders')")
        print("id", cursor.fetchone()[0])
except pymysql.Error as e:
    print(e)
    sys.exit(1)
