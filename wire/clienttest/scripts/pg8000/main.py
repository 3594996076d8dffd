import pg8000

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(pg8000.__version__.split("+")[0])
c = pg8000.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DB)
cur = c.cursor()


def one(sql, args=()):
    cur.execute(sql, args)
    return cur.fetchone()[0]


def two(sql, args=()):
    return one(sql, args), one(sql, args)


check("plain, after BEGIN", lambda: two("SELECT next_id('orders')"))
check("bound parameter", lambda: two("SELECT next_id(%s)", ("orders",)))
check("commit", c.commit)
check("nextval(%s::text)", lambda: two("SELECT nextval(%s::text)", ("orders",)))
check("rollback", c.rollback)
c.autocommit = True
check("autocommit", lambda: two("SELECT next_id(%s)", ("orders",)))


@check("next_ids, int parameter")
def _():
    cur.execute("SELECT * FROM next_ids(%s,%s)", ("orders", 3))
    return len(cur.fetchall()) == 3


@check("executemany")
def _():
    cur.executemany("SELECT next_id(%s)", [("orders",)] * 3)


c.close()
done()
