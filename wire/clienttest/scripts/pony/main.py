import pony
from pony.orm import Database, PrimaryKey, Required, db_session, select

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(pony.__version__)
db = Database()


class Ids(db.Entity):
    _table_ = "ids"
    name = PrimaryKey(str)
    id = Required(int, size=64)


db.bind("postgres", host=HOST, port=PORT, user=USER, password=PASSWORD, database=DB)
check("generate_mapping, tables checked", lambda: db.generate_mapping(check_tables=True))


def twice(f):
    ids = []
    for _ in range(2):
        with db_session:
            ids.append(f())
    return tuple(ids)


check("select", lambda: twice(lambda: db.select("next_id('orders')")[0]))
check("select with $name", lambda: twice(lambda: db.select("SELECT next_id($name)", {"name": "orders"})[0]))
check("entity over the table ids", lambda: twice(lambda: Ids["orders"].id))
check("query", lambda: twice(lambda: select(i.id for i in Ids if i.name == "orders").first()))
db.disconnect()
done()
