import io

import asyncpg

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, run, version

version(asyncpg.__version__)
server = dict(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DB, timeout=10)
c = run(asyncpg.connect(**server))


async def two(sql, *args, on=c):
    return await on.fetchval(sql, *args), await on.fetchval(sql, *args)


check("fetchval (extended, statement cache)", lambda: two("SELECT next_id('orders')"))
check("bound parameter", lambda: two("SELECT next_id($1)", "orders"))
check("nextval($1::text)", lambda: two("SELECT nextval($1::text)", "orders"))
check("nextval($1::text::regclass)", lambda: two("SELECT nextval($1::text::regclass)", "orders"))


@check("prepare: parameter text, column int8")
async def _():
    s = await c.prepare("SELECT next_id($1) AS id")
    assert [p.oid for p in s.get_parameters()] == [25], s.get_parameters()
    assert s.get_attributes()[0].type.oid == 20
    return await s.fetchval("orders"), (await s.fetchrow("orders"))["id"]


@check("transaction with a nested savepoint")
async def _():
    async with c.transaction():
        a = await c.fetchval("SELECT next_id('orders')")
        async with c.transaction():
            return a, await c.fetchval("SELECT next_id('orders')")


@check("next_ids($1,$2), 3 rows")
async def _():
    return len(await c.fetch("SELECT * FROM next_ids($1,$2)", "orders", 3)) == 3


@check("parse_id($1): bigint parameter")
async def _():
    return str(dict(await c.fetchrow("SELECT layout, worker FROM parse_id($1)", 1 << 40)))


check("execute(): simple Query, command tag", lambda: c.execute("SELECT next_id('orders')"))


@check("executemany")
async def _():
    await c.executemany("SELECT next_id($1)", [("orders",)] * 3)


@check("cursor: Execute with a row limit")
async def _():
    async with c.transaction():
        return tuple([row[0] async for row in c.cursor("SELECT * FROM next_ids('orders',2)", prefetch=1)])


@check("copy_from_query")
async def _():
    out = io.BytesIO()
    await c.copy_from_query("SELECT next_id($1)", "orders", output=out)
    return int(out.getvalue()) > 0


@check("UndefinedFunctionError")
async def _():
    try:
        await c.fetchval("SELECT no_such_function(1)")
    except asyncpg.UndefinedFunctionError:
        return True
    return False


check("reset()", lambda: c.reset())
check("settings", lambda: str((c.get_server_version(), c.get_settings().client_encoding, c.get_settings().TimeZone)))


@check("pool: reset query on release")
async def _():
    ids = []
    async with asyncpg.create_pool(min_size=1, max_size=2, **server) as pool:
        for _ in range(2):
            async with pool.acquire() as borrowed:
                ids.append(await borrowed.fetchval("SELECT next_id($1)", "orders"))
    return tuple(ids)


async def connected(**options):
    other = await asyncpg.connect(**options, **server)
    ids = await two("SELECT next_id($1)", "orders", on=other)
    await other.close()
    return ids


check("statement_cache_size=0, as behind a pooler", lambda: connected(statement_cache_size=0))
check(
    "server_settings at start-up",
    lambda: connected(server_settings={"application_name": "check", "jit": "off"}, command_timeout=5),
)

if META:

    @check("meta set_type_codec jsonb")
    async def _():
        await c.set_type_codec("jsonb", encoder=str, decoder=str, schema="pg_catalog")

    @check("meta type of a jsonb result")
    async def _():
        return str(await c.fetchval("SELECT parse_id($1)", 1 << 40))

    @check("meta introspection of a type that is not built in")
    async def _():
        return str(await c.fetchval("SELECT '{1,2}'::int8[]"))


run(c.close())
done()
