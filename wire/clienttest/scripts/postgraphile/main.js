const { makePgService } = require('@dataplan/pg/adaptors/pg');
const { grafast } = require('grafast');
const { defaultPreset, makeSchema } = require('graphile-build');
const pg = require('graphile-build-pg');
const { printSchema } = require('graphql');
const { Pool } = require('pg');
const { check, main, server } = require('../verdict/verdict');

// Node.js 22 has it, for which version 5 is written; Debian's is older.
Promise.withResolvers ??= () => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};

main('graphile-build-pg', async () => {
  const pool = new Pool({ ...server, max: 2 });
  const { schema, resolvedPreset } = await makeSchema({
    extends: [defaultPreset, pg.defaultPreset],
    pgServices: [makePgService({ pool, schemas: ['public'] })],
  });
  const ask = async source => {
    const { data, errors } = await grafast({ schema, source, resolvedPreset, requestContext: {} });
    if (errors) throw errors[0];
    return data;
  };
  await check('introspection', async () => printSchema(schema).includes('allIds('));
  await check('mutation nextId', async () => {
    const query = 'mutation { nextId(input: { name: "orders" }) { result } }';
    return [(await ask(query)).nextId.result, (await ask(query)).nextId.result];
  });
  await check('a row of the table ids', async () => {
    const query = '{ allIds(condition: { name: "orders" }) { nodes { rowId } } }';
    return [(await ask(query)).allIds.nodes[0].rowId, (await ask(query)).allIds.nodes[0].rowId];
  });
  await check('id_batch', async () => {
    const query = '{ allIdBatches(condition: { name: "orders", n: "3" }) { nodes { rowId } } }';
    return (await ask(query)).allIdBatches.nodes.length === 3;
  });
});
