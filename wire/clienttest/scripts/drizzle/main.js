const { eq, sql } = require('drizzle-orm');
const { drizzle } = require('drizzle-orm/node-postgres');
const { bigint, pgTable, text } = require('drizzle-orm/pg-core');
const pg = require('pg');
const { check, main, server } = require('../verdict/verdict');

const ids = pgTable('ids', { name: text('name').primaryKey(), id: bigint('id', { mode: 'bigint' }) });

main('drizzle-orm', async () => {
  const pool = new pg.Pool({ ...server, max: 2 });
  const db = drizzle(pool);
  const id = async (query, on = db) => (await on.execute(query)).rows[0].id;

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
