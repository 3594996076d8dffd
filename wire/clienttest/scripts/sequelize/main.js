const { DataTypes, QueryTypes, Sequelize } = require('sequelize');
const { check, main, meta, mysql, server } = require('../verdict/verdict');

main('sequelize', async () => {
  const { database, user, password, host, port } = server;
  const db = new Sequelize(database, user, password, {
    host,
    port,
    dialect: mysql ? 'mysql' : 'postgres',
    dialectOptions: mysql ? { supportBigNumbers: true, bigNumberStrings: true } : {},
    logging: false,
    pool: { max: 2 },
  });
  const id = async (sql, options) => (await db.query(sql, { type: QueryTypes.SELECT, ...options }))[0].id;

  await check('authenticate', async () => {
    await db.authenticate();
  });
  await check('query', async () => [
    await id("SELECT next_id('orders') AS id"),
    await id("SELECT next_id('orders') AS id"),
  ]);
  await check('replacements, bind', async () => [
    await id('SELECT next_id(:name) AS id', { replacements: { name: 'orders' } }),
    await id('SELECT next_id($1) AS id', { bind: ['orders'] }),
  ]);
  await check('transaction', () =>
    db.transaction(async transaction => [
      await id("SELECT next_id('orders') AS id", { transaction }),
      await id("SELECT next_id('orders') AS id", { transaction }),
    ]),
  );
  await check('databaseVersion', async () => String(await db.databaseVersion()));
  const options = { tableName: 'ids', timestamps: false };
  const Ids = db.define('Ids', { name: { type: DataTypes.TEXT, primaryKey: true }, id: DataTypes.BIGINT }, options);
  await check('model over the table ids', async () => [
    (await Ids.findOne({ where: { name: 'orders' } })).id,
    (await Ids.findByPk('orders')).id,
  ]);
  if (meta) {
    const tables = db.getQueryInterface();
    await check('meta describeTable', async () => Object.keys(await tables.describeTable('ids')).join() === 'name,id');
    await check('meta showAllTables', async () => String((await tables.showAllTables()).length));
    await check('meta showAllSchemas', async () => String((await db.showAllSchemas()).length));
    await check('meta showIndex', async () => String((await tables.showIndex('ids')).length));
  }
  await db.close();
});
