const { check, main, mysql, server } = require('../verdict/verdict');

main('knex', async () => {
  const connection = mysql
    ? { ...server, supportBigNumbers: true, bigNumberStrings: true, multipleStatements: true }
    : server;
  const knex = require('knex')({ client: mysql ? 'mysql2' : 'pg', connection, pool: { min: 0, max: 2 } });
  const raw = async (sql, bindings, on = knex) => {
    const got = await on.raw(sql, bindings);
    return (mysql ? got[0] : got.rows)[0].id;
  };

  await check('raw', async () => [
    await raw("SELECT next_id('orders') AS id"),
    await raw("SELECT next_id('orders') AS id"),
  ]);
  await check('raw with bindings', async () => [
    await raw('SELECT next_id(?) AS id', ['orders']),
    await raw('SELECT next_id(:name) AS id', { name: 'orders' }),
  ]);
  await check('select(knex.raw())', async () => [
    (await knex.select(knex.raw("next_id('orders') as id")))[0].id,
    (await knex.first(knex.raw('next_id(?) as id', ['orders']))).id,
  ]);
  await check('the table ids', async () => [
    (await knex('ids').select('id').where({ name: 'orders' }))[0].id,
    (await knex('ids').where('name', 'orders').first('id')).id,
  ]);
  await check('transaction, nested', () =>
    knex.transaction(async t => [
      await raw("SELECT next_id('orders') AS id", [], t),
      await t.transaction(u => raw("SELECT next_id('orders') AS id", [], u)),
    ]),
  );
  await check('several statements in one raw', async () => {
    const results = await knex.raw("SELECT next_id('orders') AS id; SELECT next_id('orders') AS id");
    return mysql ? results[0].map(rows => rows[0].id) : results.map(r => r.rows[0].id);
  });
  await check('stream', async () => {
    let rows = 0;
    for await (const _ of knex.select('*').fromRaw("next_ids('orders', 3) AS id").stream()) rows++;
    return rows === 3;
  });
  await knex.destroy();
});
