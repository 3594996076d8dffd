const { eq, sql } = require('drizzle-orm');
const { check, main, mysql, server } = require('../verdict/verdict');

const { drizzle } = require(mysql ? 'drizzle-orm/mysql2' : 'drizzle-orm/node-postgres');
const columns = require(mysql ? 'drizzle-orm/mysql-core' : 'drizzle-orm/pg-core');

const table = mysql ? columns.mysqlTable : columns.pgTable;
const ids = table('ids', { name: columns.text('name').primaryKey(), id: columns.bigint('id', { mode: 'bigint' }) });

// Without supportBigNumbers, mysql2 rounds ids to JavaScript's numbers, and drizzle's transactions show one id twice.
const open = () =>
  mysql
    ? require('mysql2/promise').createPool({ ...server, connectionLimit: 2, supportBigNumbers: true, bigNumberStrings: true })
    : new (require('pg').Pool)({ ...server, max: 2 });

main('drizzle-orm', async () => {
  const pool = open();
  const db = drizzle(pool);
  const id = async (query, on = db) => {
    const got = await on.execute(query);
    return (mysql ? got[0] : got.rows)[0].id;
  };

  await check('execute', async () => [
    await id(sql`SELECT next_id('orders') AS id`),
    await id(sql`SELECT next_id(${'orders'}) AS id`),
  ]);
  await check('the table ids', async () => {
    const query = db.select({ id: ids.id }).from(ids).where(eq(ids.name, 'orders'));
    return [(await query)[0].id, (await query.limit(1))[0].id];
  });
  await check('prepared', async () => {
    const query = db
      .select({ id: ids.id })
      .from(ids)
      .where(eq(ids.name, sql.placeholder('name')))
      .prepare('p1');
    return [(await query.execute({ name: 'orders' }))[0].id, (await query.execute({ name: 'orders' }))[0].id];
  });
  await check('transaction, nested', () =>
    db.transaction(async t => [
      await id(sql`SELECT next_id('orders') AS id`, t),
      await t.transaction(u => id(sql`SELECT next_id('orders') AS id`, u)),
    ]),
  );
  await pool.end();
});
