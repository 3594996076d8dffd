package redis

import "github.com/redis/go-redis/v9"

// The scripts work on the hash of KEYS[1] in a store that KEYS[2] marks.
var (
	advance = redis.NewScript(luaAdvance)
	lower   = redis.NewScript(luaLower)
	put     = redis.NewScript(luaPut)

	scripts = []*redis.Script{advance, lower, put}
)

const (
	luaPrelude = `
local info = redis.call('INFO', 'replication')
local stamp = string.match(info, 'master_replid:(%x+)')
if redis.call('GET', KEYS[2]) ~= '2' then return 'unprepared' end
local function row(text)
  if not text then return nil end
  local lo, hi, seq, updated, of, owner = string.match(text, '^(%d+)\t(%d+)\t(%d+)\t(%d+)\t([^\t]*)\t(.*)$')
  return lo and {lo = lo, hi = hi, seq = seq, updated = updated, stamp = of, owner = owner} or false
end
`

	// advance: for each ask its key, at least, n, limit, owner, now, stamp,
	// count, create, from, stamp to write. Numbers that are compared have 20
	// digits. KEYS[3] lists the keys in order. One answer an ask is returned.
	luaAdvance = luaPrelude + `
local function advance(key, atleast, n, limit, owner, now, present, count, create, from, write)
  local old = row(redis.call('HGET', KEYS[1], key))
  if old == false then return {'damaged'} end
  local lo = atleast
  if old and old.hi > lo then lo = old.hi end
  if stamp ~= present or not old and create ~= '1' or old and old.stamp ~= stamp and old.stamp ~= from or lo >= limit then
    return {'refused', stamp, old and old.lo, old and old.hi, old and old.seq, old and old.stamp}
  end
  local low = tonumber(string.sub(lo, 11)) + tonumber(string.sub(n, 11))
  local carry = math.floor(low / 1e10)
  local high = tonumber(string.sub(lo, 1, 10)) + tonumber(string.sub(n, 1, 10)) + carry
  local hi = string.format('%010.0f%010.0f', high, low - carry * 1e10)
  if hi > limit then hi = limit end
  local seq = string.format('%.0f', (old and tonumber(old.seq) or 0) + tonumber(count))
  redis.call('HSET', KEYS[1], key, table.concat({lo, hi, seq, now, write, owner}, '\t'))
  if not old then redis.call('ZADD', KEYS[3], 0, key) end
  return {'granted', stamp, lo, hi, seq}
end
local answers = {}
for i = 1, #ARGV, 11 do answers[#answers + 1] = advance(unpack(ARGV, i, i + 10)) end
return answers
`

	// lower: key, hi, to, stamp, now, seq.
	luaLower = luaPrelude + `
local old = row(redis.call('HGET', KEYS[1], ARGV[1]))
if old and old.hi == ARGV[2] and old.stamp == ARGV[4] and old.seq == ARGV[6] then
  if old.lo > ARGV[3] then old.lo = ARGV[3] end
  redis.call('HSET', KEYS[1], ARGV[1], table.concat({old.lo, ARGV[3], old.seq, ARGV[5], old.stamp, old.owner}, '\t'))
end
return 'done'
`

	// put: name, the new value, the old value or ''.
	luaPut = `
if redis.call('GET', KEYS[2]) ~= '2' then return 'unprepared' end
local now = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if now ~= ARGV[3] then return 'refused' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'done'
`
)
