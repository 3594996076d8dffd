import storm
from storm.expr import Func, Select
from storm.locals import Int, Unicode, create_database, Store

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(storm.version)
store = Store(create_database("postgres://%s:%s@%s:%d/%s" % (USER, PASSWORD, HOST, PORT, DB)))


class Ids(object):
    __storm_table__ = "ids"
    name = Unicode(primary=True)
    id = Int()


def drawn():
    store.invalidate()
    return store.find(Ids, Ids.name == "orders").one().id


check("execute", lambda: tuple(store.execute("SELECT next_id(?)", ("orders",)).get_one()[0] for _ in range(2)))
check("model over the table ids", lambda: (drawn(), drawn()))
check("expression", lambda: tuple(store.execute(Select(Func("next_id", "orders"))).get_one()[0] for _ in range(2)))


@check("commit and rollback")
def _():
    a = drawn()
    store.rollback()
    b = drawn()
    store.commit()
    return a, b


done()
