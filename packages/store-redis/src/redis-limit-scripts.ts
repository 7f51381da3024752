import type { RedisScript } from './run-script.ts'
import { redisScript } from './run-script.ts'

/**
 * Shared part of the scripts. A key has a hash, and for windows and concurrency a sorted set of times.
 * Times are those of Redis, so clocks of processes do not matter.
 */
const shared = `
local t = redis.call('TIME')
local id, now = ARGV[1], tonumber(ARGV[2]) or t[1] * 1000 + math.floor(t[2] / 1000)
local tiny, longest = 1e-9, 600000

local function claim(i)
  local at = 3 + (i - 1) * 5
  return {
    hash = KEYS[i * 2 - 1], times = KEYS[i * 2], kind = ARGV[at], limit = tonumber(ARGV[at + 1]),
    window = tonumber(ARGV[at + 2]), amount = tonumber(ARGV[at + 3]), used = tonumber(ARGV[at + 4])
  }
end

local function field(c, name) return tonumber(redis.call('HGET', c.hash, name) or '0') end

local function keep(c, ms)
  for _, key in ipairs({ c.hash, c.times }) do
    if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, math.ceil(ms)) end
  end
end

local function load(c)
  c.closed = math.max(0, field(c, '$closed') - now)
  if c.kind == 'token-bucket' then
    local tokens, filled = redis.call('HGET', c.hash, '$tokens'), field(c, '$filled')
    c.total = c.limit - math.min(c.limit, tokens and tokens + (now - filled) * c.limit / c.window or c.limit)
    c.held, c.heldUntil = 0, 0
    -- What calls took is kept only to settle it, once.
    for _, old in ipairs(redis.call('ZRANGEBYSCORE', c.times, '-inf', now - math.max(c.window, longest))) do
      redis.call('HDEL', c.hash, old)
      redis.call('ZREM', c.times, old)
    end
    return
  end
  c.total, c.held, c.heldUntil = field(c, '$total'), field(c, '$held'), field(c, '$until')
  if c.heldUntil <= now then c.held = 0 end
  -- The time of what is taken at once is the end of its lease.
  local over = c.kind == 'concurrency' and now or now - c.window
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', c.times, '-inf', over)) do
    c.total = c.total - field(c, old)
    redis.call('HDEL', c.hash, old)
    redis.call('ZREM', c.times, old)
  end
  if redis.call('ZCARD', c.times) == 0 then c.total = 0 end
end

local function save(c)
  if c.kind == 'token-bucket' then
    redis.call('HSET', c.hash, '$tokens', c.limit - c.total, '$filled', now)
    local settles = redis.call('ZCARD', c.times) > 0 and math.max(c.window, longest) or 1000
    keep(c, math.max(settles, c.total * c.window / c.limit + c.closed))
  else
    redis.call('HSET', c.hash, '$total', c.total)
    keep(c, math.max(1000, c.window + c.closed))
  end
end
`

/** Takes all or nothing. Answers `granted`, the claim that waits longest, its wait, what remains of each. */
export const takeScript: RedisScript = redisScript(`${shared}
local function waitFor(c)
  local excess = c.total + c.held + c.amount - c.limit
  if excess <= tiny then return c.closed end
  if c.kind == 'concurrency' then return -1 end
  if c.kind == 'token-bucket' then return math.max(c.closed, excess * c.window / c.limit) end
  local held, from = c.held, 0
  while true do
    local some = redis.call('ZRANGE', c.times, from, from + 99, 'WITHSCORES')
    for at = 1, #some, 2 do
      local free = tonumber(some[at + 1]) + c.window
      if held > 0 and c.heldUntil <= free then
        excess, held = excess - held, 0
        if excess <= tiny then return math.max(c.closed, c.heldUntil - now) end
      end
      excess = excess - field(c, some[at])
      if excess <= tiny then return math.max(c.closed, free - now) end
    end
    if #some < 200 then return math.max(c.closed, c.heldUntil - now, 1) end
    from = from + 100
  end
end

local claims, most, index = {}, 0, 0
for i = 1, #KEYS / 2 do
  local c = claim(i)
  load(c)
  claims[i] = c
  -- A script that runs twice takes once.
  c.taken = redis.call('HEXISTS', c.hash, id) == 1
  local wait = c.taken and 0 or waitFor(c)
  -- -1: nobody knows how long.
  if most ~= -1 and (wait == -1 or wait > most) then most, index = wait, i end
end
local answer = { most == 0 and 1 or 0, index - 1, string.format('%.6f', most) }
for i, c in ipairs(claims) do
  if most == 0 and not c.taken then
    redis.call('HSET', c.hash, id, c.amount)
    redis.call('ZADD', c.times, c.kind == 'concurrency' and now + c.window or now, id)
    c.total = c.total + c.amount
  end
  save(c)
  answer[3 + i] = string.format('%.6f', math.max(0, c.limit - c.total - c.held))
end
return answer
`)

/** Replaces what was claimed by what was used. */
export const settleScript: RedisScript = redisScript(`${shared}
for i = 1, #KEYS / 2 do
  local c = claim(i)
  load(c)
  local taken = redis.call('HGET', c.hash, id)
  if taken then
    local rest = c.kind == 'concurrency' and 0 or c.used
    c.total = c.total + rest - taken
    if rest == 0 or c.kind == 'token-bucket' then
      redis.call('HDEL', c.hash, id)
      redis.call('ZREM', c.times, id)
      if c.kind == 'token-bucket' then c.total = math.max(0, c.total) end
    else
      redis.call('HSET', c.hash, id, c.used)
    end
  end
  -- Also where this take was forgotten: \`load\` has then taken it out of what the total counts.
  save(c)
end
`)

/** Makes leases last longer, if they have not ended. */
export const renewScript: RedisScript = redisScript(`${shared}
for i = 1, #KEYS / 2 do
  local c = claim(i)
  redis.call('ZADD', c.times, 'XX', now + c.window, id)
  keep(c, c.window)
end
`)

/** Lets less through: \`amount\` is for how long, \`used\` what remains. */
export const restrictScript: RedisScript = redisScript(`${shared}
for i = 1, #KEYS / 2 do
  local c = claim(i)
  load(c)
  if c.used == 0 then
    c.closed = math.max(c.closed, c.amount)
    redis.call('HSET', c.hash, '$closed', now + c.closed)
  elseif c.kind == 'token-bucket' then
    c.total = math.max(c.total, c.limit - c.used)
  else
    redis.call('HSET', c.hash, '$held', math.max(0, c.limit - c.total - c.used), '$until', now + c.amount)
  end
  save(c)
  keep(c, c.amount)
end
`)
