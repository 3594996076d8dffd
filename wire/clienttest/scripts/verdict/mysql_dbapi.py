"""What PyMySQL and mysqlclient have in common."""

from verdict import DB, check


def checks(driver, cursors, server):
    """Checks a driver and returns its connection."""
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
        rows = c.cursor(cursors.SSCursor)
        rows.execute("SELECT id FROM next_ids('orders', 3) AS id")
        n = len(list(rows))
        rows.close()
        return n == 3

    @check("DictCursor")
    def _():
        rows = c.cursor(cursors.DictCursor)
        rows.execute("SELECT next_id('orders') AS id")
        return rows.fetchone()["id"] > 0
    return c
