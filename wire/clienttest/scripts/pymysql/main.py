import aiomysql
import pymysql as driver
from pymysql.constants import CLIENT
from pymysql.cursors import DictCursor, SSCursor

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(driver.__version__)
server = dict(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DB, connect_timeout=10)
c = driver.connect(**server)
cur = c.cursor()


def one(sql, args=None):
    cur.execute(sql, args)
    return cur.fetchone()[0]


def two(sql, args=None):
    return one(sql, args), one(sql, args)


check("plain", lambda: two("SELECT next_id('orders')"))
check("parameter, put in by the client", lambda: two("SELECT next_id(%s)", ("orders",)))
check("commit", c.commit)
check("rollback", c.rollback)


@check("begin, commit")
def _():
    c.begin()
    ids = two("SELECT next_id('orders')")
    c.commit()
    return ids


check("autocommit", lambda: c.autocommit(True))
check("ping", lambda: c.ping())
check("executemany", lambda: cur.executemany("DO next_id(%s)", [("orders",)] * 2) is not False)
check("select_db", lambda: c.select_db(DB))


@check("description: LONGLONG")
def _():
    one("SELECT next_id('orders') AS id")
    return cur.description[0][:2] == ("id", 8)


@check("lastrowid of DO")
def _():
    ids = []
    for _ in range(2):
        cur.execute("DO next_id('orders')")
        ids.append(cur.lastrowid)
    return tuple(ids)


@check("ProgrammingError 1064")
def _():
    try:
        cur.execute("SELEC 1")
    except driver.ProgrammingError as e:
        return e.args[0] == 1064
    return False


@check("SSCursor, which reads row by row")
def _():
    rows = c.cursor(SSCursor)
    rows.execute("SELECT id FROM next_ids('orders', 3) AS id")
    n = len(list(rows))
    rows.close()
    return n == 3


@check("DictCursor")
def _():
    rows = c.cursor(DictCursor)
    rows.execute("SELECT next_id('orders') AS id")
    return rows.fetchone()["id"] > 0


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
