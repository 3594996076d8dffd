const { check, main, meta, mysql, server } = require('../verdict/verdict');

const driver = mysql ? '@mikro-orm/mysql' : '@mikro-orm/postgresql';
const { EntitySchema, MikroORM } = require(driver);

const Ids = new EntitySchema({
  name: 'Ids',
  tableName: 'ids',
  properties: { name: { type: mysql ? 'string' : 'text', primary: true }, id: { type: 'bigint' } },
});

main(driver, async () => {
  const { database: dbName, ...rest } = server;
  const orm = await MikroORM.init({ ...rest, dbName, entities: [Ids], allowGlobalContext: true });
  const id = async (sql, params, on = orm.em) =>
    (await on.getConnection().execute(sql, params, 'all', on.getTransactionContext()))[0].id;

  await check('isConnected', () => orm.isConnected());
  await check('execute', async () => [
    await id("SELECT next_id('orders') AS id"),
    await id('SELECT next_id(?) AS id', ['orders']),
  ]);
  await check('transactional, nested', () =>
    orm.em.transactional(async em => [
      await id("SELECT next_id('orders') AS id", [], em),
      await em.transactional(inner => id("SELECT next_id('orders') AS id", [], inner)),
    ]),
  );
  await check('entity over the table ids', async () => [
    (await orm.em.fork().findOneOrFail(Ids, { name: 'orders' })).id,
    (await orm.em.fork().findOneOrFail(Ids, 'orders')).id,
  ]);
  if (meta) {
    await check('meta schema generator compares the catalogs', async () => {
      return typeof (await orm.getSchemaGenerator().getUpdateSchemaSQL({ safe: true })) === 'string';
    });
  }
  await orm.close(true);
});
