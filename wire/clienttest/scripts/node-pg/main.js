const pg = require('pg');
const Cursor = require('pg-cursor');
const QueryStream = require('pg-query-stream');
const { check, main, server } = require('../verdict/verdict');

main('pg', async () => {
  const c = new pg.Client({ ...server, connectionTimeoutMillis: 10_000 });
  await c.connect();
  const row = async (sql, params) => (await c.query(sql, params)).rows[0];
  const two = async (sql, params) => [
    Object.values(await row(sql, params))[0],
    Object.values(await row(sql, params))[0],
  ];

  await check('plain (int8 arrives as a string)', () => two("SELECT next_id('orders')"));
  await check('fields say int8', async () => (await c.query("SELECT next_id('orders')")).fields[0].dataTypeID === 20);
  await check('bound parameter', () => two('SELECT next_id($1)', ['orders']));
  await check('named prepared statement', () => two({ name: 'n1', text: 'SELECT next_id($1)', values: ['orders'] }));
  await check('nextval($1)', () => two('select nextval($1)', ['orders']));
  await check('binary result', async () => {
    // node-pg reads a binary int8 as UTF-8, so only its arrival can be checked.
    const result = await c.query({ text: 'SELECT next_id($1)', values: ['orders'], binary: true });
    return result.rows.length === 1;
  });
  await check('next_ids($1,$2)', async () => {
    return (await c.query('SELECT * FROM next_ids($1,$2)', ['orders', 3])).rows.length === 3;
  });
  await check('parse_id($1)', async () => JSON.stringify(await row('SELECT * FROM parse_id($1)', ['1099511627776'])));
  await check('parse_id($1) of a UUID', async () => {
    const parts = await row('SELECT * FROM parse_id($1)', ['0190163d-8694-739b-aea5-966c26f8ad91']);
    return parts.layout === 'uuidv7' && parts.time instanceof Date;
  });
  await check('several statements in one', async () => {
    const results = await c.query("SELECT next_id('orders'); SELECT next_id('orders')");
    return results.map(r => r.rows[0].next_id);
  });
  await check('transaction', async () => {
    await c.query('BEGIN');
    const ids = await two('SELECT next_id($1)', ['orders']);
    await c.query('COMMIT');
    return ids;
  });
  await check('cursor', async () => {
    const cursor = c.query(new Cursor('SELECT * FROM next_ids($1,$2)', ['orders', 3]));
    const rows = [...(await cursor.read(2)), ...(await cursor.read(2))];
    await cursor.close();
    return rows.length === 3;
  });
  await check('query stream', async () => {
    let rows = 0;
    const stream = new QueryStream('SELECT * FROM next_ids($1,$2)', ['orders', 3], { batchSize: 1 });
    for await (const _ of c.query(stream)) rows++;
    return rows === 3;
  });
  await check('error code 42883', async () => {
    const error = await c.query('SELECT no_such_function(1)').catch(e => e);
    return error.code === '42883';
  });
  await check('queued queries on one client', async () => {
    const rows = await Promise.all([row("SELECT next_id('orders')"), row("SELECT next_id('orders')")]);
    return rows.map(r => r.next_id);
  });
  await c.end();
  await check('pool with statement_timeout, application_name, options', async () => {
    const settings = { statement_timeout: 5000, application_name: 'check', options: '-c lock_timeout=1000' };
    const pool = new pg.Pool({ ...server, ...settings, max: 2 });
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push((await pool.query('SELECT next_id($1)', ['orders'])).rows[0].next_id);
    await pool.end();
    return ids;
  });
});
