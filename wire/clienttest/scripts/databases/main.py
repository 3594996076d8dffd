import databases

from verdict import DB, HOST, MYSQL, PASSWORD, PORT, USER, check, done, version

version(databases.__version__)
NEXT = "SELECT next_id(:name)"
BATCH = "SELECT id FROM id_batch WHERE name = 'orders' AND n = 5"

for scheme in ["mysql+aiomysql"] if MYSQL else ["postgresql+asyncpg", "postgresql+aiopg"]:
    address = "%s://%s:%s@%s:%s/%s" % (scheme, USER, PASSWORD, HOST, PORT, DB)

    @check(scheme + " fetch_val")
    async def _():
        async with databases.Database(address) as db:
            return tuple([await db.fetch_val(NEXT, {"name": "orders"}) for _ in range(2)])

    @check(scheme + " nested transaction")
    async def _():
        async with databases.Database(address) as db, db.transaction():
            first = await db.fetch_val(NEXT, {"name": "orders"})
            async with db.transaction():
                return first, await db.fetch_val(NEXT, {"name": "orders"})

    @check(scheme + " iterate")
    async def _():
        async with databases.Database(address) as db:
            return len([row async for row in db.iterate(BATCH)]) == 5


done()
