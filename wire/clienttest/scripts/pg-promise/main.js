const pgp = require('pg-promise')();
const { check, main, server } = require('../verdict/verdict');

main('pg-promise', async () => {
  const db = pgp({ ...server, max: 2 });
  const id = async (sql, params, on = db) => (await on.one(sql, params)).id;

  await check('one', async () => [
    await id("SELECT next_id('orders') AS id"),
    await id('SELECT next_id($1) AS id', ['orders']),
  ]);
  await check('func', async () => {
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push((await db.func('next_id', ['orders']))[0].next_id);
    return ids;
  });
  await check('tx, nested', () =>
    db.tx(async t => [
      await id("SELECT next_id('orders') AS id", [], t),
      await t.tx(u => id("SELECT next_id('orders') AS id", [], u)),
    ]),
  );
  await check('multi', async () => {
    const results = await db.multi("SELECT next_id('orders') AS id; SELECT next_id('orders') AS id");
    return results.map(rows => rows[0].id);
  });
  await check('PreparedStatement', async () => {
    const query = new pgp.PreparedStatement({ name: 'p1', text: 'SELECT next_id($1) AS id', values: ['orders'] });
    return [await id(query), await id(query)];
  });
  await db.$pool.end();
});
