const { Kysely, MysqlDialect, PostgresDialect, sql } = require('kysely');
const { check, main, meta, mysql, server } = require('../verdict/verdict');

const dialect = mysql
  ? new MysqlDialect({
      pool: require('mysql2').createPool({ ...server, connectionLimit: 2, supportBigNumbers: true, bigNumberStrings: true }),
    })
  : new PostgresDialect({ pool: new (require('pg').Pool)({ ...server, max: 2 }), cursor: require('pg-cursor') });

main('kysely', async () => {
  const db = new Kysely({ dialect });
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
    for await (const _ of db
      .selectFrom(sql`next_ids('orders', 3)`.as('id'))
      .selectAll()
      .stream(1))
      rows++;
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
