// The verdicts of a Node.js client: one line a check, for the test to read.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { HOST, PORT, USER, PASSWORD, DB, CLIENT, CHECKS, PROTOCOL } = process.env;
let failed = false;

function fail(what, why) {
  failed = true;
  console.log('FAIL', CLIENT, `${what}:`, String((why && why.message) || why).replace(/\s+/g, ' '));
}

// check runs f, which may return two ids, the second larger; a text; or false for a failure.
async function check(what, f) {
  try {
    const got = await f();
    if (got === false) return fail(what, 'false');
    if (Array.isArray(got)) {
      const [a, b] = got.map(BigInt);
      if (!(a > 0n && b > a)) return fail(what, `not two rising ids: ${got}`);
    }
    console.log('ok', CLIENT, what + (typeof got === 'string' ? `: ${got}` : ''));
  } catch (e) {
    fail(what, e);
  }
}

// main runs a client's checks, at most a minute.
function main(packageName, checks) {
  const manifest = path.join(__dirname, '../node_modules', packageName, 'package.json');
  console.log('version', CLIENT, JSON.parse(fs.readFileSync(manifest, 'utf8')).version);
  process.on('unhandledRejection', e => {
    fail('unhandled rejection', e);
    process.exit(1);
  });
  setTimeout(() => {
    fail('time limit', '60 s');
    process.exit(1);
  }, 60_000).unref();
  checks().then(
    () => process.exit(failed ? 1 : 0),
    e => {
      fail('checks', e);
      process.exit(1);
    },
  );
}

module.exports = {
  check,
  main,
  server: { host: HOST, port: Number(PORT), user: USER, password: PASSWORD, database: DB },
  mysql: PROTOCOL === 'mysql',
  meta: CHECKS.split(',').includes('meta'),
};
