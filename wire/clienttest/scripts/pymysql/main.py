import aiomysql
import mysql_dbapi
import pymysql as driver
from pymysql import cursors
from pymysql.constants import CLIENT

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(driver.__version__)
server = dict(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DB, connect_timeout=10)
c = mysql_dbapi.checks(driver, cursors, server)


@check("several statements, init_command, charset")
def _():
    other = driver.connect(
        client_flag=CLIENT.MULTI_STATEMENTS, init_command="SET sql_mode='STRICT_ALL_TABLES'", charset="utf8mb4", **server
    )
    rows = other.cursor()
    rows.execute("SELECT next_id('orders'); SELECT next_id('orders')")
    a = rows.fetchone()[0]
    rows.nextset()
    b = rows.fetchone()[0]
    other.close()
    return a, b


check("show_warnings, thread_id, server version", lambda: str((c.show_warnings(), c.get_server_info(), c.thread_id() > 0)))


@check("kill of a connection")
def _():
    other = driver.connect(**server)
    c.kill(other.thread_id())


@check("aiomysql: pool")
async def _():
    async with aiomysql.create_pool(host=HOST, port=PORT, user=USER, password=PASSWORD, db=DB, minsize=1, maxsize=2) as pool:
        ids = []
        for _ in range(2):
            async with pool.acquire() as other, other.cursor() as rows:
                await rows.execute("SELECT next_id(%s)", ("orders",))
                ids.append((await rows.fetchone())[0])
    return tuple(ids)


c.close()
done()
