require('reflect-metadata');
const { DataSource, EntitySchema } = require('typeorm');
const { check, main, meta, mysql, server } = require('../verdict/verdict');

const Ids = new EntitySchema({
  name: 'Ids',
  tableName: 'ids',
  columns: { name: { type: 'text', primary: true }, id: { type: 'bigint' } },
});

main('typeorm', async () => {
  const { user: username, ...rest } = server;
  const options = mysql
    ? { type: 'mysql', connectorPackage: 'mysql2', supportBigNumbers: true, bigNumberStrings: true }
    : { type: 'postgres', installExtensions: false };
  const db = new DataSource({ ...options, ...rest, username, entities: [Ids] });
  const id = async (sql, params, on = db) => (await on.query(sql, params))[0].id;

  await check('initialize', async () => {
    await db.initialize();
  });
  await check('query', async () => [
    await id("SELECT next_id('orders') AS id"),
    await id(`SELECT next_id(${mysql ? '?' : '$1'}) AS id`, ['orders']),
  ]);
  await check('transaction, nested', () =>
    db.transaction(async m => [
      await id("SELECT next_id('orders') AS id", [], m),
      await m.transaction(n => id("SELECT next_id('orders') AS id", [], n)),
    ]),
  );
  await check('queryRunner, serializable, rolled back', async () => {
    const runner = db.createQueryRunner();
    await runner.connect();
    await runner.startTransaction('SERIALIZABLE');
    const ids = [
      await id("SELECT next_id('orders') AS id", [], runner),
      await id("SELECT next_id('orders') AS id", [], runner),
    ];
    await runner.rollbackTransaction();
    await runner.release();
    return ids;
  });
  await check('repository over the table ids', async () => [
    (await db.getRepository(Ids).findOneBy({ name: 'orders' })).id,
    (await db.getRepository(Ids).findOneOrFail({ where: { name: 'orders' } })).id,
  ]);
  if (meta) {
    const runner = db.createQueryRunner();
    await check('meta hasTable', () => runner.hasTable('ids'));
    await check('meta getTable', async () => {
      const table = await runner.getTable('ids');
      return Boolean(table) && table.columns.map(c => c.name).join() === 'name,id';
    });
    await check('meta hasDatabase, hasSchema', async () => {
      return (await runner.hasDatabase(server.database)) && (mysql || (await runner.hasSchema('public')));
    });
    await runner.release();
  }
  await db.destroy();
});
