import sqlalchemy
from sqlalchemy import MetaData, Sequence, Table, create_engine, func, inspect, select, text
from sqlalchemy.engine import URL

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(sqlalchemy.__version__)


def checks(driver):
    engine = create_engine(URL.create(driver, USER, PASSWORD, HOST, PORT, DB), pool_pre_ping=True)

    def one(c, query):
        got = c.execute(query)
        return got if isinstance(got, int) else got.scalar()  # a Sequence answers with its number

    def two(query, **options):
        with engine.connect().execution_options(**options) as c:
            return one(c, query), one(c, query)

    check(driver + " text()", lambda: two(text("SELECT next_id('orders')")))
    check(driver + " bound parameter", lambda: two(text("SELECT next_id(:n)").bindparams(n="orders")))
    check(driver + " select(func.next_id())", lambda: two(select(func.next_id("orders"))))
    check(driver + " AUTOCOMMIT", lambda: two(text("SELECT next_id('orders')"), isolation_level="AUTOCOMMIT"))
    check(driver + " READ COMMITTED", lambda: two(text("SELECT next_id('orders')"), isolation_level="READ COMMITTED"))

    @check(driver + " begin() and begin_nested()")
    def _():
        with engine.begin() as c:
            a = c.scalar(text("SELECT next_id('orders')"))
            with c.begin_nested():
                return a, c.scalar(text("SELECT next_id('orders')"))

    if driver.startswith("mariadb"):
        check(driver + " Sequence", lambda: two(Sequence("orders")))
        check(driver + " Sequence.next_value()", lambda: two(select(Sequence("orders").next_value())))
    if META:
        found = inspect(engine)
        check("meta " + driver + " has_table", lambda: found.has_table("ids"))
        check("meta " + driver + " table and view names", lambda: "ids" in found.get_view_names() and str(found.get_table_names()))
        check("meta " + driver + " get_columns", lambda: [c["name"] for c in found.get_columns("ids")] == ["name", "id"])
        check(
            "meta " + driver + " keys and indexes",
            lambda: str((found.get_pk_constraint("ids"), found.get_foreign_keys("ids"), found.get_indexes("ids"))),
        )

        @check("meta " + driver + " reflect ids, SELECT id WHERE name")
        def _():
            ids = Table("ids", MetaData(), autoload_with=engine)
            return two(select(ids.c.id).where(ids.c.name == "orders"))

    engine.dispose()


for driver in ("mysql+pymysql", "mysql+mysqldb", "mariadb+pymysql"):
    checks(driver)
done()
