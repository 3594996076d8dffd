import sqlalchemy
from sqlalchemy import MetaData, Sequence, Table, create_engine, func, inspect, select, text
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import create_async_engine

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(sqlalchemy.__version__)


def url(driver):
    return URL.create("postgresql+" + driver, USER, PASSWORD, HOST, PORT, DB)


engine = create_engine(url("psycopg2"), pool_pre_ping=True)


def one(c, query):
    got = c.execute(query)
    return got if isinstance(got, int) else got.scalar()  # a Sequence answers with its number


def two(query, on=engine, **options):
    with on.connect().execution_options(**options) as c:
        return one(c, query), one(c, query)


@check("first connect: version, schema, types")
def _():
    with engine.connect() as c:
        return str(c.dialect.server_version_info)


check("text()", lambda: two(text("SELECT next_id('orders')")))
check("bound parameter", lambda: two(text("SELECT next_id(:n)").bindparams(n="orders")))
check("select(func.next_id())", lambda: two(select(func.next_id("orders"))))
check("Sequence", lambda: two(Sequence("orders")))
check("Sequence.next_value()", lambda: two(select(Sequence("orders").next_value())))
check("Sequence with a schema", lambda: two(Sequence("orders", schema="public")))
check("func.nextval", lambda: two(select(func.nextval("orders"))))
check("AUTOCOMMIT", lambda: two(text("SELECT next_id('orders')"), isolation_level="AUTOCOMMIT"))


@check("begin() and begin_nested()")
def _():
    with engine.begin() as c:
        a = c.scalar(text("SELECT next_id('orders')"))
        with c.begin_nested():
            return a, c.scalar(text("SELECT next_id('orders')"))


@check("isolation_level of an engine")
def _():
    other = create_engine(url("psycopg2"), isolation_level="REPEATABLE READ")
    ids = two(text("SELECT next_id('orders')"), on=other)
    other.dispose()
    return ids


def rows(query):
    with engine.connect() as c:
        return len(c.execute(query).fetchall())


check("select(func.next_ids())", lambda: rows(select(func.next_ids("orders", 3))) == 3)
check("column_valued next_ids", lambda: rows(select(func.next_ids("orders", 3).column_valued("id"))) == 3)


@check("asyncpg dialect: bound parameter, Sequence, begin")
async def _():
    other = create_async_engine(url("asyncpg"))
    async with other.connect() as c:
        a = await c.scalar(text("SELECT next_id(:n)"), {"n": "orders"})
        await c.scalar(select(Sequence("orders").next_value()))
    async with other.begin() as c:
        b = await c.scalar(select(func.next_id("orders")))
    await other.dispose()
    return a, b


if META:
    found = inspect(engine)
    check("meta has_table", lambda: found.has_table("ids"))
    check("meta has_sequence", lambda: str(found.has_sequence("orders")))
    check(
        "meta schema, table and view names",
        lambda: str((found.get_schema_names(), len(found.get_table_names()), len(found.get_view_names()))),
    )
    check("meta get_columns", lambda: [c["name"] for c in found.get_columns("ids")] == ["name", "id"])
    check(
        "meta keys and indexes",
        lambda: str((found.get_pk_constraint("ids"), found.get_foreign_keys("ids"), found.get_indexes("ids"))),
    )

    @check("meta reflect ids, SELECT id WHERE name")
    def _():
        ids = Table("ids", MetaData(), autoload_with=engine)
        return two(select(ids.c.id).where(ids.c.name == "orders"))


engine.dispose()
done()
