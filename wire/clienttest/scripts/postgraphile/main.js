const { Pool } = require('pg');
const { createPostGraphileSchema } = require('postgraphile-core');
const { graphql, printSchema } = require('graphql');
const { check, main, server } = require('../verdict/verdict');

main('postgraphile-core', async () => {
  const pool = new Pool({ ...server, max: 2 });
  const schema = await createPostGraphileSchema(pool, ['public']);
  const ask = async query => {
    const client = await pool.connect();
    try {
      const { data, errors } = await graphql(schema, query, null, { pgClient: client });
      if (errors) throw errors[0];
      return data;
    } finally {
      client.release();
    }
  };
  await check('introspection', async () => printSchema(schema).includes('allIds('));
  await check('a row of the table ids', async () => {
    const query = '{ allIds(condition: { name: "orders" }) { nodes { id } } }';
    return [(await ask(query)).allIds.nodes[0].id, (await ask(query)).allIds.nodes[0].id];
  });
  await check('id_batch', async () => {
    const query = '{ allIdBatches(condition: { name: "orders", n: "3" }) { nodes { id } } }';
    return (await ask(query)).allIdBatches.nodes.length === 3;
  });
});
