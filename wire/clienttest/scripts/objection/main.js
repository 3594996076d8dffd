const { Model } = require('objection');
const { check, main, meta, server } = require('../verdict/verdict');

class Ids extends Model {
  static tableName = 'ids';
  static idColumn = 'name';
}

main('objection', async () => {
  const knex = require('knex')({ client: 'pg', connection: server, pool: { min: 0, max: 2 } });
  Model.knex(knex);

  await check('raw', async () => [
    (await Model.knex().raw("SELECT next_id('orders') AS id")).rows[0].id,
    (await Model.knex().raw('SELECT next_id(?) AS id', ['orders'])).rows[0].id,
  ]);
  await check('transaction', () =>
    Model.transaction(async t => [
      (await t.raw("SELECT next_id('orders') AS id")).rows[0].id,
      (await t.raw("SELECT next_id('orders') AS id")).rows[0].id,
    ]),
  );
  if (meta) {
    await check('meta model over ids (asks for its columns)', async () => [
      (await Ids.query().where('name', 'orders').first()).id,
      (await Ids.query().findOne({ name: 'orders' }).select('id')).id,
    ]);
    await check('meta fetchTableMetadata', async () => {
      const columns = (await Ids.fetchTableMetadata()).columns;
      return columns.join() === 'name,id';
    });
  }
  await knex.destroy();
});
