import peewee

from verdict import DB, HOST, META, MYSQL, PASSWORD, PORT, USER, check, done, version

version(peewee.__version__)
database = peewee.MySQLDatabase if MYSQL else peewee.PostgresqlDatabase
db = database(DB, host=HOST, port=PORT, user=USER, password=PASSWORD)


class Ids(peewee.Model):
    name = peewee.TextField(primary_key=True)
    id = peewee.BigIntegerField()

    class Meta:
        database = db
        table_name = "ids"


def two(sql, args=None):
    return tuple(db.execute_sql(sql, args).fetchone()[0] for _ in range(2))


check("execute_sql", lambda: two("SELECT next_id('orders')"))
check("bound parameter", lambda: two("SELECT next_id(%s)", ("orders",)))
check("model over the table ids", lambda: tuple(Ids.get(Ids.name == "orders").id for _ in range(2)))
check("fn.next_id", lambda: tuple(db.execute(peewee.Select(columns=[peewee.fn.next_id("orders")])).fetchone()[0] for _ in range(2)))


@check("atomic, nested")
def _():
    with db.atomic():
        a, _ = two("SELECT next_id('orders')")
        with db.atomic():
            return a, two("SELECT next_id('orders')")[1]


if not MYSQL:

    @check("server-side cursor")
    def _():
        from playhouse.postgres_ext import PostgresqlExtDatabase, ServerSide

        other = PostgresqlExtDatabase(DB, host=HOST, port=PORT, user=USER, password=PASSWORD, register_hstore=False)
        with Ids.bind_ctx(other):
            return len(list(ServerSide(Ids.select().where(Ids.name == "orders")))) == 1


if META:
    check("meta get_tables, get_views", lambda: "ids" in [v.name for v in db.get_views()] and str(len(db.get_tables())))
    check("meta get_columns", lambda: [c.name for c in db.get_columns("ids")] == ["name", "id"])
    check("meta get_indexes, get_primary_keys", lambda: str((db.get_indexes("ids"), db.get_primary_keys("ids"))))
    if not MYSQL:
        check("meta sequence_exists", lambda: str(db.sequence_exists("orders")))

db.close()
done()
