// Logs in with the settings in CONFIG (JSON) and prints one id, or the error.
const fs = require('node:fs');
const { Client } = require(process.env.MODULES + '/pg');

const config = JSON.parse(process.env.CONFIG);
if (config.ssl) {
  for (const file of ['ca', 'cert', 'key']) {
    if (config.ssl[file]) config.ssl[file] = fs.readFileSync(config.ssl[file], 'utf8');
  }
}
const client = new Client(config);
client.connect()
  .then(() => client.query("SELECT next_id('orders')"))
  .then((r) => { console.log('id', r.rows[0].next_id); return client.end(); })
  .catch((e) => { console.log(e.message); process.exit(1); });
