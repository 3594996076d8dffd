// Hostile values through a Node.js driver that puts them into the text; see main.py.
'use strict';

const fs = require('node:fs');

const name = process.argv[2];
const { HOST, PORT, USER, PASSWORD, DB } = process.env;
const lines = file => fs.readFileSync(file, 'utf8').trimEnd().split('\n');
const config = { host: HOST, port: Number(PORT), user: USER, password: PASSWORD, charset: 'utf8mb4' };

async function main() {
  let query, end;
  if (name === 'mysql') {
    const c = require('mysql').createConnection(config);
    query = (sql, args) => new Promise((ok, bad) => c.query(sql, args, (e, rows) => (e ? bad(e) : ok(rows))));
    end = () => c.end();
  } else {
    const c = await require(name === 'mysql2' ? 'mysql2/promise' : name).createConnection(config);
    query = async (sql, args) => {
      const got = await c.query(sql, args);
      return name === 'mysql2' ? got[0] : got;
    };
    end = () => c.end();
  }
  const values = lines('values').map(decodeURIComponent);
  for (const [i, setting] of lines('settings-mysql').entries()) {
    try {
      await query(setting);
    } catch {
      console.log(i, 'refused:', setting, '');
      continue;
    }
    for (const [j, value] of values.entries()) {
      try {
        const echo = (await query('SELECT ? AS v', [value]))[0].v;
        const rows = await query(
          "SELECT count(*) AS n FROM (SELECT 'a' AS name UNION SELECT 'b' UNION SELECT 'plain') AS t WHERE name = ?",
          [value],
        );
        console.log(i, j, Buffer.from(String(echo)).toString('hex'), String(rows[0].n));
      } catch {
        console.log(i, j, 'error');
      }
    }
  }
  await end();
}

main().then(
  () => process.exit(0),
  e => {
    console.error(e);
    process.exit(1);
  },
);
