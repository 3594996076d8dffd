package redis

import "github.com/redis/go-redis/v9"

// The scripts change the hash KEYS[1] of the store whose marker is KEYS[2].
var (
	advance = redis.NewScript(luaAdvance)
	lower   = redis.NewScript(luaLower)
	put     = redis.NewScript(luaPut)

	scripts = []*redis.Script{advance, lower, put}
)

// Each table, function and capture of a script costs work of Lua's garbage
// collector. So advance creates few, and none for a granted ask.
const (
	luaPrelude = `
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local epoch = string.sub(info, at + 1, at + 40)
if redis.call('GET', KEYS[2]) ~= '2' then return 'unprepared' end
`

	// advance takes 9 arguments for each ask: key, numbers, owner, now, epoch, count,
	// create, from, epoch to write. numbers is at least, n, limit and the bound of lo as one text.
	// Numbers that are compared have 20 digits. KEYS[3] is the sorted set of the keys.
	// The script returns one answer for each ask. The answer to a granted one is one
	// text: lo and hi with 20 digits each, then seq.
	luaAdvance = luaPrelude + `
local answers = {}
for i = 1, #ARGV, 9 do
  local key, numbers, owner, now, present, count, create, from, write = unpack(ARGV, i, i + 8)
  local lo, limit, bound = string.sub(numbers, 1, 20), string.sub(numbers, 41, 60), string.sub(numbers, 61)
  local old = redis.call('HGET', KEYS[1], key)
  local oldlo, oldhi, seq, of
  if old then
    oldlo, oldhi, seq, of = string.match(old, '^(%d+)\t(%d+)\t(%d+)\t%d+\t([^\t]*)\t')
    if oldhi and oldhi > lo then lo = oldhi end
  end
  if old and (not of or #oldhi ~= 20) then
    answers[#answers + 1] = 'damaged'
  elseif epoch ~= present or not old and create ~= '1' or old and of ~= epoch and of ~= from or lo >= bound then
    answers[#answers + 1] = {epoch, oldlo, oldhi, seq, of}
  else
    local low = tonumber(string.sub(lo, 11)) + tonumber(string.sub(numbers, 31, 40))
    local carry = math.floor(low / 1e10)
    local high = tonumber(string.sub(lo, 1, 10)) + tonumber(string.sub(numbers, 21, 30)) + carry
    local hi = string.format('%010.0f%010.0f', high, low - carry * 1e10)
    if hi > limit then hi = limit end
    seq = string.format('%.0f', tonumber(seq or 0) + tonumber(count))
    redis.call('HSET', KEYS[1], key, lo .. '\t' .. hi .. '\t' .. seq .. '\t' .. now .. '\t' .. write .. '\t' .. owner)
    if not old then redis.call('ZADD', KEYS[3], 0, key) end
    answers[#answers + 1] = lo .. hi .. seq
  end
end
return answers
`

	// lower takes key, hi, to, epoch, now, seq.
	luaLower = luaPrelude + `
local old = redis.call('HGET', KEYS[1], ARGV[1])
if not old then return 'done' end
local lo, hi, seq, of, owner = string.match(old, '^(%d+)\t(%d+)\t(%d+)\t%d+\t([^\t]*)\t(.*)$')
if hi == ARGV[2] and of == ARGV[4] and seq == ARGV[6] then
  if lo > ARGV[3] then lo = ARGV[3] end
  redis.call('HSET', KEYS[1], ARGV[1], lo .. '\t' .. ARGV[3] .. '\t' .. seq .. '\t' .. ARGV[5] .. '\t' .. of .. '\t' .. owner)
end
return 'done'
`

	// put takes the name, the epoch, the new value, and the old value unless there is
	// none.
	luaPut = luaPrelude + `
if epoch ~= ARGV[2] or redis.call('HGET', KEYS[1], ARGV[1]) ~= (ARGV[4] or false) then return 'refused' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 'done'
`
)
