const postgres = require('postgres');
const { check, main, server } = require('../verdict/verdict');

main('postgres', async () => {
  const options = { ...server, max: 1, connect_timeout: 10, onnotice: () => {} };
  const sql = postgres(options); // asks for the array types at its first query
  const id = rows => rows[0].next_id;
  const two = async query => [id(await query()), id(await query())];

  await check('plain tagged template', () => two(() => sql`SELECT next_id('orders')`));
  await check('bound parameter', () => two(() => sql`SELECT next_id(${'orders'})`));
  await check('nextval', () => two(() => sql`SELECT nextval(${'orders'}) AS next_id`));
  await check('next_ids, bound int', async () => (await sql`SELECT * FROM next_ids(${'orders'}, ${3})`).length === 3);
  await check('unsafe', () => two(() => sql.unsafe("SELECT next_id('orders')")));
  await check('unsafe with parameters', () => two(() => sql.unsafe('SELECT next_id($1)', ['orders'])));
  await check('unsafe, prepared', () => two(() => sql.unsafe('SELECT next_id($1)', ['orders'], { prepare: true })));
  await check('simple(), two statements', async () => {
    const results = await sql`SELECT next_id('orders'); SELECT next_id('orders')`.simple();
    return results.map(id);
  });
  await check('begin with savepoint', () =>
    sql.begin(async tx => {
      const a = id(await tx`SELECT next_id('orders')`);
      const b = await tx.savepoint(async sp => id(await sp`SELECT next_id('orders')`));
      return [a, b];
    }),
  );
  await check('cursor(1)', async () => {
    let rows = 0;
    for await (const batch of sql`SELECT * FROM next_ids('orders',3)`.cursor(1)) rows += batch.length;
    return rows === 3;
  });
  await check('describe()', async () => {
    const d = await sql`SELECT next_id(${'orders'})`.describe();
    return d.types[0] === 25 && d.columns[0].type === 20;
  });
  await check('pipelined on one connection', async () => {
    const results = await Promise.all([sql`SELECT next_id('orders') `, sql`SELECT next_id('orders') `]);
    return results.map(id);
  });
  await check('error code 42883', async () => {
    const error = await sql`SELECT no_such_function(1)`.catch(e => e);
    return error.code === '42883';
  });
  await check('reserve', async () => {
    const reserved = await sql.reserve();
    const ids = await two(() => reserved`SELECT next_id('orders')`);
    reserved.release();
    return ids;
  });
  await sql.end();

  const connected = async more => {
    const other = postgres({ ...options, ...more });
    const ids = await two(() => other`SELECT next_id(${'orders'})`);
    await other.end();
    return ids;
  };
  await check('prepare: false, fetch_types: false, as behind a pooler', () =>
    connected({ prepare: false, fetch_types: false }),
  );
  await check('settings at start-up, target_session_attrs', () =>
    connected({
      target_session_attrs: 'read-write',
      connection: { application_name: 'check', statement_timeout: 5000 },
    }),
  );
});
