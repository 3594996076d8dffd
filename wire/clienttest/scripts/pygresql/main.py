import pg
import pgdb

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(pg.version)
db = pg.DB(dbname=DB, host=HOST, port=PORT, user=USER, passwd=PASSWORD)


def twice(f):
    return f(), f()


check("query", lambda: twice(lambda: db.query("SELECT next_id('orders')").single()[0]))
check("query with $1", lambda: twice(lambda: db.query("SELECT next_id($1)", "orders").single()[0]))
check("query_formatted", lambda: twice(lambda: db.query_formatted("SELECT next_id(%s)", ["orders"]).single()[0]))


@check("prepare, query_prepared")
def _():
    db.prepare("next", "SELECT next_id($1)")
    return twice(lambda: db.query_prepared("next", "orders").single()[0])


@check("transaction")
def _():
    with db:
        return twice(lambda: db.query("SELECT next_id('orders')").single()[0])


@check("DB-API: pgdb")
def _():
    c = pgdb.connect(dbname=DB, host="%s:%d" % (HOST, PORT), user=USER, password=PASSWORD)
    cursor = c.cursor()
    ids = twice(lambda: cursor.execute("SELECT next_id(%s)", ("orders",)).fetchone()[0])
    c.commit()
    c.close()
    return ids


if META:
    check("meta get_tables", lambda: isinstance(db.get_tables(), list))
    check("meta get_relations", lambda: "public.ids" in db.get_relations("v"))
    check("meta get_attnames", lambda: list(db.get_attnames("ids")) == ["name", "id"])
    check("meta get_databases", lambda: DB in db.get_databases())
    check("meta types of a cast", lambda: str(db.query("SELECT parse_id(1::bigint << 40)").single()[0]))
db.close()
done()
