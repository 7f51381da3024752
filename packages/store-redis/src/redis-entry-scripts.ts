import type { RedisScript } from './run-script.ts'
import { redisScript } from './run-script.ts'

// A client sends a command again when its connection broke before the reply came, and others may have written
// meanwhile. So each write has an id, and its first result is kept for a minute: a write that runs twice has
// the effect and the result of one.
const once = `
local known = redis.call('GET', KEYS[2])
if known then return known end
local function remember(result)
  redis.call('SET', KEYS[2], result, 'PX', 60000)
  return result
end
local function put(value, ttl)
  if ttl == '' then redis.call('SET', KEYS[1], value) else redis.call('SET', KEYS[1], value, 'PX', ttl) end
end
`

/** ARGV: the new text, and milliseconds or ''. */
export const putScript: RedisScript = redisScript(`${once}
put(ARGV[1], ARGV[2])
return remember('1')
`)

/** No ARGV. */
export const deleteScript: RedisScript = redisScript(`${once}
redis.call('DEL', KEYS[1])
return remember('1')
`)

/** ARGV: the new text, milliseconds or '', whether an entry is expected, its text, its number or ''. */
export const swapScript: RedisScript = redisScript(`${once}
local kept = redis.call('GET', KEYS[1])
local same
if ARGV[3] == '0' then same = not kept
elseif not kept then same = false
elseif ARGV[5] == '' then same = kept == ARGV[4]
else same = tonumber(kept) == tonumber(ARGV[5]) end
if not same then return '0' end
put(ARGV[1], ARGV[2])
return remember('1')
`)

/** ARGV: what is added, and milliseconds or ''. */
export const addScript: RedisScript = redisScript(`${once}
local kept = redis.call('GET', KEYS[1])
if not kept then
  put(ARGV[1], ARGV[2])
  return remember(ARGV[1])
end
local number = tonumber(kept)
if not number or math.abs(number + ARGV[1]) == math.huge then return redis.error_reply('NOTNUMBER') end
local sum = string.format('%.17g', number + ARGV[1])
redis.call('SET', KEYS[1], sum, 'KEEPTTL')
return remember(sum)
`)

/** ARGV: item, score, milliseconds or '', how many to keep or ''. */
export const listScript: RedisScript = redisScript(`${once}
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if ARGV[4] ~= '' then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[4]) end
if ARGV[3] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return remember('1')
`)

/** ARGV: the item. */
export const unlistScript: RedisScript = redisScript(`${once}
redis.call('ZREM', KEYS[1], ARGV[1])
return remember('1')
`)
