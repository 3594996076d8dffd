import mysql_dbapi
import MySQLdb as driver
from MySQLdb import cursors

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(driver.__version__)
server = dict(host=HOST, port=PORT, user=USER, passwd=PASSWORD, db=DB, connect_timeout=10)
c = mysql_dbapi.checks(driver, cursors, server)
check("stat, thread_id", lambda: "Uptime" in c.stat() and c.thread_id() > 0)
c.close()
done()
