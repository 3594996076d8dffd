// Writes ids until it is killed. node library.mjs http://127.0.0.1:8433/api/v1/workers/POOL
import { setTimeout } from 'node:timers/promises';
import { TwitterSnowflake } from '@sapphire/snowflake';

const pool = process.argv[2];

async function lease(method, url) {
  const answer = await fetch(url, { method });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

async function issue() {
  let { worker, not_before, until } = await lease('POST', pool + '?holder=sapphire');
  const [workerId, processId] = [BigInt(worker) >> 5n, BigInt(worker) & 31n];
  for (let renew = 0; ; ) {
    const now = Date.now();
    if (now >= renew) {
      renew = now + 200; // a third of the lease, or what a retry waits
      try {
        ({ until } = await lease('PATCH', `${pool}/${worker}?until=${until}`));
      } catch {} // what is leased goes on
      continue;
    }
    if (now >= Date.parse(until)) return;
    if (now >= Date.parse(not_before)) {
      for (let i = 0; i < 100; i++) { // 4096 a millisecond at most: the library does not check
        process.stdout.write(TwitterSnowflake.generate({ timestamp: now, workerId, processId }) + '\n');
      }
    }
    await setTimeout(1);
  }
}

for (;;) {
  try {
    await issue();
  } catch (err) {
    console.error(err.message);
  }
  await setTimeout(50);
}
