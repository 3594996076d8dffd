const { promisify } = require('node:util');
const mysql = require('mysql');
const { check, main, server } = require('../verdict/verdict');

main('mysql', async () => {
  const config = { ...server, supportBigNumbers: true, bigNumberStrings: true };
  const c = mysql.createConnection(config);
  const call = (name, ...args) => promisify(c[name]).call(c, ...args);
  const id = async (sql, values) => (await call('query', sql, values))[0].id;
  await call('connect');

  await check('query', async () => [await id("SELECT next_id('orders') AS id"), await id("SELECT next_id('orders') AS id")]);
  await check('?, put in by the client', async () => [
    await id('SELECT next_id(?) AS id', ['orders']),
    await id('SELECT next_id(?) AS id', ['orders']),
  ]);
  await check('beginTransaction, commit, rollback', async () => {
    await call('beginTransaction');
    const ids = [await id("SELECT next_id('orders') AS id"), await id("SELECT next_id('orders') AS id")];
    await call('commit');
    await call('rollback');
    return ids;
  });
  await check('ping', async () => void (await call('ping')));
  await check('statistics', async () => void (await call('statistics')));
  await check('changeUser', async () => void (await call('changeUser', { user: server.user, password: server.password })));
  await check('insertId of DO', async () => (await call('query', "DO next_id('orders')")).insertId > 0);
  await check('stream', () =>
    new Promise((resolve, reject) => {
      let rows = 0;
      const query = c.query("SELECT id FROM next_ids('orders', 3) AS id");
      query.on('result', () => rows++);
      query.on('error', reject).on('end', () => resolve(rows === 3));
    }),
  );
  await call('end');
  await check('pool', async () => {
    const pool = mysql.createPool({ ...config, connectionLimit: 2 });
    const query = promisify(pool.query).bind(pool);
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push((await query('SELECT next_id(?) AS id', ['orders']))[0].id);
    await promisify(pool.end).call(pool);
    return ids;
  });
});
