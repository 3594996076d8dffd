const mysql = require('mysql2/promise');
const { check, main, server } = require('../verdict/verdict');

const NEXT = "SELECT next_id('orders') AS id";
const BOUND = 'SELECT next_id(?) AS id';

main('mysql2', async () => {
  const config = { ...server, supportBigNumbers: true, bigNumberStrings: true };
  const c = await mysql.createConnection(config);
  const query = async (sql, values, on = c) => (await on.query(sql, values))[0][0].id;
  const execute = async (sql, values, on = c) => (await on.execute(sql, values))[0][0].id;

  await check('query', async () => [await query(NEXT), await query(NEXT)]);
  await check('a column without an alias, and its type', async () => {
    const [rows, fields] = await c.query("SELECT next_id('orders')");
    return fields[0].columnType === 8 && Object.keys(rows[0])[0] === "next_id('orders')";
  });
  await check('query with ?, put in by the client', async () => [await query(BOUND, ['orders']), await query(BOUND, ['orders'])]);
  await check('execute with ?, prepared', async () => [await execute(BOUND, ['orders']), await execute(BOUND, ['orders'])]);
  await check('execute without parameters', async () => [await execute(NEXT), await execute(NEXT)]);
  await check('prepare, execute, close', async () => {
    const statement = await c.prepare('SELECT next_id(?)  AS id');
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push((await statement.execute(['orders']))[0][0].id);
    await statement.close();
    return ids;
  });
  await check('beginTransaction, commit, rollback', async () => {
    await c.beginTransaction();
    const ids = [await query(NEXT), await execute(BOUND, ['orders'])];
    await c.commit();
    await c.beginTransaction();
    await c.rollback();
    return ids;
  });
  await check('ping', async () => void (await c.ping()));
  await check('changeUser', async () => {
    await c.changeUser({ user: server.user, password: server.password, database: server.database });
    return [await query(NEXT), await query(NEXT)];
  });
  await check('reset', async () => void (await c.reset()));
  await check('error 1064', async () => {
    try {
      await c.query('SELEC 1');
      return false;
    } catch (e) {
      return e.errno === 1064;
    }
  });
  await c.end();

  // on opens a connection for a check of its own.
  const on = async (options, f) => {
    const other = await mysql.createConnection({ ...config, ...options });
    try {
      return await f(other);
    } finally {
      await other.end();
    }
  };
  await check('multipleStatements', () =>
    on({ multipleStatements: true }, async d => (await d.query(`${NEXT}; ${NEXT}`))[0].map(rows => rows[0].id)),
  );
  await check('charset, timezone', () =>
    on({ charset: 'utf8mb4_unicode_ci', timezone: 'Z' }, async d => [await query(NEXT, [], d), await query(NEXT, [], d)]),
  );
  await check('numbers without the options lose digits, and say so by their type', () =>
    on({ supportBigNumbers: false, bigNumberStrings: false }, async d => typeof (await query(NEXT, [], d)) === 'number'),
  );
  await check('generators with the layout js fit into a number', () =>
    on({ supportBigNumbers: true, bigNumberStrings: false }, async d => {
      await d.query(`SELECT create_generator('clients_js', 'snowflake', '{"layout": "js"}')`).catch(() => {});
      const id = await query("SELECT next_id('clients_js') AS id", [], d);
      return typeof id === 'number' && Number.isSafeInteger(id);
    }),
  );
  await check('pool', async () => {
    const pool = mysql.createPool({ ...config, connectionLimit: 2 });
    const ids = [await execute(BOUND, ['orders'], pool), await execute(BOUND, ['orders'], pool)];
    await pool.end();
    return ids;
  });
});
