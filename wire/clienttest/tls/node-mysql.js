// Logs in with the settings in CONFIG (JSON) and prints one id, or the error. MODULE is mysql2/promise or mariadb.
const fs = require('node:fs');
const driver = require('node:module').createRequire(process.env.MODULES + '/')(process.env.MODULE);

const config = JSON.parse(process.env.CONFIG);
if (config.ssl) {
  for (const file of ['ca', 'cert', 'key']) {
    if (config.ssl[file]) config.ssl[file] = fs.readFileSync(config.ssl[file], 'utf8');
  }
}
driver.createConnection(config)
  .then(async (c) => {
    const result = await c.query("SELECT next_id('orders') AS id");
    const [row] = process.env.MODULE === 'mariadb' ? result : result[0];
    console.log('id', String(row.id));
    return c.end();
  })
  .catch((e) => { console.log(e.message); process.exit(1); });
