import aiopg
import aiopg.sa
import sqlalchemy

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(aiopg.__version__)
WHERE = dict(host=HOST, port=PORT, user=USER, password=PASSWORD, dbname=DB)


@check("pool, cursor")
async def _():
    async with aiopg.create_pool(**WHERE) as pool, pool.acquire() as db, db.cursor() as cursor:
        ids = []
        for _ in range(2):
            await cursor.execute("SELECT next_id(%s)", ["orders"])
            ids.append((await cursor.fetchone())[0])
        return tuple(ids)


@check("callproc")
async def _():
    async with aiopg.connect(**WHERE) as db, db.cursor() as cursor:
        ids = []
        for _ in range(2):
            await cursor.callproc("next_id", ["orders"])
            ids.append((await cursor.fetchone())[0])
        return tuple(ids)


@check("transaction, savepoint")
async def _():
    async with aiopg.connect(**WHERE) as db, db.cursor() as cursor, cursor.begin(), cursor.begin_nested():
        await cursor.execute("SELECT next_ids('orders', 2)")
        return tuple(row[0] for row in await cursor.fetchall())


@check("SQLAlchemy's expressions")
async def _():
    async with aiopg.sa.create_engine(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DB) as engine, engine.acquire() as db:
        return tuple([await db.scalar(sqlalchemy.select([sqlalchemy.func.next_id("orders")])) for _ in range(2)])


done()
