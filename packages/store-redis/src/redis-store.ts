import type { ListItem } from '@lamella/core/authoring'
import type { Store, WriteOptions } from '@lamella/core'
import {
  createSecretId,
  checkOptions,
  longestTimerMs,
  systemClock,
  withinStoreTime,
  wrongOption,
} from '@lamella/core/authoring'
import { storeEntries } from '@lamella/store'
import { Redis } from 'ioredis'
import {
  addScript,
  deleteScript,
  listScript,
  putScript,
  swapScript,
  unlistScript,
} from './redis-entry-scripts.ts'
import { redisLimits } from './redis-limits.ts'
import { redisSignals } from './redis-signals.ts'
import type { RedisStoreOptions } from './redis-store-options.ts'
import type { RedisScript } from './run-script.ts'
import { runScript } from './run-script.ts'

/**
 * Creates a store in Redis 6.2 or newer, shared by all processes. Accepts a URL, or a shared client
 * of `ioredis`, for example that of a queue of `@lamella/worker-bullmq`; `close()` leaves a shared
 * client open.
 * @example
 * const store = redisStore('redis://127.0.0.1:6379')
 * await store.set('greeting', { text: 'Hello' }, { ttlMs: 60_000 })
 * await store.compareAndSet('claim', undefined, 'worker-1') // true, once in all processes
 * await store.close()
 * @throws TypeError or RangeError that names the option and the value
 */
export function redisStore(connection: string | Redis, options: RedisStoreOptions = {}): Store {
  const owner = 'redisStore'
  checkOptions(owner, options, {
    namespace: 'string?',
    maxValueBytes: 1,
    timeoutMs: 'ms',
    leaseMs: 100,
    pollMs: 1,
    clock: 'any',
  })
  const { namespace = 'lamella', maxValueBytes = 16 * 2 ** 20, timeoutMs = 5000 } = options
  const { leaseMs = 30_000, pollMs = 100, clock } = options
  const isOwn = typeof connection === 'string'
  if (!isOwn && typeof connection?.evalsha !== 'function') {
    // A wrong connection may hold a password.
    throw wrongOption(owner, 'connection', 'a URL or a client of ioredis', connection, true)
  }
  const entries = storeEntries({ owner, maxValueBytes })
  const redis = isOwn ? connect(connection, Math.min(timeoutMs, longestTimerMs)) : connection
  // No namespace may contain the end of another one.
  const tag = `{${namespace.replaceAll(/[%{}]/g, encodeURIComponent)}}`
  const place = (kind: string, key: string): string => `${tag}:${kind}:${entries.key(key)}`
  const inTime = <T>(work: Promise<T>): Promise<T> =>
    withinStoreTime(work, { clock: systemClock, timeoutMs })
  const run = (
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> => inTime(runScript(redis, script, keys, args))
  const textOf = (value: unknown): string => {
    const { text, number } = entries.value(value)
    return text ?? JSON.stringify(number)
  }
  /** Writes with an id of its own. */
  const write = (
    script: RedisScript,
    key: string,
    args: readonly (string | number)[] = [],
  ): Promise<unknown> => run(script, [key, place('step', createSecretId('s'))], args)
  const ttlOf = (written: WriteOptions | undefined): number | '' => entries.ttl(written) ?? ''

  const signals = redisSignals(redis, { channelOf: (channel) => place('signal', channel), inTime })

  return {
    signals,
    async get(key) {
      const text = await inTime(redis.get(place('entry', key)))
      return text === null ? undefined : entries.read(text, null)
    },
    async set(key, value, written) {
      await write(putScript, place('entry', key), [textOf(value), ttlOf(written)])
    },
    async delete(key) {
      await write(deleteScript, place('entry', key))
    },
    async compareAndSet(key, expected, value, written) {
      const before = entries.expected(expected)
      const expects =
        before === undefined ? ['0', '', ''] : ['1', before.text ?? '', before.number ?? '']
      const args = [textOf(value), ttlOf(written), ...expects]
      return (await write(swapScript, place('entry', key), args)) === '1'
    },
    async increment(key, by, written) {
      const args = [JSON.stringify(entries.addend(by)), ttlOf(written)]
      try {
        return Number(await write(addScript, place('entry', key), args))
      } catch (error) {
        if (!(error instanceof Error) || !error.message.includes('NOTNUMBER')) throw error
        const message = `${owner}: \`key\` must be that of a number, and the sum finite`
        throw new TypeError(message, { cause: error })
      }
    },
    limits: redisLimits({
      run,
      keyOf: (key) => place('limit', key),
      timesKeyOf: (key) => place('times', key),
      clock,
      leaseMs,
      pollMs,
    }),
    lists: {
      async add(list, item, score, { ttlMs, keep = '' } = {}) {
        await write(listScript, place('list', list), [item, score, ttlOf({ ttlMs }), keep])
      },
      async remove(list, item) {
        await write(unlistScript, place('list', list), [item])
      },
      async range(list, { limit, after }) {
        const found: ListItem[] = []
        const most = after === undefined ? '+inf' : String(after.score)
        for (let from = 0; found.length < limit; from += limit) {
          const reading = redis.zrange(
            place('list', list),
            most,
            '-inf',
            'BYSCORE',
            'REV',
            'LIMIT',
            from,
            limit,
            'WITHSCORES',
          )
          // oxlint-disable-next-line no-await-in-loop
          const page = itemsOf(await inTime(reading))
          found.push(...page.filter((entry) => after === undefined || isBehind(entry, after)))
          if (page.length < limit) break
        }
        return found.slice(0, limit)
      },
    },
    async health() {
      await inTime(redis.ping())
    },
    async close() {
      signals.close()
      if (isOwn) redis.disconnect()
    },
  }
}

function connect(url: string, timeoutMs: number): Redis {
  const redis = new Redis(url, {
    // What cannot be sent in time is rejected, and not sent later, when nobody waits for it.
    maxRetriesPerRequest: 1,
    connectTimeout: timeoutMs,
    // A connection that says nothing is made again.
    socketTimeout: timeoutMs,
  })
  // Whoever calls the store learns of it: without a listener it would be written to the console.
  redis.on('error', () => {})
  return redis
}

function itemsOf(flat: readonly string[]): ListItem[] {
  const items: ListItem[] = []
  for (let at = 0; at < flat.length; at += 2) {
    items.push({ item: flat[at]!, score: Number(flat[at + 1]) })
  }
  return items
}

/** Redis orders items of one score by their bytes. */
function isBehind(entry: ListItem, after: ListItem): boolean {
  if (entry.score !== after.score) return entry.score < after.score
  return Buffer.compare(Buffer.from(entry.item), Buffer.from(after.item)) < 0
}
