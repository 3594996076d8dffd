const { eq, sql } = require('drizzle-orm');
const { drizzle } = require('drizzle-orm/mysql2');
const { bigint, mysqlTable, varchar } = require('drizzle-orm/mysql-core');
const mysql = require('mysql2/promise');
const { check, main, server } = require('../verdict/verdict');

const ids = mysqlTable('ids', { name: varchar('name', { length: 128 }).primaryKey(), id: bigint('id', { mode: 'bigint' }) });

main('drizzle-orm', async () => {
  // Without supportBigNumbers, mysql2 rounds ids to JavaScript's numbers, and drizzle's transactions show one id twice.
  const pool = mysql.createPool({ ...server, connectionLimit: 2, supportBigNumbers: true, bigNumberStrings: true });
  const db = drizzle(pool);
  const id = async (query, on = db) => (await on.execute(query))[0][0].id;

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
      .prepare();
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
