// Prints ids of the libraries of npm with what the libraries themselves say
// about them: name, id, Unix milliseconds or, with us behind them, microseconds,
// worker, sequence; "-" where a library says nothing. node ids.mjs COUNT
import { TID } from '@atproto/common-web';
import { createId } from '@paralleldrive/cuid2';
import { DiscordSnowflake, TwitterSnowflake } from '@sapphire/snowflake';
import { ObjectId } from 'bson';
import Hashids from 'hashids';
import KSUID from 'ksuid';
import Sqids from 'sqids';
import { TSIDGenerator } from 'tsid-ts';
import { typeid, TypeID } from 'typeid-js';
import { decodeTime, ulid } from 'ulid';
import { v1, v6, v7 } from 'uuid';

const count = Number(process.argv[2]);
const lines = [];
const sqids = new Sqids();
const ownSqids = new Sqids({ alphabet: 'k3G7QAe51FCsPW92uEOyq4Bg6Sp8YzVTmnU0liwDdHXLajZrfxNhobJIRcMvKt', minLength: 12, blocklist: new Set() });
const hashids = new Hashids('this is my salt', 8);
const put = (...columns) => lines.push(columns.join('\t'));

for (let i = 0; i < count; i++) {
  for (const [name, flake] of [['discord', DiscordSnowflake], ['twitter', TwitterSnowflake]]) {
    const id = flake.generate({ workerId: BigInt(i % 32), processId: BigInt((i >> 5) % 32), increment: BigInt(i % 4096) });
    const d = flake.deconstruct(id);
    put(name, id, d.timestamp, (d.workerId << 5n) | d.processId, d.increment);
  }
  const tsid = new TSIDGenerator(i % 1024, 10).create();
  put('tsid', tsid.number, tsid.timestamp, i % 1024, tsid.random % 4096);
  const o = new ObjectId();
  put('objectid', o.toHexString(), o.getTimestamp().getTime(), Number(BigInt('0x' + o.toHexString().slice(8, 18))), o.id[9] << 16 | o.id[10] << 8 | o.id[11]);
  const tid = TID.next();
  put('tid', tid.toString(), tid.timestamp() + 'us', tid.clockid(), '-');
  let c = createId();
  while (!/[0-9]/.test(c)) c = createId(); // one of 2,500: a word, which nothing tells to be an id
  put('cuid2', c, '-', '-', '-');
  const n = i % 2 ? i * i * 7919 : i; // up to 2^40
  put('sqids', sqids.encode([n]), '-', '-', n);
  put('sqids-own', ownSqids.encode([n]), '-', '-', n);
  put('hashids', hashids.encode(n), '-', '-', n);
  const eight = Buffer.alloc(8);
  eight.writeBigUInt64BE(BigInt(n));
  put('base64url', eight.toString('base64url'), '-', '-', n);
  const u = ulid();
  put('ulid', u, decodeTime(u), '-', '-');
  const k = KSUID.randomSync();
  put('ksuid', k.string, k.date.getTime(), '-', '-');
  const t = typeid('user');
  const hex = TypeID.fromString(t.toString()).toUUID().replaceAll('-', '');
  put('typeid', t.toString(), parseInt(hex.slice(0, 12), 16), '-', '-');
  const msecs = 1700000000000 + i * 977;
  const clockseq = i % 16384;
  put('uuidv1', v1({ msecs, nsecs: 0, clockseq, node: [1, 2, 3, 4, 5, 6] }), msecs, 0x010203040506, clockseq);
  put('uuidv6', v6({ msecs, nsecs: 0, clockseq, node: [1, 2, 3, 4, 5, 6] }), msecs, 0x010203040506, clockseq);
  put('uuidv7', v7({ msecs }), msecs, '-', '-');
}
process.stdout.write(lines.join('\n') + '\n');
