const fs = require('fs');
const os = require('os');
const path = require('path');
const { Pool } = require('pg');
const db = require('zapatos/db');
const { generate } = require('zapatos/generate');
const { check, main, meta, server } = require('../verdict/verdict');

main('zapatos', async () => {
  const pool = new Pool({ ...server, max: 2 });
  const one = () => db.selectExactlyOne('ids', { name: 'orders' }).run(pool);
  await check('sql', async () => {
    const draw = async () => (await db.sql`SELECT next_id(${db.param('orders')})`.run(pool))[0].next_id;
    return [await draw(), await draw()];
  });
  await check('selectExactlyOne, select', async () => {
    const rows = await db.select('ids', { name: 'orders' }, { columns: ['id'], limit: 1 }).run(pool);
    return (await one()).name === 'orders' && rows.length === 1 && rows[0].id > 0;
  });
  await check('transaction', async () => db.serializable(pool, async tx => (await db.selectOne('ids', { name: 'orders' }).run(tx)).id > 0));
  if (meta) {
    await check('meta generate', async () => {
      const outDir = fs.mkdtempSync(path.join(os.tmpdir(), 'zapatos-'));
      await generate({ db: server, schemas: { public: { include: '*', exclude: [] } }, outDir, progressListener: false, warningListener: false });
      return fs.readFileSync(path.join(outDir, 'zapatos', 'schema.d.ts'), 'utf8').includes('namespace ids');
    });
  }
  await pool.end();
});
