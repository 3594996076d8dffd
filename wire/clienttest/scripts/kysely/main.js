const { Kysely, PostgresDialect, sql } = require('kysely');
const pg = require('pg');
const { check, main, meta, server } = require('../verdict/verdict');

main('kysely', async () => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ ...server, max: 2 }) }) });
  const execute = async (query, on = db) => (await query.execute(on)).rows[0].id;
  const twice = async query => [(await query.executeTakeFirst()).id, (await query.executeTakeFirst()).id];

  await check('sql', async () => [
    await execute(sql`SELECT next_id('orders') AS id`),
    await execute(sql`SELECT next_id(${'orders'}) AS id`),
  ]);
  await check('selectNoFrom, fn', () => twice(db.selectNoFrom(e => e.fn('next_id', [e.val('orders')]).as('id'))));
  await check('the table ids', () => twice(db.selectFrom('ids').select('id').where('name', '=', 'orders')));
  await check('transaction', () =>
    db
      .transaction()
      .execute(async t => [
        await execute(sql`SELECT next_id('orders') AS id`, t),
        await execute(sql`SELECT next_id('orders') AS id`, t),
      ]),
  );
  await check('stream', async () => {
    let rows = 0;
    const pool = new pg.Pool({ ...server, max: 1 });
    const streaming = new Kysely({ dialect: new PostgresDialect({ pool, cursor: require('pg-cursor') }) });
    for await (const _ of streaming
      .selectFrom(sql`next_ids('orders', 3)`.as('n'))
      .selectAll()
      .stream(1))
      rows++;
    await streaming.destroy();
    return rows === 3;
  });
  if (meta) {
    await check('meta introspection.getTables', async () => {
      const ids = (await db.introspection.getTables()).find(t => t.name === 'ids');
      return ids && ids.columns.map(c => c.name).join() === 'name,id';
    });
    await check('meta introspection.getSchemas', async () => String((await db.introspection.getSchemas()).length));
  }
  await db.destroy();
});
