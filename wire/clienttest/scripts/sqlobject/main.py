import sqlobject
from sqlobject.sqlbuilder import Field, Select

from verdict import DB, HOST, META, MYSQL, PASSWORD, PORT, USER, check, done, version

version(sqlobject.__version__.version)
scheme, options = ("mysql", "?driver=pymysql") if MYSQL else ("postgres", "?driver=psycopg2")
db = sqlobject.connectionForURI("%s://%s:%s@%s:%s/%s%s" % (scheme, USER, PASSWORD, HOST, PORT, DB, options))


def two(connection, sql):
    return tuple(connection.queryOne(sql)[0] for _ in range(2))


class OrdersId(sqlobject.SQLObject):
    class sqlmeta:
        table = "orders_id"

    _connection = db


check("queryOne", lambda: two(db, "SELECT next_id('orders')"))
check("queryAll", lambda: tuple(row[0] for row in db.queryAll("SELECT id FROM id_batch WHERE name = 'orders' AND n = 2")))
check("SQLBuilder", lambda: db.queryOne(db.sqlrepr(Select([Field("ids", "id")], where=Field("ids", "name") == "orders")))[0] > 0)


@check("transaction")
def _():
    transaction = db.transaction()
    ids = two(transaction, "SELECT nextval('orders')")
    transaction.commit(close=True)
    return ids


if META:
    check("meta tableExists", lambda: db.tableExists("ids"))
    check("meta columnsFromSchema", lambda: [c.name for c in db.columnsFromSchema("ids", OrdersId)] == ["name"])
db.close()
done()
