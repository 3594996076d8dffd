const mariadb = require('mariadb');
const { check, main, server } = require('../verdict/verdict');

const NEXT = "SELECT next_id('orders') AS id";
const BOUND = 'SELECT next_id(?) AS id';

main('mariadb', async () => {
  const config = { ...server, bigIntAsNumber: false };
  const c = await mariadb.createConnection(config);
  const query = async (sql, values) => (await c.query(sql, values))[0].id;
  const execute = async (sql, values) => (await c.execute(sql, values))[0].id;

  await check('query, BigInt', async () => {
    const ids = [await query(NEXT), await query(NEXT)];
    return typeof ids[0] === 'bigint' && ids;
  });
  await check('query with ?, put in by the client', async () => [await query(BOUND, ['orders']), await query(BOUND, ['orders'])]);
  await check('execute: PREPARE and EXECUTE in one go', async () => [
    await execute(BOUND, ['orders']),
    await execute(BOUND, ['orders']),
  ]);
  await check('execute without parameters', async () => [await execute(NEXT), await execute(NEXT)]);
  await check('prepare, execute, close', async () => {
    const statement = await c.prepare(BOUND);
    const ids = [(await statement.execute(['orders']))[0].id, (await statement.execute(['orders']))[0].id];
    statement.close();
    return ids;
  });
  await check('beginTransaction, commit, rollback', async () => {
    await c.beginTransaction();
    const ids = [await query(NEXT), await query(NEXT)];
    await c.commit();
    await c.beginTransaction();
    await c.rollback();
    return ids;
  });
  await check('pipeline', () => Promise.all([query(NEXT), query(NEXT)]));
  await check('batch, one COM_STMT_BULK_EXECUTE', async () => void (await c.batch('DO next_id(?)', [['orders'], ['orders']])));
  await check('queryStream', async () => {
    let rows = 0;
    for await (const _ of c.queryStream("SELECT id FROM next_ids('orders', 3) AS id")) rows++;
    return rows === 3;
  });
  await check('ping, reset, isValid', async () => {
    await c.ping();
    await c.reset();
    return c.isValid();
  });
  await check('changeUser', async () => {
    await c.changeUser({ user: server.user, password: server.password, database: server.database });
  });
  await check('error 1064', async () => {
    try {
      await c.query('SELEC 1');
      return false;
    } catch (e) {
      return e.errno === 1064;
    }
  });
  await c.end();
  await check('pool, reset after use', async () => {
    const pool = mariadb.createPool({ ...config, connectionLimit: 1, resetAfterUse: true, minDelayValidation: 0 });
    const ids = [];
    for (let i = 0; i < 2; i++) {
      const other = await pool.getConnection();
      ids.push((await other.query(BOUND, ['orders']))[0].id);
      await other.release();
    }
    await pool.end();
    return ids;
  });
  await check('multipleStatements, timezone, initSql, sessionVariables', async () => {
    const options = { multipleStatements: true, timezone: 'Z', initSql: 'SET @a = 1', sessionVariables: { wait_timeout: 100 } };
    const other = await mariadb.createConnection({ ...config, ...options });
    const results = await other.query(`${NEXT}; ${NEXT}`);
    await other.end();
    return results.map(rows => rows[0].id);
  });
});
